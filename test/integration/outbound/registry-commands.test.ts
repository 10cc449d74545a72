import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { registerNew } from '../../../src/extensions/registry/register.js'
import { findRegistryRecord } from '../../../src/extensions/registry/registry-record.js'
import { usingRegistry } from '../../../src/extensions/registry/using-registry.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { layRelease } from '../../support/release/release.js'
import { RegistryServer } from '../../support/servers/registry-server.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

describe('giving registry', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  let environment: Record<string, string>
  let now: Date

  const publish = (segments: number) =>
    layRelease(path.join(folder, 'feeds'), {
      ...{ id: `20261122T020000Z-${segments}`, lastModified: '2026-11-22T02:00:00Z' },
      files: [...Array.from({ length: segments }, (_, index) => (index === 0 ? '' : `-${index + 1}`)), 'o'].map(
        (end) => ({
          path: end === 'o' ? '/iati/organisations.xml' : `/iati/activities${end}.xml`,
          ...{ mediaType: 'application/xml', text: '<iati/>' },
        }),
      ),
    })

  const folder = await temporaryFolder()
  const server = await new RegistryServer().listen()
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await store.db.query("delete from store_fact where name = 'registry'")
    server.datasets.length = 0
    server.organisations.length = 0
    server.requests.length = 0
    server.fault = undefined
    server.addOrganisation('US-EIN-123456789', 'giving', 'admin')
    await writeFile(path.join(folder, 'token'), `${server.issueToken()}\n`, { mode: 0o600 })
    environment = {
      ...{ DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', REPORTING_ORG_REF: 'US-EIN-123456789' },
      ...{ BASE_URL: 'https://giving.example', LICENCE_ID: 'cc-by', REGISTRY_URL: server.url },
      ...{ REGISTRY_TOKEN_FILE: path.join(folder, 'token') },
    }
    now = new Date('2026-11-22T03:00:00Z')
    await publish(1)
  })

  const run = (...args: string[]) => runCommandLine(args, environment)
  const status = async () => {
    const { stdout } = await run('status', '--json')
    return JSON.parse(stdout) as { registry: unknown; needs: string[]; warnings: string[] }
  }
  /** What the row of scheduled work does. */
  const tick = () => {
    const runtime = { config: readConfig(environment, ['registry']), feedsDir: path.join(folder, 'feeds') }
    return usingRegistry(runtime, { dryRun: false }, (deps) =>
      registerNew({ ...deps, db: store.db, clock: () => now }, new AbortController().signal),
    )
  }

  it('goes from nothing to registered, and says each time what is there', async () => {
    expect(await run('registry', 'status')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /this account is admin\nmissing {5}giving-activities {2}https:\/\/giving.example\/iati/,
      ),
    })
    const trial = await run('registry', 'register', '--dry-run')
    expect(trial.stdout).toMatch(/^POST \/datasets \{.*"short_name":"giving-activities".*\} \(not sent\)$/m)
    expect(server.datasets).toEqual([])
    expect(await run('registry', 'register')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created /m) })
    expect(await run('registry', 'status')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('missing') })
    environment.LICENCE_ID = 'cc-zero'
    expect(await run('registry', 'status')).toMatchObject({
      ...{ code: 1, stdout: expect.stringContaining('licence_id: expected cc-zero, got cc-by') },
    })
    expect((await run('registry', 'sync')).stdout).toMatch(/^corrected /m)
    expect(server.datasets.map(({ fields }) => fields.licence_id)).toEqual(['cc-zero', 'cc-zero'])
    const unregistered = JSON.parse((await run('registry', 'unregister', '--json')).stdout)
    expect(unregistered).toMatchObject({ datasets: [{ done: 'deleted' }, { done: 'deleted' }] })
    expect(server.datasets).toEqual([])
    const { rows } = await store.db.query(
      "select action, details from audit_event where action like 'datasets%' order by id",
    )
    expect(rows).toEqual([
      { action: 'datasets-registered', details: { created: 2, corrected: 0 } },
      { action: 'datasets-registered', details: { created: 0, corrected: 2 } },
      { action: 'datasets-unregistered', details: { deleted: 2 } },
    ])
  })

  it('ends with 1 when a short name is taken, and with 2 when the registry is away', async () => {
    const other = server.addOrganisation('GB-CHC-1', 'other')
    server.addDataset(other, { short_name: 'giving-activities' })
    expect(await run('registry', 'register')).toMatchObject({
      ...{ code: 1, stdout: expect.stringMatching(/^conflict +the short name giving-activities is taken/m) },
    })
    server.fault = () => ({ kind: 'status', status: 403 })
    expect(await run('registry', 'status')).toMatchObject({ code: 2, stderr: expect.stringContaining('403') })
  })

  it('is told by giving status without asking the registry, and by giving doctor with asking it', async () => {
    expect(await status()).toMatchObject({
      registry: { registered: [], missing: ['activities', 'organisations'] },
      warnings: expect.arrayContaining([
        expect.stringContaining('not in the IATI registry: activities, organisations'),
      ]),
    })
    await run('registry', 'register')
    await publish(2)
    server.requests.length = 0
    expect((await run('status')).stdout).toMatch(/^registry: +2 registered, 1 missing, 0 different/m)
    environment.REGISTRY_SYNC = 'true'
    expect((await status()).needs).toContain('not in the IATI registry: activities-2 (giving registry register)')
    expect(server.requests).toEqual([])
    expect((await run('doctor')).stdout).toMatch(/^FIX {3}registry: +not registered: giving-activities-2 -> giving/m)
  })

  it('registers new segments by itself, and asks for nothing else', async () => {
    expect(await tick()).toBe('created giving-activities, giving-organisations')
    server.requests.length = 0
    expect(await tick()).toBe('nothing new')
    expect(server.requests).toEqual([])
    await publish(2)
    expect(await tick()).toBe('created giving-activities-2')
    expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual(['POST /datasets'])
  })

  it('waits after a failure, which giving status tells', async () => {
    server.fault = () => ({ kind: 'status', status: 403 })
    await expect(tick()).rejects.toMatchObject({ code: 'registry-refused' })
    server.fault = undefined
    server.requests.length = 0
    expect([await tick(), server.requests]).toEqual(['nothing new', []])
    environment.REGISTRY_SYNC = 'true'
    expect((await status()).needs).toContainEqual(expect.stringContaining('answered 403'))
    now = new Date(now.getTime() + 86_400_000)
    expect(await tick()).toMatch(/^created/)
    expect((await findRegistryRecord(store.db))?.failure).toBeUndefined()
  })

  it('registers nothing by itself after an operator has unregistered, until one registers again', async () => {
    await run('registry', 'register')
    await run('registry', 'unregister')
    await publish(2)
    await run('registry', 'status')
    expect([await tick(), server.datasets]).toEqual(['nothing new', []])
    await run('registry', 'register')
    await publish(3)
    expect(await tick()).toBe('created giving-activities-3')
  })

  it('reads its token anew, and needs the facts of the publisher', async () => {
    server.endTokens()
    expect((await run('registry', 'status')).stderr).toContain('401')
    await writeFile(path.join(folder, 'token'), server.issueToken())
    expect((await run('registry', 'register')).code).toBe(0)
    const { DATABASE_URL = '', REGISTRY_URL = '' } = environment
    const { code, stderr } = await runCommandLine(['registry', 'status'], { DATABASE_URL, REGISTRY_URL })
    expect(code).toBe(2)
    for (const name of ['REPORTING_ORG_REF', 'BASE_URL', 'LICENCE_ID', 'REGISTRY_TOKEN']) expect(stderr).toContain(name)
    environment.REGISTRY_URL = 'http://registry.example/api/v1'
    expect((await run('registry', 'status')).stderr).toContain('expected an https address')
  })
})
