import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { underPublishingLock } from '../../src/release/sql/publishing-lock.js'
import { newInstallation } from '../support/commands/cli.js'
import { faultsOf } from '../support/release/published-folder.js'
import { startRedis } from '../support/servers/redis.js'
import { seedProjects } from '../support/store/seeded.js'
import { askForRun, createFleet, type FleetProcess, runEnded } from './support/fleet.js'
import {
  type InstalledPostgres,
  installedPostgresMissing,
  startInstalledPostgres,
} from './support/installed-postgres.js'
import { pgBouncerMissing, startPgBouncer } from './support/pgbouncer.js'
import { record } from './support/record.js'

let server: InstalledPostgres

/** An empty database of a case's own. */
async function newDatabase(name: string): Promise<string> {
  server.run('createdb', [name])
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

/** Statuses of `count` requests of these kinds, sixteen at a time. */
async function ask({ baseUrl }: FleetProcess, key: string, count: number): Promise<number[]> {
  const paths = [
    'projectservice/all/projects',
    'projectservice/countries/US/projects',
    'services/search/projects?q=water',
    'projectservice/themes',
    'projectservice/featured/projects',
    'orgservice/all/organizations',
  ]
  const statuses: number[] = []
  const requests = Array.from({ length: count }, (_, at) => paths[at % paths.length] ?? '')
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let path = requests.pop(); path !== undefined; path = requests.pop()) {
        const address = `${baseUrl}/api/public/${path}${path.includes('?') ? '&' : '?'}api_key=${key}`
        const answer = await fetch(address)
        await answer.arrayBuffer()
        statuses.push(answer.status)
      }
    }),
  )
  return statuses
}

describe.skipIf(installedPostgresMissing() ?? pgBouncerMissing())('PostgreSQL behind PgBouncer', () => {
  beforeAll(async () => {
    server = await startInstalledPostgres()
  })
  afterAll(async () => await server.stop())

  test.each(['session', 'transaction'] as const)('%s pooling: requests, publications, two writers', async (pooling) => {
    const direct = await newDatabase(`pooled_${pooling}`)
    const bouncer = await startPgBouncer(direct, pooling, { default_pool_size: 60 })
    const fleet = await createFleet({ DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: direct, LOG_LEVEL: 'info' })
    const environment = {
      DATABASE_URL: bouncer.url,
      DATABASE_DIRECT_URL: direct,
      REPORTING_ORG_REF: 'US-EIN-123456789',
    }
    const console = await newInstallation(environment)
    const store = openStore({ url: bouncer.url, max: 6, applicationName: 'campaign' })
    onTestFinished(async () => {
      await store.close()
      await fleet.end()
      await console.remove()
      await bouncer.stop()
    })
    const [api] = await Promise.all([fleet.start('api'), fleet.start('worker'), fleet.start('worker')])
    await seedProjects(store, 200)
    const made = await console.run(
      ['users', 'create', '--email', 'a@example.org', '--password-stdin', '--json'],
      'seven quiet rivers run',
    )
    const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
    const asked = ask(api, apiKey, 480)
    for (const title of ['One', 'Two', 'Three']) {
      await store.db.query('update project set title = $1 where id = 1', [title])
      expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published' })
    }
    expect((await asked).filter((status) => status !== 200)).toEqual([])
    expect(await faultsOf(fleet.feedsDir, store)).toEqual([])

    // Every statement and transaction has our settings, whatever another program left in the servers of the pooler.
    await store.db.query(`alter role giving set timezone = 'Asia/Tokyo'`)
    await store.db.query(`set timezone = 'America/New_York'`)
    await store.db.query(`set search_path = pg_catalog`)
    const settings = `select current_setting('timezone') as zone, current_setting('idle_in_transaction_session_timeout') as idle,
      to_regclass('project') is not null as path`
    const wanted = { zone: 'UTC', idle: '10min', path: true }
    const seen = await Promise.all([
      ...Array.from({ length: 12 }, () => store.db.query(settings)),
      ...Array.from({ length: 12 }, () => store.transaction((db) => db.query(settings))),
      store.snapshot((db) => store.besideSnapshot(db, (second) => second.query(settings))),
    ])
    for (const { rows } of seen) expect(rows).toEqual([wanted])
    await store.db.query(`alter role giving reset timezone`)

    let inside = 0
    let most = 0
    const others = openStore({ url: bouncer.url, max: 4, applicationName: 'campaign' })
    onTestFinished(() => others.close())
    await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        underPublishingLock(at % 2 ? store : others, { patienceMs: 60_000, onTimeout: 'refuse' }, async (confirm) => {
          most = Math.max(most, ++inside)
          await sleep(50)
          await confirm()
          inside--
        }),
      ),
    )
    expect(most).toBe(1)
    const answer = await store.db.query('select from taken_lock')
    expect(answer.rowCount).toBe(0)
    record({
      name: `cluster: PgBouncer ${bouncer.version}, ${pooling} pooling`,
      engine: 'PostgreSQL',
      tried: 480,
      outcome:
        '480 API requests beside three publications of two workers: 0 errors; 12 writers at the publishing lock, one at a time',
    })
  })

  test('the queue without an address past the pooler', async () => {
    const direct = await newDatabase('pooled_queue')
    const bouncer = await startPgBouncer(direct, 'transaction', { ignore_startup_parameters: 'options' })
    const strict = await startPgBouncer(direct, 'session')
    const redis = await startRedis()
    onTestFinished(async () => {
      await Promise.all([bouncer.stop(), strict.stop(), redis.stop()])
    })
    for (const { url } of [bouncer, strict]) {
      const worker = await newInstallation({ DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789' })
      onTestFinished(() => worker.remove())
      const { code, stderr } = await worker.run(['worker'])
      expect(stderr).toContain('giving: DATABASE_URL leads to a pooler')
      expect(stderr).toContain('DATABASE_DIRECT_URL')
      expect(code).toBe(2)
    }
    const fleet = await createFleet({ DATABASE_URL: bouncer.url, REDIS_URL: redis.url })
    onTestFinished(fleet.end)
    await fleet.start('worker')
    await using store = openStore({ url: bouncer.url, max: 2, applicationName: 'campaign' })
    await seedProjects(store, 20)
    expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published' })
    record({
      name: 'cluster: the queue behind a pooler',
      engine: 'both',
      tried: 3,
      outcome: 'refused in one sentence, exit 2; with Redis it works',
    })
  })

  test('what can never work ends a start', async () => {
    const direct = await newDatabase('refused')
    const bouncer = await startPgBouncer(direct, 'statement')
    onTestFinished(bouncer.stop)
    const changed = (url: string, change: (url: URL) => void) => {
      const address = new URL(url)
      change(address)
      return address.href
    }
    await using store = openStore({ url: direct, max: 1, applicationName: 'campaign' })
    await store.db.query(`create role weak login password 'weak'`)
    const wrong = {
      password: changed(direct, (url) => (url.password = 'wrong')),
      user: changed(direct, (url) => (url.username = 'nobody')),
      database: changed(direct, (url) => (url.pathname = '/none')),
      setting: changed(direct, (url) => url.searchParams.set('options', '-c no_such_setting=1')),
      parameter: changed(bouncer.url, (url) => url.searchParams.set('options', 'endpoint=one')),
      'database of the pooler': changed(bouncer.url, (url) => (url.pathname = '/none')),
      'statement pooling': bouncer.url,
      right: changed(direct, (url) => Object.assign(url, { username: 'weak', password: 'weak' })),
      encryption: changed(direct, (url) => url.searchParams.set('sslmode', 'require')),
    }
    for (const [what, url] of Object.entries(wrong)) {
      const service = await newInstallation({ DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789' })
      onTestFinished(() => service.remove())
      const { code, stdout, stderr } = await service.run(['api'])
      expect([what, code, `${stdout}${stderr}`.includes('waits until')], stderr).toEqual([what, 2, false])
      expect(stderr.trim().split('\n').at(-1)).toMatch(/^giving: DATABASE_URL: /)
    }
    record({
      name: 'cluster: an address that can never work',
      engine: 'PostgreSQL',
      tried: Object.keys(wrong).length,
      outcome: 'exit 2 and one sentence',
    })
  })

  test('settings in the address, and several servers in it', async () => {
    const direct = new URL(await newDatabase('settings'))
    await using store = openStore({ url: direct.href, max: 2, applicationName: 'campaign' })
    await migrate(store)
    const given = `${direct.href}?options=-c%20work_mem%3D9MB%20-c%20timezone%3DAsia%2FTokyo%20-c%20statement_timeout%3D0`
    await using set = openStore({ url: given, max: 2, applicationName: 'campaign', statementTimeoutMs: 300 })
    const { rows } = await set.db.query<object>(
      `select current_setting('work_mem') as memory, current_setting('timezone') as zone, current_setting('statement_timeout') as limit`,
    )
    expect(rows).toEqual([{ memory: '9MB', zone: 'UTC', limit: '300ms' }])
    const several = direct.href.replace('127.0.0.1:', '127.0.0.1:1,127.0.0.1:')
    await using first = openStore({
      url: `${several}?target_session_attrs=read-write`,
      max: 2,
      applicationName: 'campaign',
    })
    expect((await first.db.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await store.db.query('alter database settings set default_transaction_read_only = on')
    await using readOnly = openStore({
      url: `${several}?target_session_attrs=read-write`,
      max: 2,
      applicationName: 'campaign',
    })
    await expect(readOnly.db.query('select 1')).rejects.toMatchObject({ code: 'database-unavailable' })
    record({
      name: 'cluster: options and several servers in the address',
      engine: 'PostgreSQL',
      tried: 3,
      outcome: 'our settings hold; the first server that will do is used',
    })
  })
})
