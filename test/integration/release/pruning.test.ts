import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from '../../../src/platform/database/locks.js'
import { createMetrics } from '../../../src/platform/observability/metrics.js'
import { serveMetrics } from '../../../src/platform/observability/metrics-server.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { publicationHealth } from '../../../src/release/health.js'
import { pruneReleasesWhenIdle } from '../../../src/release/operate/prune-releases.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { pruneDatabase } from '../../../src/release/sql/pruning.js'
import { runNumbers } from '../../../src/work/sql/run-numbers.js'
import { createRun, listRuns } from '../../../src/work/sql/runs.js'
import { adoptSchedule } from '../../../src/work/sql/schedules.js'
import { testApi } from '../../support/api/api.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { commandStore } from '../../support/commands/command-store.js'
import { coreFiles, publishedCopies, testPublisher } from '../../support/release/publishing.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'

const days = (count: number) => new Date(Date.parse('2026-11-21T02:00:00Z') + count * 86_400_000)

const copies = publishedCopies(2, coreFiles)

async function publishedFourTimes() {
  const copy = await copies()
  for (let run = 0; run < 3; run++) await copy.publisher.publish()
  return copy
}

const rules = { keepReleases: 3, donorRetentionDays: undefined }

/** A store and its folder, worked on by commands; `age` moves all that happened three days into the past. */
async function newStore() {
  const { store, feedsDir, environment } = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883' })
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  const run = (line: string, code: unknown = 0) =>
    printed<{ state: string; releaseId: string }>(line, environment, code)
  let titles = 0
  const { releases, held } = releaseFolder(feedsDir)
  return {
    ...{ store, environment, run },
    publish: async () => {
      await store.db.query('update project set title = $1', [`Title ${++titles}`])
      return await run('publish --inline', expect.any(Number))
    },
    kept: async () => (await readdir(releases)).sort(),
    held: async () => (await readdir(held)).sort(),
    age: async () => {
      await store.db.query(`update release_event set at = at - interval '3 days'`)
      for (const folder of [releases, held]) {
        for (const id of await readdir(folder)) {
          const then = new Date(Date.now() - 3 * 86_400_000)
          await utimes(path.join(folder, id, 'manifest.json'), then, then)
        }
      }
    },
  }
}

describe('pruning', { shuffle: false }, async () => {
  const { database, publisher } = await publishedFourTimes()

  it('leaves everything young alone', async () => {
    const before = await listRuns(database.store.db, 100)
    expect(await pruneDatabase(database.store.db, days(80), rules)).toEqual({
      tokens: 0,
      codes: 0,
      auditEvents: 0,
      wrongClocks: 0,
      shards: 1,
      runs: 0,
      syncs: 0,
      releases: 0,
      searchChanges: expect.any(Number),
      webhookEvents: 0,
      donors: 0,
      processorEntries: 0,
      importProblems: 0,
      importChanges: 0,
      subscriptions: 0,
      subscriptionMails: 0,
      followedProjects: 0,
    })
    expect(await listRuns(database.store.db, 100)).toHaveLength(before.length)
  })

  it('removes old runs, but none that a release or a rendering names, nor the newest; totals stay', async () => {
    const before = await runNumbers(database.store.db)
    const [newest] = await listRuns(database.store.db, 1)
    const pruned = await pruneDatabase(database.store.db, days(100), rules)
    expect(pruned.runs).toBe(2)
    const left = await listRuns(database.store.db, 100)
    expect(left.map(({ id }) => id)).toEqual([newest?.id, (await publisher.manifest()).run])
    expect(await runNumbers(database.store.db)).toEqual(before)
    expect(await pruneDatabase(database.store.db, days(100), rules)).toMatchObject({ runs: 0 })
  })

  it('removes old releases, but not the live one, however old', async () => {
    const { store, run, publish } = await newStore()
    const ids: string[] = []
    for (let round = 0; round < 4; round++) ids.push((await publish()).releaseId)
    await run(`releases rollback ${ids[1]}`)
    const later = await pruneDatabase(store.db, days(500), { ...rules, keepReleases: 1 })
    expect(later.releases).toBe(2)
    const { rows } = await store.db.query<{ id: string }>('select id from release order by run_id')
    expect(rows.map(({ id }) => id)).toEqual([ids[1], ids[3]])
  })

  it('removes drafts of dead writers and links that were never renamed', async () => {
    const folder = releaseFolder(publisher.feedsDir)
    await mkdir(path.join(folder.drafts, '20261121T020000Z-9.1.aa'))
    await writeFile(path.join(folder.root, 'current.123.tmp'), '')
    await pruneReleasesWhenIdle(publisher.deps)
    expect(await publisher.names('drafts')).toEqual([])
    await expect(writeFile(path.join(folder.root, 'current.123.tmp'), '', { flag: 'wx' })).resolves.toBeUndefined()
  })

  it('waits while a publication is going on', async () => {
    const folder = releaseFolder(publisher.feedsDir)
    await mkdir(path.join(folder.drafts, '20261121T020000Z-9.1.aa'), { recursive: true })
    await using _lock = await takeLock(database.store.db, 'publishing')
    await pruneReleasesWhenIdle(publisher.deps)
    expect(await publisher.names('drafts')).toEqual(['20261121T020000Z-9.1.aa'])
  })
})

// Seven publications by commands, on a machine that may be busy.
describe('48 hours', () => {
  it('begin when another release takes its place, not when that one or the next was built', async () => {
    const ours = await newStore()
    const ids: string[] = []
    for (let round = 0; round < 4; round++) ids.push((await ours.publish()).releaseId)
    const [first, ...later] = ids
    await ours.run(`releases rollback ${first}`)
    await ours.age()
    // Until now the first was live, for three days after those that followed it were built.
    const newest = [...later, (await ours.publish()).releaseId]
    expect(await ours.kept()).toEqual([first, ...newest.slice(1)].sort())
    await ours.age()
    const last = (await ours.publish()).releaseId
    expect(await ours.kept()).toEqual([...newest.slice(-2), last].sort())
  })

  it('are not begun by a release that is held', async () => {
    const ours = await newStore()
    const first = (await ours.publish()).releaseId
    await loseProjects(ours.store, [2])
    expect(await ours.publish()).toMatchObject({ state: 'held' })
    await ours.age()
    await insertProjects(ours.store.db, [{ id: 2 }])
    const ids = [first]
    for (let round = 0; round < 4; round++) ids.push((await ours.publish()).releaseId)
    expect(await ours.kept()).toEqual(ids.sort())
  })

  it('do not end for what a rollback took down, while that stands', async () => {
    const ours = await newStore()
    const ids: string[] = []
    for (let round = 0; round < 5; round++) ids.push((await ours.publish()).releaseId)
    const [first, , , , last] = ids
    await ours.run(`releases rollback ${first}`)
    await ours.run(`releases rollback ${last}`)
    await ours.age()
    expect(await ours.run('publish --inline')).toMatchObject({ state: 'unchanged' })
    expect(await ours.kept()).toEqual([first, ...ids.slice(2)].sort())
  })

  it('of held releases begin when the newer one goes live, however long that was held', async () => {
    const ours = await newStore()
    await ours.publish()
    await loseProjects(ours.store, [2])
    const [older, newer] = [await ours.publish(), await ours.publish()]
    expect([older.state, newer.state]).toEqual(['held', 'held'])
    await ours.age()
    const approve = ['releases', 'approve', newer.releaseId]
    expect((await runCommandLine(approve, ours.environment)).stderr).toMatch(/lacks 1 published identifier /)
    await ours.run(`${approve.join(' ')} --accept-loss`)
    expect(await ours.held()).toEqual([older.releaseId])
    await ours.age()
    await ours.publish()
    expect(await ours.held()).toEqual([])
  })
})

describe('health', { shuffle: false }, async () => {
  const { database, publisher } = await publishedFourTimes()
  const health = () =>
    publicationHealth({
      store: database.store,
      releases: createReleaseReader(publisher.feedsDir),
      clock: () => publisher.now,
    })
  const codes = async () => (await health()).needs.map(({ cause }) => cause)

  it('finds nothing to do when all is well', async () => {
    await adoptSchedule(database.store.db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, days(-1))
    publisher.now = days(0.01)
    expect(await health()).toMatchObject({ overdue: false, needs: [] })
  })

  it('tells that a scheduled publication has not come about, an hour after it was due', async () => {
    publisher.now = days(1.03)
    expect(await codes()).toEqual([])
    publisher.now = days(1.05)
    expect(await codes()).toEqual(['publication-overdue'])
    await publisher.publish()
    expect(await codes()).toEqual([])
  })

  it('tells that the last run failed, and that a release is held, until it is decided', async () => {
    await loseProjects(database.store, [2])
    const run = await publisher.publish()
    expect(await codes()).toEqual(['release-held'])
    expect((await health()).needs[0]?.message).toContain(`release ${run.releaseId} is held: 1 published identifier`)
    const failing = await testPublisher(database.store, { feedsDir: '/dev/null/feeds' })
    await failing.publish()
    expect(await codes()).toEqual(['run-failed'])
  })
})

describe('/metrics', async () => {
  const { store } = (await publishedFourTimes()).database
  const live = { ageSeconds: 60, activities: 120, held: 4 }
  const nothing = {
    runsFinished: {},
    runsWaiting: {},
    activitiesRendered: 0,
    watchdogRuns: 0,
    openShards: 0,
    stageSeconds: {},
    overdue: false,
    reconciliationDifference: {},
  }

  it('of the API process count requests by route and tell how publication stands', async () => {
    const numbers = {
      runsFinished: { published: 3, failed: 1 },
      runsWaiting: { queued: 2, running: 1 },
      activitiesRendered: 420,
      watchdogRuns: 1,
      openShards: 7,
      stageSeconds: { render: 1.5 },
      overdue: true,
      reconciliationDifference: { USD: 12.5 },
    }
    const read = async () => ({ registered: 2, missing: 1 })
    const gauges = [{ name: 'giving_registry_datasets', help: 'Datasets by state', label: 'state', read }]
    const shared = async () => numbers
    const metrics = createMetrics({ shared, gauges, live: async () => live, onError: () => undefined })
    const api = await testApi(store, { metrics })
    await api.app.inject('/feeds/status.json')
    await api.app.inject('/no/such/address')
    const { body, headers } = await api.app.inject('/metrics')
    expect(headers['content-type']).toContain('text/plain')
    for (const line of [
      'giving_runs_total{outcome="published"} 3',
      'giving_runs_total{outcome="failed"} 1',
      'giving_activities_rendered_total 420',
      'giving_activities_held 4',
      'giving_queue_depth{kind="run"} 3',
      'giving_queue_depth{kind="shard"} 7',
      'giving_release_age_seconds 60',
      'giving_publication_overdue 1',
      'giving_reconciliation_difference{currency="USD"} 12.5',
      'giving_registry_datasets{state="registered"} 2',
      'giving_last_run_stage_seconds{stage="render"} 1.5',
      'giving_http_request_duration_seconds_count{method="GET",route="/feeds/status.json",status="200"} 1',
      'status="404"} 1',
    ])
      expect(body).toContain(line)
    expect((await api.app.inject('/metrics')).body).toContain('giving_runs_total{outcome="published"} 3')
  })

  it('say that the database is away, and neither what was known before nor what was never looked up', async () => {
    const errors: unknown[] = []
    let away = false
    const metrics = createMetrics({
      shared: async () => {
        if (away) throw new Error('away')
        return { ...nothing, overdue: true, runsFinished: { published: 3 }, goodRunAgeSeconds: 7 }
      },
      live: async () => live,
      onError: (error) => errors.push(error),
    })
    const before = await metrics.text()
    for (const line of ['giving_database_up 1', 'giving_publication_overdue 1', 'giving_last_good_run_age_seconds 7'])
      expect(before).toContain(line)
    expect(before).not.toMatch(/^giving_queue_up/m)
    away = true
    const text = await metrics.text()
    expect(text).toContain('giving_database_up 0')
    expect(text).toContain('giving_release_age_seconds 60')
    expect(text).not.toMatch(/^giving_(publication_overdue|last_good_run_age_seconds|runs_total|queue_depth)\b/m)
    expect(errors).toHaveLength(1)
  })

  it('of a worker are on a port of their own, with the depth of the queue', async () => {
    const { rows } = await store.db.query<{ n: number }>('select count(*) as n from run')
    await createRun(store.db, { trigger: 'manual', at: days(3) })
    const shared = async () => {
      const { finished, waiting, rendered, watchdog, openShards, timings } = await runNumbers(store.db)
      return {
        runsFinished: finished,
        runsWaiting: waiting,
        activitiesRendered: rendered,
        watchdogRuns: watchdog,
        openShards,
        stageSeconds: timings,
        overdue: false,
        reconciliationDifference: {},
      }
    }
    const metrics = createMetrics({ shared, live: async () => undefined, onError: () => undefined })
    metrics.watchQueue(async () => ({ publish: { waiting: 5 } }))
    metrics.observeStage('assemble', 0.2)
    const server = await serveMetrics(metrics, '127.0.0.1', 0)
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    expect(text).toContain('giving_queue_jobs{queue="publish",state="waiting"} 5')
    expect(text).toContain('giving_stage_duration_seconds_count{stage="assemble"} 1')
    expect(text).toContain('giving_runs_waiting{state="queued"} 1')
    expect(text).toMatch(/giving_last_run_stage_seconds\{stage="render"\} \d/)
    expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200)
    await server.close()
    expect(rows[0]?.n).toBeGreaterThan(0)
  })
})
