import { spawnSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listMigrations, migrate, pendingMigrations } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { faultsOf } from '../support/release/published-folder.js'
import { insertProjects } from '../support/store/catalogue.js'
import { emptyDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { askForRun, createFleet, type Fleet, type FleetProcess, runEnded, until } from './support/fleet.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { record } from './support/record.js'

const copy = (from: string, to: string) => expect(spawnSync('cp', ['-a', from, to]).status).toBe(0)

/** What a consumer compares. */
async function tagsOf({ baseUrl }: FleetProcess): Promise<(string | null)[]> {
  const tags = []
  for (const file of ['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom']) {
    const { status, headers } = await fetch(baseUrl + file, { method: 'HEAD' })
    expect(status).toBe(200)
    tags.push(headers.get('etag'), headers.get('last-modified'))
  }
  return tags
}

/** Waits until the run of the start has ended. */
async function settled({ baseUrl }: FleetProcess): Promise<{ state: string }[]> {
  return await until(async () => {
    const answer = await fetch(`${baseUrl}/feeds/status.json`)
    if (answer.status !== 200) return undefined
    const { runs } = (await answer.json()) as { runs: { state: string }[] }
    return runs.length > 0 && runs.every(({ state }) => state !== 'queued' && state !== 'running') ? runs : undefined
  })
}

test('our own PostgreSQL: stop, copy, lose everything, copy back, start', async () => {
  // The invented projects of a trial.
  const fleet = await createFleet({ REPORTING_ORG_REF: '' })
  onTestFinished(fleet.end)
  const backup = await temporaryFolder()
  const service = await fleet.start('start')
  expect((await settled(service)).map(({ state }) => state)).toEqual(['published'])
  const before = await tagsOf(service)
  expect((await service.terminate()).code).toBe(0)
  const record_ = await readFile(path.join(fleet.dataDir, 'postgres-launcher/server.json'), 'utf8')
  const { clusterDir } = JSON.parse(record_) as { clusterDir: string }
  onTestFinished(() => rm(clusterDir, { recursive: true, force: true }))

  copy(fleet.dataDir, path.join(backup, 'data'))
  copy(clusterDir, path.join(backup, 'cluster'))
  await rm(fleet.dataDir, { recursive: true })
  await rm(clusterDir, { recursive: true, force: true })
  copy(path.join(backup, 'data'), fleet.dataDir)
  spawnSync('cp', ['-a', path.join(backup, 'cluster'), clusterDir])
  await rm(backup, { recursive: true })

  const again = await fleet.start('start')
  const runs = await settled(again)
  expect(runs.map(({ state }) => state)).toEqual(['unchanged', 'published'])
  expect(await tagsOf(again)).toEqual(before)
  expect((await again.terminate()).code).toBe(0)
  record({
    name: 'backup and restore: own PostgreSQL, files copied while it is stopped',
    engine: '-',
    tried: 1,
    outcome: 'everything was there again; no ETag or Last-Modified moved',
  })
})

test('a given database: pg_dump while all runs, lose everything, pg_restore', async (context) => {
  const missing = installedPostgresMissing()
  if (missing) return context.skip(missing)
  const server = await startInstalledPostgres()
  const backup = await temporaryFolder()
  const fleet = await createFleet({ DATABASE_URL: server.url })
  onTestFinished(async () => {
    await fleet.end()
    await server.stop()
  })
  const work = async (publish: (store: Store) => Promise<void>): Promise<(string | null)[]> => {
    const [api] = await Promise.all([fleet.start('api'), fleet.start('worker')])
    const store = openStore({ url: server.url, max: 2, applicationName: 'campaign' })
    await publish(store)
    const tags = await tagsOf(api)
    await store.close()
    return tags
  }
  const published = async (store: Store, state: RegExp) =>
    expect((await runEnded(store, await askForRun(store))).state).toMatch(state)

  const before = await work(async (store) => {
    await seedProjects(store, 200)
    await published(store, /^published$/)
    server.run('pg_dump', ['--format=custom', `--file=${path.join(backup, 'database')}`, 'giving'])
    // Work goes on meanwhile: three releases that the dump does not know.
    for (const title of ['One', 'Two', 'Three']) {
      await store.db.query('update project set title = $1 where id = 1', [title])
      await published(store, /^published$/)
    }
    copy(fleet.feedsDir, path.join(backup, 'feeds'))
  })
  await fleet.end()
  await rm(fleet.feedsDir, { recursive: true })
  server.run('dropdb', ['giving'])
  server.run('createdb', ['giving'])
  server.run('pg_restore', ['--dbname=giving', '--exit-on-error', path.join(backup, 'database')])
  copy(path.join(backup, 'feeds'), fleet.feedsDir)

  const after = await work(async (store) => {
    // What was lost with the days between is done again; numbers of runs go on after those that were published.
    await store.db.query(`update project set title = 'Three' where id = 1`)
    await published(store, /^(published|unchanged)$/)
    await store.db.query(`update project set title = 'Four' where id = 2`)
    await published(store, /^published$/)
    await until(async () => (await faultsOf(fleet.feedsDir, store)).length === 0)
  })
  expect(after.slice(2)).toEqual(before.slice(2))
  await expectEnds(fleet)
  record({
    name: `backup and restore: a given PostgreSQL ${server.major}, pg_dump and pg_restore`,
    engine: '-',
    tried: 1,
    outcome:
      'with a folder three releases newer than the dump: the next runs published, files that did not change kept their tags',
  })
})

test('an upgrade: every older schema with data in it is brought up to date by the first process that starts', async () => {
  const migrations = listMigrations()
  let tried = 0
  // From the marks on, without which no schema was ever used; older ones are tried by upgrades.test.ts.
  const firstUsed = migrations.findIndex(({ name }) => name === '0048-marks')
  if (firstUsed === migrations.length - 1)
    console.log('no older schema is tried: there is no migration after 0048-marks')
  for (const index of migrations.keys()) {
    if (index < firstUsed || index === migrations.length - 1) continue
    const older = migrations.slice(0, index + 1)
    const { store, url, drop } = await emptyDatabase()
    for (const { sql } of older) await store.db.query(sql)
    await store.db.query(`create table schema_migration (
      version integer primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`)
    await store.db.query(
      `insert into schema_migration (version, name, hash) select * from unnest($1::int[], $2::text[], $3::text[])`,
      [older.map((one) => one.version), older.map((one) => one.name), older.map((one) => one.hash)],
    )
    await insertProjects(
      store.db,
      Array.from({ length: 20 }, (_, index) => ({ id: index + 1 })),
    )
    if (index === firstUsed || index === migrations.length - 2) {
      const fleet = await createFleet({ DATABASE_URL: url })
      onTestFinished(fleet.end)
      await fleet.start('worker')
      expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published', rendered: 20 })
      await fleet.end()
    } else await migrate(store)
    expect(await pendingMigrations(store.db)).toEqual([])
    tried++
    await drop()
  }
  record({
    name: 'upgrade from an older schema',
    engine: '-',
    tried,
    outcome: 'migrated with its data; the next run published',
  })
})

async function expectEnds(fleet: Fleet): Promise<void> {
  const ends = await Promise.all(fleet.processes.filter(({ running }) => running).map((one) => one.terminate()))
  expect(ends.every(({ code }) => code === 0)).toBe(true)
}
