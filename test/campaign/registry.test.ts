import { spawn } from 'node:child_process'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { transpileProgram } from '../support/commands/cli.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { layRelease } from '../support/release/release.js'
import { type RegistryFault, RegistryServer } from '../support/servers/registry-server.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record } from './support/record.js'

const files = ['activities', 'activities-2', 'activities-3', 'organisations']
const wanted = files.map((code) => [`giving-${code}`, `https://giving.example/iati/${code}.xml`, 'cc-by', 'public'])

/** `giving registry` against a registry of its own; what is to be killed is a process. */
async function installation() {
  const { url } = await testDatabase()
  const folder = await temporaryFolder()
  const server = await new RegistryServer().listen()
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
  })
  const publisher = server.addOrganisation('US-EIN-123456789', 'giving', 'editor')
  await layRelease(path.join(folder, 'feeds'), {
    ...{ id: '20261122T020000Z-1', lastModified: '2026-11-22T02:00:00Z' },
    files: files.map((code) => ({ path: `/iati/${code}.xml`, mediaType: 'application/xml', text: '<iati/>' })),
  })
  const cli = path.join(await transpileProgram(), 'src/cli.js')
  const { PATH = '', HOME = '' } = process.env
  const environment = {
    ...{ PATH, HOME, DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' },
    ...{ FACTS_CONFIRMED: 'yes', REPORTING_ORG_REF: 'US-EIN-123456789', BASE_URL: 'https://giving.example' },
    LICENCE_ID: 'cc-by',
    ...{ REGISTRY_URL: server.url, REGISTRY_TOKEN: server.issueToken() },
  }
  const begin = (operation: string) => {
    const child = spawn(process.execPath, [cli, 'registry', operation], { env: environment, stdio: 'ignore' })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended }
  }
  const run = async (operation: string) => (await runCommandLine(['registry', operation], environment)).code
  /** Some datasets are registered otherwise, some are missing. */
  const lay = () => {
    server.datasets.length = 0
    server.addDataset(publisher, { short_name: 'survey' })
    for (const code of files.slice(0, 2)) {
      const url = `http://giving.example/iati/${code}.xml`
      server.addDataset(publisher, { short_name: `giving-${code}`, url, licence_id: 'odc-by' })
    }
  }
  const datasets = () =>
    server.datasets
      .map(({ fields }) => [fields.short_name, fields.url, fields.licence_id, fields.visibility])
      .filter(([name]) => name !== 'survey')
      .sort()
  return { server, begin, run, lay, datasets }
}

const operations = ['sync', 'unregister'] as const

test('a registry that fails at each call, and a process that is killed at each call', async () => {
  const { server, begin, run, lay, datasets } = await installation()
  const statuses = [401, 403, 409, 422, 429, 500].map((status): RegistryFault => ({ kind: 'status', status }))
  const broken = (['reset', 'cut', 'html'] as const).flatMap((kind) =>
    [true, false].map((after): RegistryFault => ({ kind, after })),
  )
  let [faults, kills] = [0, 0]
  for (const operation of operations) {
    const expected = operation === 'sync' ? wanted : []
    /** A repeated run ends with what is wanted, and one more run changes nothing. */
    const completes = async (what: string) => {
      server.fault = undefined
      expect(await run(operation), what).toBe(0)
      expect(datasets(), what).toEqual(expected)
      expect(
        server.datasets.filter(({ fields }) => fields.short_name === 'survey'),
        what,
      ).toHaveLength(1)
      server.requests.length = 0
      expect(await run(operation), what).toBe(0)
      expect(
        server.requests.filter((request) => !request.startsWith('GET')),
        what,
      ).toEqual([])
    }
    lay()
    server.requests.length = 0
    await run(operation)
    const calls = server.requests.length
    expect(calls).toBeGreaterThanOrEqual(4)
    for (let call = 1; call <= calls; call++) {
      for (const fault of [...statuses, ...broken]) {
        lay()
        server.requests.length = 0
        server.fault = (number) => (number === call ? fault : undefined)
        const code = await run(operation)
        const what = `${operation}, call ${call}, ${JSON.stringify(fault)}`
        expect([0, 1, 2], what).toContain(code)
        if (code === 0) expect(datasets(), what).toEqual(expected)
        await completes(what)
        faults += 1
      }
      for (const after of [true, false]) {
        lay()
        server.requests.length = 0
        const { child, ended } = begin(operation)
        server.fault = (number) => {
          if (number !== call) return undefined
          child.kill('SIGKILL')
          return { kind: 'reset', after }
        }
        expect(await ended).toBeNull()
        await completes(`${operation}, killed at call ${call}`)
        kills += 1
      }
    }
  }
  record({
    ...{ name: 'the IATI registry fails at a call, or giving registry is killed at it', engine: '-' },
    tried: faults + kills,
    outcome: `${faults} faults, ${kills} kills; each repeated run ended with exactly one dataset for each file`,
  })
})
