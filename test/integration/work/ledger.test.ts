import { once } from 'node:events'
import pino from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { createSyncRun, getSyncRun } from '../../../src/catalogue/sql/sync-runs.js'
import { ServiceError } from '../../../src/kernel/errors.js'
import { type PublicationRunDeps, publishInline, scheduledPublications } from '../../../src/release/run.js'
import { type RunDeps, takeOverDead } from '../../../src/work/attempt.js'
import { enterDue, enterMissed, enterOverdue, enterWithoutTick, putInForce } from '../../../src/work/due.js'
import type { RunKind } from '../../../src/work/run.js'
import { claimRun, failRun, requeueDeadRun, requeueRun, takeNextQueued } from '../../../src/work/sql/leases.js'
import { listRunLines } from '../../../src/work/sql/run-lines.js'
import { runNumbers } from '../../../src/work/sql/run-numbers.js'
import { cancelRun, createRun, findLastGoodRun, getRun, listRuns } from '../../../src/work/sql/runs.js'
import { findSchedule, pauseSchedule, resumeSchedule } from '../../../src/work/sql/schedules.js'
import {
  countOpenShards,
  finishRun,
  finishShard,
  recordShards,
  releaseShard,
  renewPublication,
  renewShard,
  takeOthersShard,
  takeShard,
} from '../../../src/work/sql/shards.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { resetTables, tablePublication, turn } from '../../support/processes/jobs/table-publication.js'
import { testDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const noon = new Date('2026-03-10T12:00:00Z')
const log = pino({ level: 'silent' })
const signal = new AbortController().signal
const published = { state: 'published', releaseId: 'r1', held: 2 } as const

const { store } = await testDatabase()
beforeEach(async () => {
  await resetTables(store.db)
})

const enter = async () => (await createRun(store.db, { trigger: 'manual', at: noon })).id
const lease = (runId: number, attempt: number, owner = 'a', seconds = 60) => ({
  kind: 'publication' as const,
  runId,
  attempt,
  owner,
  seconds,
})

const insertRendering = (project: number, run: number, updatedAt?: Date) =>
  store.db.query(
    `insert into rendering (project_id, identifier, verdict, text, last_updated_at, errors, warnings, infos, notice_counts,
       notices, input_key, run_id)
     values ($1, 'XM-' || $1::bigint, 'valid', '', $3, 0, 0, 0, '{}', '[]', '', $2)`,
    [project, run, updatedAt ?? null],
  )

describe('the run ledger', () => {
  test('has one run for a due instant, whoever enters it', async () => {
    const due = { schedule: 'publish', at: noon }
    const entered = await Promise.all(
      [1, 2, 3, 4].map(() => createRun(store.db, { trigger: 'schedule', at: noon, due })),
    )
    expect(entered.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(entered.map(({ id }) => id)).size).toBe(1)
  })

  test('lets one run go on at a time', async () => {
    const ids = [await enter(), await enter(), await enter()]
    const claims = await Promise.all(ids.map((id, index) => claimRun(store.db, lease(id, 0, `w${index}`), noon)))
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['busy', 'busy', 'claimed'])
    expect(await takeNextQueued(store.db, 'publication', 60)).toBeUndefined()
  })

  test('keeps the time of the first attempt for all later ones', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0), noon)
    await requeueRun(store.db, lease(id, 1))
    const claim = await claimRun(store.db, lease(id, 1, 'b'), new Date('2026-03-11T01:00:00Z'))
    expect(claim).toEqual({
      kind: 'claimed',
      attempt: 2,
      run: { id, startedAt: noon, force: false, trigger: expect.any(String) },
    })
  })

  test('lets only the job that works on an attempt begin another one', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0, 'start 1'), noon)
    expect(await claimRun(store.db, lease(id, 0, 'start 2'), noon)).toEqual({ kind: 'gone' })
    expect(await claimRun(store.db, lease(id, 0, 'start 1'), noon)).toMatchObject({ kind: 'claimed', attempt: 2 })
  })

  test('voids the work of an attempt that was taken over', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0), noon)
    expect(await renewPublication(store.db, lease(id, 1))).toBe('kept')
    await requeueRun(store.db, lease(id, 1))
    await claimRun(store.db, lease(id, 1, 'b'), noon)
    expect(await renewPublication(store.db, lease(id, 1))).toBe('lost')
    expect(await finishRun(store.db, lease(id, 1), published, noon)).toBe(false)
    expect(await failRun(store.db, lease(id, 1), new ServiceError('internal', 'late'), noon)).toBe(false)
    expect(await requeueRun(store.db, lease(id, 1))).toBe(false)
  })

  test('has one publisher of an attempt', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0, 'p1'), noon)
    expect(await renewPublication(store.db, lease(id, 1, 'p2'))).toBe('lost')
    expect(await finishRun(store.db, lease(id, 1, 'p2'), published, noon)).toBe(false)
    expect(await finishRun(store.db, lease(id, 1, 'p1'), published, noon)).toBe(true)
    expect(await getRun(store.db, id)).toMatchObject({ state: 'published', held: 2, releaseId: 'r1', finishedAt: noon })
  })

  test('queues a run again only when its lease is dead', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0), noon)
    expect(await requeueDeadRun(store.db, 'publication')).toBeUndefined()
    await store.db.query(`update run set lease_until = clock_timestamp() - interval '1 second'`)
    expect(await requeueDeadRun(store.db, 'publication')).toEqual({ id, attempt: 1, owner: 'a', losses: 1 })
    expect(await requeueDeadRun(store.db, 'publication')).toBeUndefined()
  })

  describe('a run that loses its workers', () => {
    const deps = (): RunDeps => ({ store, log, owner: 'a', clock: () => noon, lockSeconds: 60 })
    const lose = async (kind: RunKind, runId: number) => {
      const claim = await claimRun(store.db, { kind, runId, owner: 'dead', seconds: 0 }, noon)
      await takeOverDead(deps(), kind)
      return claim.kind
    }
    const loseTimes = async (times: number, kind: RunKind, runId: number) => {
      for (let loss = 0; loss < times; loss++) expect(await lose(kind, runId)).toBe('claimed')
    }
    const failure = { state: 'failed', error: { code: 'worker-lost' } }

    test('is failed after five in a row, and the next run may begin', async () => {
      const [id, next] = [await enter(), await enter()]
      await loseTimes(4, 'publication', id)
      expect(await getRun(store.db, id)).toMatchObject({ state: 'queued', attempt: 4 })
      await loseTimes(1, 'publication', id)
      expect(await getRun(store.db, id)).toMatchObject({ ...failure, attempt: 5 })
      expect(await lose('publication', id)).toBe('gone')
      expect(await takeNextQueued(store.db, 'publication', 60)).toMatchObject({ id: next })
    })

    test('is taken up for as long as each attempt gets on', async () => {
      const id = await enter()
      await store.db.query(`insert into project (id, active, status, title, source)
        select id, true, 'active', 'A well', 'local' from generate_series(101, 112) id`)
      for (let loss = 1; loss <= 12; loss++) {
        await insertRendering(100 + loss, id)
        await loseTimes(1, 'publication', id)
      }
      expect(await getRun(store.db, id)).toMatchObject({ state: 'queued', attempt: 12 })
      await loseTimes(4, 'publication', id)
      expect(await getRun(store.db, id)).toMatchObject(failure)
    })

    test('is failed when it is a sync as well, unless it gets on', async () => {
      const sync = { kind: 'full', trigger: 'manual', upstream: 'http://upstream.example', at: noon } as const
      const { id } = await createSyncRun(store.db, sync)
      for (let loss = 1; loss <= 8; loss++) {
        await store.db.query('update sync_run set requests = $1', [loss])
        await loseTimes(1, 'sync', id)
      }
      expect(await getSyncRun(store.db, id)).toMatchObject({ state: 'queued', attempt: 8 })
      await loseTimes(4, 'sync', id)
      expect(await getSyncRun(store.db, id)).toMatchObject(failure)
    })
  })

  describe('the shards of an attempt', () => {
    const shards = [
      { fromId: 1, toId: 10 },
      { fromId: 11, toId: 20 },
    ]
    const begin = async (owner?: string) => {
      const id = await enter()
      await claimRun(store.db, lease(id, 0, 'host:1 job'), noon)
      await recordShards(store.db, lease(id, 1), shards, owner)
      return { id, own: lease(id, 1, 'host:1 job') }
    }
    const help = (owner = 'host:2', seconds = 60) => takeOthersShard(store.db, { owner, seconds })

    test('are each taken by one process, however many ask at the same time', async () => {
      const { id, own } = await begin()
      const taken = await Promise.all([1, 2, 3].map((number) => help(`host:2${number}`)))
      expect(taken.flatMap((one) => one?.lease.shard.fromId ?? []).sort()).toEqual([1, 11].sort())
      expect(taken.find((one) => one)?.run).toEqual({ id, startedAt: noon, force: false, trigger: 'manual' })
      expect(await takeShard(store.db, own)).toBeUndefined()
      expect(await countOpenShards(store.db, own)).toBe(2)
    })

    test('are no help of the process whose run it is, of none that works alone or is of an earlier version', async () => {
      const { own } = await begin()
      expect(await help('host:1')).toBeUndefined()
      await store.db.query(`update run set stage = 'render'`)
      expect(await help()).toBeUndefined()
      await failRun(store.db, own, new ServiceError('internal', 'over'), noon)
      expect(await help()).toBeUndefined()
      const alone = await begin('host:1 job')
      expect(await help()).toBeUndefined()
      expect(await takeShard(store.db, alone.own)).toMatchObject({ shard: shards[0] })
    })

    test('of a process that died or failed are left to the owner of the attempt', async () => {
      const { own } = await begin()
      const [died, failed] = [await help('host:2', 0), await help('host:3')]
      if (!died || !failed) return expect.fail('there is no shard')
      await releaseShard(store.db, failed.lease, 'owner')
      expect(await help('host:4')).toBeUndefined()
      expect(await takeShard(store.db, own)).toEqual({ ...own, shard: shards[0] })
      expect(await takeShard(store.db, own)).toEqual({ ...own, shard: shards[0] })
      expect(await renewShard(store.db, died.lease, 50)).toBe(false)
      await finishShard(store.db, died.lease, { rendered: 10, changed: 10, held: 0 })
      expect(await countOpenShards(store.db, own)).toBe(2)
      await finishShard(
        store.db,
        { ...own, shard: shards[0] ?? died.lease.shard },
        { rendered: 4, changed: 4, held: 0 },
      )
      expect(await takeShard(store.db, own)).toEqual({ ...own, shard: shards[1] })
    })

    test('of a process that stops are for everybody', async () => {
      await begin()
      const stopping = (await help()) ?? expect.fail('there is no shard')
      await releaseShard(store.db, stopping.lease, 'everybody')
      expect((await help('host:3'))?.lease.shard).toEqual(stopping.lease.shard)
    })

    test('are over with their attempt', async () => {
      const { id, own } = await begin()
      const { lease: taken } = (await help()) ?? expect.fail('there is no shard')
      expect(await renewShard(store.db, taken, 10)).toBe(true)
      await requeueRun(store.db, own)
      expect(await renewShard(store.db, taken, 20)).toBe(false)
      expect(await help('host:3')).toBeUndefined()
      await claimRun(store.db, lease(id, 0, 'host:5 job'), noon)
      expect(await help('host:3')).toBeUndefined()
    })

    test('tell how far the run has come, and are counted', async () => {
      const { id, own } = await begin()
      const { lease: taken } = (await help()) ?? expect.fail('there is no shard')
      await renewShard(store.db, taken, 100)
      expect(await getRun(store.db, id)).toMatchObject({ progress: { stage: 'render', done: 99, total: 200 } })
      await finishShard(store.db, taken, { rendered: 10, changed: 4, held: 1 })
      expect(await getRun(store.db, id)).toMatchObject({
        rendered: 10,
        changed: 4,
        held: 1,
        progress: { stage: 'render', done: 100, total: 200 },
      })
      await finishRun(store.db, own, published, noon)
      expect(await getRun(store.db, id)).toMatchObject({ rendered: 10, changed: 4, held: 2 })
    })
  })

  test('counts what a killed worker had rendered of a shard by the renderings it left', async () => {
    const id = await enter()
    await claimRun(store.db, lease(id, 0), noon)
    await recordShards(store.db, lease(id, 1), [{ fromId: 1, toId: 10 }])
    const taken = (await takeShard(store.db, lease(id, 1))) ?? expect.fail('there is no shard')
    await store.db.query(`insert into project (id, active, status, title, source)
      select id, true, 'active', 'A well', 'local' from generate_series(1, 3) id`)
    for (const project of [1, 2, 3]) await insertRendering(project, id, project < 3 ? noon : undefined)
    await finishShard(store.db, taken, { rendered: 1, changed: 1, held: 0 })
    await finishRun(store.db, lease(id, 1), published, noon)
    expect(await getRun(store.db, id)).toMatchObject({ rendered: 3, changed: 2 })
  })

  test('gives the queue the oldest run, and not again before it had time', async () => {
    const [first, second] = [await enter(), await enter()]
    expect(await takeNextQueued(store.db, 'publication', 60)).toEqual({ id: first, attempt: 0 })
    expect(await takeNextQueued(store.db, 'publication', 60)).toBeUndefined()
    await claimRun(store.db, lease(first, 0), noon)
    await failRun(store.db, lease(first, 1), new ServiceError('storage-failed', 'the disk is full'), noon)
    expect(await takeNextQueued(store.db, 'publication', 60)).toEqual({ id: second, attempt: 0 })
    expect(await runNumbers(store.db)).toMatchObject({ waiting: { queued: 1, running: 0 }, finished: { failed: 1 } })
    expect((await listRuns(store.db, 5)).map(({ id }) => id)).toEqual([second, first])
    expect(await findLastGoodRun(store.db, noon)).toBeUndefined()
  })
})

describe('missed instants', () => {
  const daily = { expression: '0 2 * * *', timezone: 'UTC' }
  const at = (text: string) => scheduledPublications({ store, log, clock: () => new Date(text) })
  const dues = async () => (await listRuns(store.db, 10)).map(({ due }) => due?.at.toISOString()).reverse()

  test('are not made up for at the very first start', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    expect(await dues()).toEqual([])
  })

  test('are made up for at the next start: the latest one, once', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    await Promise.all([1, 2, 3].map(() => putInForce(at('2026-03-14T12:00:00Z'), daily)))
    expect(await dues()).toEqual(['2026-03-14T02:00:00.000Z'])
  })

  test('of the old schedule count when it is changed, instants before the change do not', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    await enterDue(at('2026-03-11T02:00:00Z'), new Date('2026-03-11T02:00:00Z'))
    const earlier = { expression: '0 1 * * *', timezone: 'UTC' }
    await putInForce(at('2026-03-11T12:00:00Z'), earlier)
    await putInForce(at('2026-03-11T13:00:00Z'), earlier)
    expect(await dues()).toEqual(['2026-03-11T02:00:00.000Z'])
    await putInForce(at('2026-03-12T12:00:00Z'), daily)
    expect(await dues()).toEqual(['2026-03-11T02:00:00.000Z', '2026-03-12T01:00:00.000Z'])
  })

  test('of the last minute are only late: each is run, when a process starts or the next tick comes', async () => {
    const often = { expression: '*/10 * * * * *', timezone: 'UTC' }
    await putInForce(at('2026-03-10T12:00:00Z'), often)
    await enterDue(at('2026-03-10T12:00:31Z'), new Date('2026-03-10T12:00:30Z'))
    const first = ['2026-03-10T12:00:10.000Z', '2026-03-10T12:00:20.000Z', '2026-03-10T12:00:30.000Z']
    expect((await dues()).sort()).toEqual(first)
    await enterOverdue(at('2026-03-10T12:00:50.500Z'))
    expect((await dues()).sort()).toEqual([...first, '2026-03-10T12:00:40.000Z', '2026-03-10T12:00:50.000Z'])
    // An hour later only the last minute counts as late.
    await enterDue(at('2026-03-10T13:00:00Z'), new Date('2026-03-10T13:00:00Z'))
    expect(await listRuns(store.db, 50)).toHaveLength(5 + 6)
  })

  test('of the last minute are run without their ticks, five seconds late, and no older ones', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), { expression: '*/10 * * * * *', timezone: 'UTC' })
    await enterWithoutTick(at('2026-03-10T12:00:14Z'))
    expect(await dues()).toEqual([])
    await enterWithoutTick(at('2026-03-10T12:00:24Z'))
    await enterWithoutTick(at('2026-03-10T12:00:25.500Z'))
    expect(await dues()).toEqual(['2026-03-10T12:00:10.000Z', '2026-03-10T12:00:20.000Z'])
    await enterWithoutTick(at('2026-03-10T12:02:05Z'))
    const last = (await dues()).slice(2).map((instant) => instant?.slice(14, 19))
    expect(last.sort()).toEqual(['01:10', '01:20', '01:30', '01:40', '01:50'])
  })

  test('of long ago are not run by a job that was found only now, when a later one has made up for them', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    await enterOverdue(at('2026-03-12T12:00:00Z'))
    expect(await enterDue(at('2026-03-12T12:00:01Z'), new Date('2026-03-11T02:00:00Z'))).toBe('made up for')
    expect(await dues()).toEqual(['2026-03-12T02:00:00.000Z'])
  })

  test('are left to the queue for a while before the watchdog enters them', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    expect(await enterMissed(at('2026-03-11T02:04:59Z'), 'watchdog', 300)).toBeUndefined()
    expect(await enterMissed(at('2026-03-11T02:05:00Z'), 'watchdog', 300)).toBeDefined()
    expect(await enterMissed(at('2026-03-11T02:06:00Z'), 'watchdog', 300)).toBeUndefined()
    expect(await listRuns(store.db, 10)).toMatchObject([{ trigger: 'watchdog' }])
  })

  test('of a replaced schedule are not entered by its last job', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), { expression: '0 5 * * *', timezone: 'Europe/Dublin' })
    expect(await enterDue(at('2026-03-11T02:00:00Z'), new Date('2026-03-11T02:00:00Z'))).toBe('not due')
    expect(await dues()).toEqual([])
  })

  test('of a paused schedule are left out, and not made up for once it is resumed', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    await pauseSchedule(store.db, 'publish', new Date('2026-03-10T13:00:00Z'))
    await pauseSchedule(store.db, 'publish', new Date('2026-03-11T01:00:00Z'))
    expect((await findSchedule(store.db, 'publish'))?.pausedAt).toEqual(new Date('2026-03-10T13:00:00Z'))
    const due = new Date('2026-03-11T02:00:00Z')
    await enterOverdue(at('2026-03-11T02:00:20Z'))
    await enterWithoutTick(at('2026-03-11T02:00:20Z'))
    expect(await enterDue(at('2026-03-11T02:00:00Z'), due)).toBe('not due')
    expect(await enterMissed(at('2026-03-11T04:00:00Z'), 'watchdog', 300)).toBeUndefined()
    await putInForce(at('2026-03-11T05:00:00Z'), daily)
    await resumeSchedule(store.db, 'publish', new Date('2026-03-11T06:00:00Z'))
    await resumeSchedule(store.db, 'publish', new Date('2026-03-12T06:00:00Z'))
    await enterOverdue(at('2026-03-11T12:00:00Z'))
    expect(await dues()).toEqual([])
    await enterOverdue(at('2026-03-12T02:00:00Z'))
    expect(await dues()).toEqual(['2026-03-12T02:00:00.000Z'])
    await expect(pauseSchedule(store.db, 'nightly', noon)).rejects.toMatchObject({ code: 'not-found' })
  })

  test('a schedule that cannot be read is refused before anything is changed', async () => {
    await putInForce(at('2026-03-10T12:00:00Z'), daily)
    const wrong = putInForce(at('2026-03-14T12:00:00Z'), { expression: '0 0 31 2 *', timezone: 'UTC' })
    await expect(wrong).rejects.toMatchObject({ code: 'configuration-invalid' })
    expect(await dues()).toEqual([])
  })
})

describe('a run in this process, without a queue', () => {
  const deps = (owner = 'inline'): PublicationRunDeps => ({
    store,
    log,
    owner,
    publication: tablePublication(store),
    clock: () => noon,
    lockSeconds: 1,
  })
  const options = { trigger: 'manual', force: false, signal } as const

  beforeEach(async () => {
    await store.db.query('insert into item select id, true from generate_series(1, 25) id')
  })

  test('renders, publishes and tells its progress', async () => {
    const stages: string[] = []
    const run = await publishInline(deps(), { ...options, onProgress: ({ stage }) => stages.push(stage) })
    expect(run).toMatchObject({ state: 'published', rendered: 25, attempt: 1 })
    expect([...new Set(stages)]).toEqual(['render', 'assemble'])
  })

  test('is left alone by other processes', async () => {
    const asked: Promise<unknown>[] = []
    const onProgress = () => void asked.push(takeOthersShard(store.db, { owner: 'host:2', seconds: 60 }))
    await publishInline(deps(), { ...options, onProgress })
    expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]))
  })

  test('returns the failed run when a shard cannot be rendered', async () => {
    await turn(store.db, 'failing_item', 20)
    expect(await publishInline(deps(), options)).toMatchObject({
      state: 'failed',
      error: { code: 'internal', message: 'item 20 cannot be rendered' },
    })
  })

  test('waits for another run, one after the other', async () => {
    await turn(store.db, 'publish_ms', 200)
    const runs = await Promise.all([publishInline(deps('a'), options), publishInline(deps('b'), options)])
    // One that the other overtook while it waited has nothing left to do.
    expect(runs.map(({ state }) => state).sort()).toEqual([
      'published',
      expect.stringMatching(/^(published|unchanged)$/),
    ])
    const { rows } = await store.db.query(`select from publishing a join publishing b
      on b.id > a.id and b.began_at < a.ended_at`)
    expect(rows).toHaveLength(0)
  })

  test('takes over from a worker that died', async () => {
    const dead = await enter()
    await claimRun(store.db, lease(dead, 0, 'dead', 0), noon)
    expect(await publishInline(deps(), options)).toMatchObject({ state: 'published' })
    expect(await publishInline(deps(), { ...options, runId: dead })).toMatchObject({ state: 'unchanged', attempt: 2 })
  })

  test('ends within seconds when an operator cancels it, with the lines of what happened; a waiting one ends at once', async () => {
    await turn(store.db, 'publish_ms', 600_000)
    const waiting = await enter()
    let asked: Promise<void> | undefined
    const ended = await publishInline(deps(), {
      ...options,
      onProgress: ({ stage }) => {
        if (stage === 'assemble')
          asked ??= listRuns(store.db, 1).then(([run]) => cancelRun(store.db, run?.id ?? 0, noon))
      },
    })
    await asked
    const why = { code: 'run-cancelled', message: 'an operator cancelled it' }
    expect(ended).toMatchObject({ state: 'failed', error: why })
    expect((await store.db.query('select from committed')).rowCount).toBe(0)
    expect((await listRunLines(store.db, ended.id, 10)).map(({ level, message }) => [level, message])).toEqual([
      ['info', 'publication run started'],
      ['error', 'publication run failed'],
    ])
    await cancelRun(store.db, waiting, noon)
    expect(await getRun(store.db, waiting)).toMatchObject({ state: 'failed', error: why, finishedAt: noon })
    expect(await takeNextQueued(store.db, 'publication', 60)).toBeUndefined()
    await expect(cancelRun(store.db, waiting, noon)).rejects.toMatchObject({ code: 'request-invalid' })
    await expect(cancelRun(store.db, 0, noon)).rejects.toMatchObject({ code: 'not-found' })
  })

  test('that has committed its release when it is cancelled has published it', async () => {
    const publication = tablePublication(store)
    const ended = await publishInline(
      {
        ...deps(),
        publication: {
          ...publication,
          publishRelease: async (run, work) => {
            const outcome = await publication.publishRelease(run, work)
            await cancelRun(store.db, run.id, noon)
            await once(work.signal, 'abort')
            return outcome
          },
        },
      },
      options,
    )
    expect(ended).toMatchObject({ state: 'published', cancelAsked: true })
  })

  test('is queued again when it is interrupted', async () => {
    await turn(store.db, 'publish_ms', 60_000)
    const interruption = new AbortController()
    const running = publishInline(deps(), {
      ...options,
      signal: interruption.signal,
      onProgress: ({ stage }) => stage === 'render' && interruption.abort(),
    })
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
    expect(await listRuns(store.db, 1)).toMatchObject([{ state: 'queued', attempt: 1 }])
  })
})

describe('a run that a later one has overtaken', () => {
  test('ends as superseded before anything is rendered, and no log line says that it failed', async () => {
    const lines: { level: number; msg: string }[] = []
    const told = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const publication = tablePublication(store)
    const deps: PublicationRunDeps = { store, log: told, clock: () => noon, owner: 'a', lockSeconds: 30, publication }
    const [early, late] = [await enter(), await enter()]
    const options = { trigger: 'manual', force: false, signal } as const
    expect(await publishInline(deps, { ...options, runId: late })).toMatchObject({ state: 'published' })
    const planned = await store.db.query('select from run_shard')
    const ended = await publishInline(deps, { ...options, runId: early })
    expect(ended).toMatchObject({ state: 'unchanged', reason: `superseded by run ${late}, which has published since` })
    expect((await store.db.query('select from run_shard')).rowCount).toBe(planned.rowCount)
    expect(lines.filter(({ level }) => level >= 40)).toEqual([])
    expect(lines.map(({ msg }) => msg)).toContain('publication run superseded')
    const next = await publishInline(deps, options)
    expect(next.reason).toBeUndefined()
  })

  test('is no failure of `giving publish --inline`, however many are asked for at once', async () => {
    const { url, store: own } = await testDatabase()
    await seedProjects(own, 3)
    const folder = await temporaryFolder()
    const environment = {
      DATABASE_URL: url,
      GIVING_DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      REPORTING_ORG_REF: 'US-EIN-123456789',
    }
    const { id } = await createRun(own.db, { trigger: 'schedule', at: new Date() })
    const ended = await Promise.all([1, 2, 3].map(() => runCommandLine(['publish', '--inline'], environment)))
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ended.map(() => ({ code: 0, stderr: '' })))
    expect((await getRun(own.db, id)).state).toBe('queued')
    expect((await listRuns(own.db, 10)).filter(({ state }) => state === 'failed')).toEqual([])
  })
})
