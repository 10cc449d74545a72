import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../src/accounts/sql/account-administration.js'
import { listen, testApi } from '../support/api/api.js'
import { insertDonationTargets } from '../support/money/donations.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

// What generated-client.test.ts shows of openapi-typescript, with three generators that bring many packages:
// they are installed by npm for this test alone.
const packages = [
  ...['@hey-api/openapi-ts@0.95.0', 'swagger-typescript-api@13.13.0', 'orval@7.21.0'],
  ...['typescript@5.9.3', 'esbuild@0.25.12', '@types/node@20'],
]

const donation = `{
  ...{ refcode: 'spring-drive', email: 'lina@example.org', amount: 40, project: { id: 61 } },
  payment_detail: {
    ...{ firstname: 'Lina', lastname: 'Okoro', paymentGateway: 'braintree' },
    ...{ paymentGatewayKey: 'sandbox_demo_key', paymentGatewayNonce: 'fake-valid-nonce' },
  },
}`

const account = `const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
let [apiKey, token] = ['', '']
`

const head = `const baseUrl = process.argv[2] ?? ''
${account}`

const programs = {
  hey: `import { createKey, createToken, donate, listProjects } from './hey-client'
import { client } from './hey-client/client.gen'
${head}
client.setConfig({ baseUrl, auth: ({ scheme }) => (scheme === 'bearer' ? token : apiKey) })
const throwOnError = true
apiKey = (await createKey({ throwOnError, body: { key_request: { user } } })).data.key_response.api_key
let nextProjectId: number | undefined = 0
while (nextProjectId !== undefined) {
  const query: { limit: number; nextProjectId: number } = { limit: 50, nextProjectId }
  const { projects } = (await listProjects({ throwOnError, query })).data
  for (const { id, title } of projects.project) console.log(id, title)
  nextProjectId = projects.nextProjectId
}
token = (await createToken({ throwOnError, body: { auth_request: { user, api_key: apiKey } } })).data.auth_response.access_token
const { data } = await donate({ throwOnError, body: { donation: { ...${donation}, transactionId: 'hey-1' } } })
console.log(data.donation.receipt.totalAmountBilled)
const refused = await donate({ body: { donation: { ...${donation}, project: { id: 999 } } } })
console.log(refused.error && 'error_response' in refused.error ? refused.error.error_response.error_code : 'no error')
`,
  swagger: `import { Api, HttpResponse } from './swagger/api'
${head}
const { api } = new Api({
  baseUrl,
  securityWorker: () => ({ headers: { 'X-Api-Key': apiKey, ...(token && { Authorization: \`Bearer \${token}\` }) } }),
})
apiKey = (await api.createKey({ key_request: { user } })).data.key_response.api_key
let nextProjectId: number | undefined = 0
while (nextProjectId !== undefined) {
  const { projects }: Awaited<ReturnType<typeof api.listProjects>>['data'] = (await api.listProjects({ limit: 50, nextProjectId })).data
  for (const { id, title } of projects.project) console.log(id, title)
  nextProjectId = projects.nextProjectId
}
token = (await api.createToken({ auth_request: { user, api_key: apiKey } })).data.auth_response.access_token
const { data } = await api.donate({ donation: { ...${donation}, transactionId: 'swagger-1' } })
console.log(data.donation.receipt.totalAmountBilled)
await api.donate({ donation: { ...${donation}, project: { id: 999 } } }).catch((refused: HttpResponse<unknown, { error_response: { error_code: number } }>) =>
  console.log(refused.error.error_response.error_code),
)
`,
  orval: `import { createKey, createToken, donate, listProjects } from './orval/api'
${account}
const key = await createKey({ key_request: { user } })
if (key.status !== 200) throw new Error(key.data.error_response.errors.error[0]?.error_message)
apiKey = key.data.key_response.api_key
const headers: Record<string, string> = { 'X-Api-Key': apiKey }
let nextProjectId: number | undefined = 0
while (nextProjectId !== undefined) {
  const page: Awaited<ReturnType<typeof listProjects>> = await listProjects({ limit: 50, nextProjectId }, { headers })
  if (page.status !== 200) throw new Error(String(page.status))
  for (const { id, title } of page.data.projects.project) console.log(id, title)
  nextProjectId = page.data.projects.nextProjectId
}
const signedIn = await createToken({ auth_request: { user, api_key: apiKey } })
if (signedIn.status === 200) token = signedIn.data.auth_response.access_token
headers.Authorization = \`Bearer \${token}\`
const done = await donate({ donation: { ...${donation}, transactionId: 'orval-1' } }, {}, { headers })
console.log(done.status === 200 ? done.data.donation.receipt.totalAmountBilled : done.data)
const refused = await donate({ donation: { ...${donation}, project: { id: 999 } } }, {}, { headers })
console.log(refused.status === 404 ? refused.data.error_response.error_code : 'no error')
`,
}

const strict = {
  ...{
    strict: true,
    exactOptionalPropertyTypes: false,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
  },
  ...{
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
  },
}

describe('clients of other generators', { timeout: 600_000 }, async () => {
  const { store } = await testDatabase()
  const projects = Array.from({ length: 61 }, (_, index) => index + 1)
  let [folder, url] = ['', '']
  const run = async (...[program = '', ...args]: string[]) => {
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 2 ** 26 })
    return stdout
  }
  beforeAll(async () => {
    folder = await temporaryFolder()
    const api = await testApi(store)
    url = await listen(api.app)
    const body = { user: { email: 'me@example.org', password: 'seven quiet rivers run' } }
    const headers = { 'content-type': 'application/json' }
    const created = { method: 'POST', headers, body: JSON.stringify({ account_request: body }) }
    await fetch(`${url}/api/userservice/accounts`, created)
    await recordGrant(store.db, await getAccountId(store.db, body.user.email), 'donations', api.now)
    await insertDonationTargets(store.db, projects)
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include: ['*.ts'] }))
    await writeFile(path.join(folder, 'api.json'), await (await fetch(`${url}/api/openapi-json.json`)).text())
    await run('npm', 'install', '--no-audit', '--no-fund', ...packages)
    const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch']
    await run('npx', 'openapi-ts', '-i', 'api.json', '-o', 'hey-client', '-p', ...plugins, '--no-log-file')
    await run('npx', 'swagger-typescript-api', 'generate', '-p', 'api.json', '-o', 'swagger', '-n', 'api.ts')
    const orval = { api: { input: 'api.json', output: { target: 'orval/api.ts', client: 'fetch', baseUrl: url } } }
    await writeFile(path.join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(orval)}`)
    await run('npx', 'orval', '--config', 'orval.config.mjs')
    for (const [name, text] of Object.entries(programs)) await writeFile(path.join(folder, `${name}.ts`), text)
  })

  it('compile strictly', async () => {
    expect(await run('npx', 'tsc').catch((error: { stdout: string }) => error.stdout)).toBe('')
  })

  it.each(Object.keys(programs))(
    '%s reads, pages and donates at its first call, and is told an error',
    async (name) => {
      await run('npx', 'esbuild', `${name}.ts`, '--bundle', '--platform=node', '--format=esm', `--outfile=${name}.mjs`)
      const stdout = await run(process.execPath, `${name}.mjs`, url)
      expect(stdout).toBe(`${projects.map((id) => `${id} Wells for Tara\n`).join('')}40\n404\n`)
      const { rows } = await store.db.query('select project_id from donation where transaction_id = $1', [`${name}-1`])
      expect(rows).toEqual([{ projectId: 61 }])
    },
  )
})
