import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../src/accounts/sql/account-administration.js'
import { listen, testApi } from '../support/api/api.js'
import { projectRoot } from '../support/documents/how-to.js'
import { readProjectFile } from '../support/documents/markdown-table.js'
import { insertDonationTargets } from '../support/money/donations.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
const strict: ts.CompilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, types: ['node'] },
  ...{ target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
  ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true },
}

it('the description of JSON alone makes a client that reads, pages and donates, as docs/how-to/clients.md shows', async () => {
  const folder = await temporaryFolder()
  const { store } = await testDatabase()
  const api = await testApi(store)
  const url = await listen(api.app)
  const served = await (await fetch(`${url}/api/openapi-json.json`)).json()
  const post = (address: string, body: object) =>
    fetch(url + address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/api/userservice/accounts', { account_request: { user } })
  await recordGrant(store.db, await getAccountId(store.db, user.email), 'donations', api.now)
  const projects = [...Array.from({ length: 60 }, (_, index) => index + 1), 2045]
  await insertDonationTargets(store.db, projects)

  const [, code = ''] = /```ts\n(import createClient from 'openapi-fetch'\n[\s\S]*?)```/.exec(
    readProjectFile('docs/how-to/clients.md'),
  ) ?? ['', '']
  const types = await openapiTS(served as OpenAPI3, { defaultNonNullable: false, silent: true })
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
  expect(rows).toEqual([{ transactionId: 'tx-1', projectId: 2045 }])
})
