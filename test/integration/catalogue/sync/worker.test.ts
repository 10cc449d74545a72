import pino from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openQueue, queueSettings } from '../../../../jobs/queue.js'
import { startWorker, type Worker } from '../../../../jobs/worker.js'
import { createSyncRun, listSyncRuns } from '../../../../src/catalogue/sql/sync-runs.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { claimRun } from '../../../../src/work/sql/leases.js'
import { forgetSyncs, until } from '../../../support/catalogue/sync.js'
import { neverSoon, workerDeps } from '../../../support/processes/jobs/world.js'
import { apiKey, records, startUpstream, type TestUpstream } from '../../../support/servers/upstream-server.js'
import { testDatabase } from '../../../support/store/database.js'

const log = pino({ level: 'silent' })
let upstream: TestUpstream
const open: (() => Promise<unknown>)[] = []

const { store, url } = await testDatabase()
beforeEach(async () => {
  await store.db.query('drop schema if exists bullmq cascade')
  await forgetSyncs(store.db)
  await store.db.query('delete from schedule')
  upstream = await startUpstream({ records: records(25) })
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
  await upstream.close()
})

function configuration(environment: Record<string, string> = {}) {
  return readConfig({
    PUBLISH_SCHEDULE: neverSoon,
    SHUTDOWN_SECONDS: '4',
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: apiKey,
    UPSTREAM_RATE: '1000',
    REPORTING_ORG_REF: 'US-EIN-123456789',
    SYNC_SCHEDULE: neverSoon,
    FULL_SYNC_SCHEDULE: neverSoon,
    ...environment,
  })
}

async function start(environment: Record<string, string> = {}): Promise<Worker> {
  const own = openStore({ url, max: 4, applicationName: 'test worker' })
  const options = { url, connection: { kind: 'postgres', url } } as const
  const config = configuration(environment)
  const worker = await startWorker({ ...workerDeps(own, options, log), config })
  open.push(async () => {
    await worker.close()
    await own.close()
  })
  return worker
}

const done = async (count: number) =>
  (await listSyncRuns(store.db, 100)).filter(({ state }) => state === 'done').length >= count

describe('workers of a mirror', () => {
  test('that start together begin the first sync at once, and once', async () => {
    await Promise.all([start(), start()])
    await until(() => done(1))
    expect(await listSyncRuns(store.db, 10)).toMatchObject([
      { kind: 'full', trigger: 'start', state: 'done', created: 25 },
    ])
  })

  test('sync by schedule, one sync at a time', async () => {
    await Promise.all([start({ SYNC_SCHEDULE: '* * * * * *' }), start({ SYNC_SCHEDULE: '* * * * * *' })])
    await until(() => done(3))
    const runs = (await listSyncRuns(store.db, 100)).filter(({ state }) => state === 'done')
    expect(runs.map(({ kind }) => kind)).toContain('incremental')
    const spans = runs.map(({ startedAt, finishedAt }) => [startedAt?.getTime() ?? 0, finishedAt?.getTime() ?? 0])
    spans.sort(([a = 0], [b = 0]) => a - b)
    for (const [index, [from = 0]] of spans.entries()) {
      const [, before = 0] = spans[index - 1] ?? []
      expect(from).toBeGreaterThanOrEqual(before)
    }
  })

  test('take up the sync of a dead worker, and void what it might still write', async () => {
    const { id } = await createSyncRun(store.db, {
      kind: 'full',
      trigger: 'manual',
      upstream: upstream.url,
      at: new Date(),
    })
    await claimRun(store.db, { kind: 'sync', runId: id, owner: 'dead', seconds: 0 }, new Date())
    await start()
    await until(async () => (await listSyncRuns(store.db, 10)).some((run) => run.id === id && run.state === 'done'))
    // A slow machine may take it up once more.
    const taken = (await listSyncRuns(store.db, 10)).find((run) => run.id === id)
    expect(taken).toMatchObject({ created: 25 })
    expect(taken?.attempt).toBeGreaterThan(1)
  })

  test('fail for good when the upstream refuses them, and keep what they have', async () => {
    let failures = 12
    upstream.state.fault = (_request, response, url) => {
      if (url.searchParams.get('nextProjectId') !== '21' || failures-- <= 0) return false
      response.writeHead(404).end()
      return true
    }
    await start()
    await until(async () => (await listSyncRuns(store.db, 10)).some(({ state }) => state === 'failed'))
    expect(await listSyncRuns(store.db, 10)).toMatchObject([
      { state: 'failed', created: 20, error: { code: 'upstream-refused' } },
    ])
  })

  test('hand a sync back when they stop, and the next one goes on from there', async () => {
    let release: (() => void) | undefined
    upstream.state.fault = (_request, response, url) => {
      if (url.searchParams.get('nextProjectId') !== '21' || release) return false
      release = () => void response.destroy()
      return true
    }
    const worker = await start()
    await until(() => release !== undefined)
    await worker.close()
    expect(await listSyncRuns(store.db, 10)).toMatchObject([{ state: 'queued', created: 20 }])
    await start()
    await until(() => done(1))
    expect(await listSyncRuns(store.db, 10)).toMatchObject([{ state: 'done', created: 25, unchanged: 0 }])
  })

  test('without an upstream leave no scheduler behind', async () => {
    const worker = await start()
    await worker.close()
    const config = configuration()
    await using queue = await openQueue(queueSettings({ config, databaseUrl: url }), log)
    expect(await queue.findScheduler('sync', 'full-sync')).toBeDefined()
    await start({ UPSTREAM_URL: '' })
    expect(await queue.findScheduler('sync', 'sync')).toBeUndefined()
    expect(await queue.findScheduler('sync', 'full-sync')).toBeUndefined()
  })
})
