import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { listen, type TestApi, testApi } from '../../../support/api.js'
import { committedDescription, type Description, operationsOf } from '../../../support/api-description.js'
import { testDatabase } from '../../../support/database.js'
import { insertDonationTargets } from '../../../support/donations.js'
import { projectRoot } from '../../../support/how-to.js'
import { readProjectFile } from '../../../support/markdown-table.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
const json = 'application/json'
const strict: ts.CompilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] },
  ...{ target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
  ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true },
}

describe('the description of JSON alone', async () => {
  const { store } = await testDatabase()
  let api: TestApi
  let url = ''
  let served: Description
  let folder = ''
  beforeAll(async () => {
    folder = await temporaryFolder()
    api = await testApi(store)
    url = await listen(api.app)
    served = (await (await fetch(`${url}/api/openapi-json.json`)).json()) as Description
  })

  it('has each operation with answers in JSON, at an address that gives JSON to any client', async () => {
    const ids = operationsOf(served).map(({ operation }) => operation.operationId)
    const both = operationsOf(committedDescription()).filter(({ operation }) => {
      const types = Object.keys((operation.responses[200] as { content?: object }).content ?? {})
      return types.includes(json) && types.every((type) => /json$|\/xml$|atom\+xml$/.test(type))
    })
    expect(ids).toEqual(both.map(({ operation }) => operation.operationId).filter((id) => id !== 'receiveWebhook'))
    const withoutSuffix = Object.keys(served.paths).filter((address) => !address.endsWith('.json'))
    expect(withoutSuffix).toEqual(['/healthz', '/readyz'])
    for (const { method, path: address } of operationsOf(served)) {
      // An error of a published file is in the format that the request accepts.
      if (!address.startsWith('/api/')) continue
      const asked = { method: method as 'GET' | 'POST', url: address.replaceAll(/\{\w+\}/g, '77') }
      const answer = await api.app.inject({ ...asked, headers: { accept: '*/*' } })
      expect([address, answer.headers['content-type']]).toEqual([address, json])
    }
  })

  it('has nothing of XML, no secrets in addresses, and lists that have their array', () => {
    expect(JSON.stringify(served)).not.toMatch(/application\/(?:atom\+)?xml|"xml":|"name":"api_key"/)
    const names = Object.keys(served.components.securitySchemes ?? {})
    expect(names).toEqual(['key_header', 'token_header'])
    const used = operationsOf(served).flatMap(({ operation }) => operation.security.flatMap(Object.keys))
    expect(new Set(used)).toEqual(new Set(names))
    const { Projects, ProjectIds, Organizations } = served.components.schemas ?? {}
    expect(Projects?.required).toEqual(['numberFound', 'project'])
    expect(ProjectIds?.required).toEqual(['numberFound', 'project'])
    expect(Organizations?.required).toEqual(['organization'])
  })

  it('makes a client that reads, pages and donates, as docs/how-to/clients.md shows', {
    timeout: 120_000,
  }, async () => {
    const post = (address: string, body: object) =>
      fetch(url + address, { method: 'POST', headers: { 'content-type': json }, body: JSON.stringify(body) })
    await post('/api/userservice/accounts', { account_request: { user } })
    await recordGrant(store.db, await getAccountId(store.db, user.email), 'donations', api.now)
    const projects = [...Array.from({ length: 60 }, (_, index) => index + 1), 2045]
    await insertDonationTargets(store.db, projects)

    const [, code = ''] = /```ts\n(import createClient from 'openapi-fetch'\n[\s\S]*?)```/.exec(
      readProjectFile('docs/how-to/clients.md'),
    ) ?? ['', '']
    const types = await openapiTS(served as unknown as OpenAPI3, { defaultNonNullable: false, silent: true })
    await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'))
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text)
    await write('package.json', '{"type":"module"}')
    await write('giving-api.ts', astToString(types))
    await write('program.ts', code.replace('http://127.0.0.1:8080', url))

    const program = ts.createProgram([path.join(folder, 'program.ts')], strict)
    const problems = ts.getPreEmitDiagnostics(program)
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
    program.emit()
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, 'program.js')])
    const lines = projects.map((id) => `${id} Wells for Tara\n`).join('')
    expect(stdout).toBe(`${lines}1290 so far\n`)
    const { rows } = await store.db.query('select transaction_id, project_id from donation')
    expect(rows).toEqual([{ transaction_id: 'tx-1', project_id: 2045 }])
  })
})
