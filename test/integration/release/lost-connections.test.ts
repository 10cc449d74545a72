import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import type { Db } from '../../../src/platform/database/connection.js'
import { copyRows } from '../../../src/platform/database/copy-rows.js'
import { takeLock } from '../../../src/platform/database/locks.js'
import { openStore } from '../../../src/platform/database/store.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { type TestApi, testApi } from '../../support/api/api.js'
import { until } from '../../support/catalogue/sync.js'
import { testPublisher } from '../../support/release/publishing.js'
import { startProxy } from '../../support/servers/stalling-proxy.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

const database = await testDatabase()
const url = new URL(database.url)
const proxy = await startProxy(Number(url.port))
url.port = String(proxy.port)
/** A store whose connections go through the proxy. */
const store = openStore({ url: url.href, max: 4, applicationName: 'through the proxy' })
await insertProjects(database.store.db, [{ id: 1 }, { id: 2 }])

afterAll(async () => {
  await store.close()
  await proxy.close()
})

const unavailable = { code: 'database-unavailable' }

describe('a connection that is lost', () => {
  it('between two statements fails the next one, and nothing else', async () => {
    const work = store.connection(async (db) => {
      await db.query('select 1')
      proxy.cut()
      await sleep(100)
      await db.query('select 1')
    })
    await expect(work).rejects.toMatchObject(unavailable)
    expect((await store.db.query('select 1')).rowCount).toBe(1)
  })

  it('in the middle of a statement or a transaction fails it, and the next one succeeds', async () => {
    const isSleeping = async () =>
      (
        await database.store.db.query(`select from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep'`)
      ).rowCount > 0
    for (const work of [
      () => store.db.query('select pg_sleep(30)'),
      () => store.transaction((db) => db.query('select pg_sleep(30)')),
    ]) {
      const failing = expect(work()).rejects.toMatchObject(unavailable)
      await until(isSleeping)
      proxy.cut()
      await failing
      expect((await store.db.query('select 1')).rowCount).toBe(1)
    }
  })

  it('because its session was ended on the server is the same', async () => {
    const work = store.connection(async (db) => {
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
      await database.store.db.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await sleep(100)
      await db.query('select 1')
    })
    await expect(work).rejects.toMatchObject(unavailable)
    expect((await store.db.query('select 1')).rowCount).toBe(1)
  })
})

describe('a COPY that is left before its end', () => {
  it('takes its connection with it, and nothing waits behind it', async () => {
    const left = new Error('the disk is full')
    const work = store.snapshot(async (_db, client) => {
      const sql = `copy (select repeat('x', 1000) from generate_series(1, 20000)) to stdout (format binary)`
      for await (const rows of copyRows(client, sql)) if (rows.length > 0) throw left
    })
    await expect(work).rejects.toBe(left)
    expect((await store.db.query('select 1')).rowCount).toBe(1)
  })
})

describe('a second connection beside a snapshot', () => {
  it('sees what the snapshot sees, whatever was written since', async () => {
    const titleOf = async (db: Db) => (await db.query<{ title: string }>('select title from project where id = 1')).rows
    await store.snapshot(async (db) => {
      const before = await titleOf(db)
      await database.store.db.query(`update project set title = title || ' again' where id = 1`)
      expect(await store.besideSnapshot(db, titleOf)).toEqual(before)
    })
  })
})

describe('a connection that stalls', () => {
  it('fails the statement when its time is up, and the store closes all the same', async () => {
    const url = new URL(database.url)
    const stalling = await startProxy(Number(url.port))
    url.port = String(stalling.port)
    const stalled = openStore({ url: url.href, max: 2, applicationName: 'stalled' })
    const hasty = stalled.answeringWithin(300)
    await stalled.db.query('select 1')
    stalling.mode = 'stall'
    await expect(hasty.db.query('select 1')).rejects.toMatchObject(unavailable)
    const endless = expect(stalled.transaction((db) => db.query('select 1'))).rejects.toMatchObject(unavailable)
    await sleep(100)
    await stalled.close()
    await endless
    await stalling.close()
  })
})

describe('publishing', () => {
  it('stops when another process has taken its lock over, before anything becomes visible, and the next try succeeds', async () => {
    const publisher = await testPublisher(store)
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const before = await publisher.live()
    await database.store.db.query(`update project set title = 'Newer' where id = 1`)
    const robbed = await testPublisher(store, {
      feedsDir: publisher.feedsDir,
      onStep: (step) => {
        if (step === 'begun') taking = takeLock(database.store.db, 'publishing', 'take-over')
      },
    })
    let taking: ReturnType<typeof takeLock> | undefined
    expect(await robbed.publish()).toMatchObject({ state: 'failed', error: { code: 'server-busy' } })
    expect((await publisher.live()).id).toBe(before.id)
    const taken = await taking
    await taken?.[Symbol.asyncDispose]()
    const next = await publisher.publish()
    expect(['published', 'unchanged']).toContain(next.state)
    expect(await publisher.read('/iati/activities.xml')).toContain('Newer')
    expect(await publisher.names('drafts')).toEqual([])
  })

  it('takes the lock from a writer that was cut off without noticing', async () => {
    const publisher = await testPublisher(database.store, { lockPatienceMs: 500 })
    await using cutOff = await takeLock(database.store.db, 'publishing')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    await expect(cutOff?.confirm()).rejects.toMatchObject({ code: 'server-busy' })
  })

  it('gets the lock of a writer that died a few seconds later', async () => {
    await database.store.db.query(
      `insert into taken_lock (name, owner, until) values ('publishing', gen_random_uuid(), clock_timestamp() + interval '1 second')`,
    )
    const publisher = await testPublisher(database.store, { lockPatienceMs: 60_000 })
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    expect((await database.store.db.query('select from taken_lock')).rowCount).toBe(0)
  })
})

describe('the API without its database', () => {
  let api: TestApi

  it('goes on serving published files, answers 503 with Retry-After for the rest, and recovers by itself', async () => {
    const publisher = await testPublisher(database.store)
    await publisher.publish()
    api = await testApi(store.answeringWithin(1000), {
      store: store.answeringWithin(1000),
      releases: createReleaseReader(publisher.feedsDir),
    })
    const status = async (path: string) => {
      const answer = await api.app.inject(path)
      return [answer.statusCode, answer.headers['retry-after']]
    }
    for (const mode of ['refuse', 'stall'] as const) {
      proxy.mode = mode
      if (mode === 'refuse') proxy.cut()
      expect(await status('/iati/activities.xml')).toEqual([200, undefined])
      expect(await status('/feeds/manifest.json')).toEqual([200, undefined])
      expect(await status('/healthz')).toEqual([200, undefined])
      expect(await status('/readyz')).toEqual([503, '5'])
      expect(await status('/api/public/projectservice/all/projects?api_key=unknown')).toEqual([503, '5'])
      expect(await status('/feeds/status.json')).toEqual([503, '5'])
      proxy.mode = 'pass'
      for (let code = 0; code !== 200; ) [code] = (await status('/readyz')) as [number]
      expect(await status('/api/public/projectservice/all/projects?api_key=unknown')).toEqual([401, undefined])
    }
  })
})
