import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { dispatchNext } from '../../../jobs/dispatch.js'
import type { QueueConnection } from '../../../jobs/engine.js'
import type { Store } from '../../../src/platform/database/store.js'
import { publishInline } from '../../../src/release/run.js'
import { claimRun } from '../../../src/work/sql/leases.js'
import { runNumbers } from '../../../src/work/sql/run-numbers.js'
import { createRun, getRun } from '../../../src/work/sql/runs.js'
import { waitForEnd } from '../../../src/work/wait.js'
import { tablePublication, turn } from '../../support/processes/jobs/table-publication.js'
import { World } from '../../support/processes/jobs/world.js'
import { testDatabase } from '../../support/store/database.js'

const signal = new AbortController().signal
const clock = () => new Date()

/** One of the engines, as the tests see it. */
export type TestEngine = {
  readonly connection: QueueConnection
  /** Makes the queue forget everything: jobs, schedulers, locks. */
  forget(store: Store): Promise<void>
  /** Ends every connection that the queue has now. */
  cut(store: Store): Promise<void>
  stop(): Promise<void>
}

/** What every engine must survive; the same tests on each. */
export function describeSurvival(name: string, open: (databaseUrl: string) => Promise<TestEngine>): void {
  describe(name, () => {
    let world: World
    let engine: TestEngine

    beforeAll(async () => {
      const { store, url } = await testDatabase()
      engine = await open(url)
      world = new World(store, url, engine.connection)
    })
    afterEach(async () => await world.end())
    afterAll(async () => await engine.stop())

    const begin = async (items: number) => {
      await engine.forget(world.store)
      await world.begin(items)
    }
    const ask = async () => {
      const queue = await world.openQueue()
      const { id } = await createRun(world.store.db, { trigger: 'manual', at: clock() })
      await dispatchNext({ store: world.store, queue }, 'publication')
      return id
    }
    const ended = (id: number) => waitForEnd(() => getRun(world.store.db, id), { signal, pollMs: 50 })

    test('renders every stale item once, publishes, and counts', async () => {
      await begin(25)
      await world.startWorker()
      const run = await ended(await ask())
      expect(run).toMatchObject({ state: 'published', attempt: 1, rendered: 25, releaseId: `release-${run.id}` })
      expect(await world.count('item where renders = 1 and not stale')).toBe(25)
    })

    test('publishes without any shard when nothing is stale', async () => {
      await begin(0)
      await world.startWorker()
      expect(await ended(await ask())).toMatchObject({ state: 'published', rendered: 0 })
    })

    test('ends a queued run that `publish --inline` has overtaken as superseded, before it renders', async () => {
      await begin(3)
      const early = await ask()
      const { id: late } = await createRun(world.store.db, { trigger: 'manual', at: clock() })
      const publication = tablePublication(world.store)
      const deps = { store: world.store, log: pino({ level: 'silent' }), clock, owner: 'inline', lockSeconds: 30 }
      const options = { trigger: 'manual', force: false, signal, runId: late } as const
      expect(await publishInline({ ...deps, publication }, options)).toMatchObject({ state: 'published', rendered: 3 })
      await world.startWorker()
      const reason = `superseded by run ${late}, which has published since`
      expect(await ended(early)).toMatchObject({ state: 'unchanged', attempt: 1, rendered: 0, reason })
      expect(await world.count('item where renders = 1')).toBe(3)
    })

    test('a forced run that one without force has overtaken hands its force on', async () => {
      await begin(3)
      const { id: early } = await createRun(world.store.db, { trigger: 'manual', force: true, at: clock() })
      const { id: late } = await createRun(world.store.db, { trigger: 'manual', at: clock() })
      const publication = tablePublication(world.store)
      const deps = { store: world.store, log: pino({ level: 'silent' }), clock, owner: 'inline', lockSeconds: 30 }
      const options = { trigger: 'manual', force: false, signal, runId: late } as const
      expect(await publishInline({ ...deps, publication }, options)).toMatchObject({ state: 'published', rendered: 3 })
      await world.startWorker()
      const reason = `superseded by run ${late}, which has published since; run ${late + 1} maps every project again`
      expect(await ended(early)).toMatchObject({ state: 'unchanged', rendered: 0, reason })
      expect(await ended(late + 1)).toMatchObject({ state: 'published', force: true })
    })

    test('tells how many workers are there', async () => {
      await begin(0)
      const queue = await world.openQueue()
      expect(await queue.liveWorkers('publish')).toBe(0)
      const worker = await world.forkWorker()
      expect(await queue.liveWorkers('publish')).toBe(1)
      await worker.kill()
      await world.until(async () => (await queue.liveWorkers('publish')) === 0)
    })

    test('runs each due instant exactly once, whatever the number of workers', async () => {
      await begin(5)
      await Promise.all([1, 2].map(() => world.startWorker({ schedule: '* * * * * *' })))
      // A machine that is busy for a second has two instants in one, so three in a row are waited for.
      const instants = await world.until(async () => {
        const all = await world.runs()
        const due = all.map((run) => run.due?.at.getTime() ?? 0)
        const inARow = due.some((at, index) => index >= 2 && at - (due[index - 2] ?? 0) === 2000)
        return inARow && all.filter(({ state }) => state === 'published').length >= 3 && due
      })
      expect(instants).toEqual([...new Set(instants)].sort((one, other) => one - other))
      expect(instants.filter((at) => at % 1000 !== 0)).toEqual([])
      expect(await world.count('committed where times > 1')).toBe(0)
    })

    test('lets five processes start at the same moment and keeps one schedule', async () => {
      await begin(0)
      await Promise.all([1, 2, 3, 4, 5].map(() => world.startWorker({ schedule: '* * * * * *' })))
      await world.until(async () => (await world.count(`run where state = 'published'`)) >= 2)
      expect(await world.count('committed where times > 1')).toBe(0)
      const queue = await world.openQueue()
      expect(await queue.removeSchedulersExcept('publish', ['publish', 'pruning'])).toEqual([])
      expect((await queue.findScheduler('publish', 'publish'))?.schedule.expression).toBe('* * * * * *')
    })

    test('puts a changed schedule in force at restart, and does not run twice', async () => {
      await begin(0)
      const before = await world.startWorker({ schedule: '* * * * * *' })
      await world.until(async () => (await world.count(`run where state = 'published'`)) >= 1)
      await before.close()
      await world.startWorker({ schedule: '0 0 1 1 *' })
      const restarted = clock()
      await world.until(async () => clock().getTime() > restarted.getTime() + 1000)
      // The new worker works: it would have run what was due in that second.
      await ended(await ask())
      const queue = await world.openQueue()
      expect((await queue.findScheduler('publish', 'publish'))?.schedule.expression).toBe('0 0 1 1 *')
      const late = (await world.runs()).filter(({ due }) => due && due.at > restarted)
      expect(late).toEqual([])
    })

    test('finishes a run whose worker was killed while it rendered', async () => {
      await begin(30)
      await turn(world.store.db, 'render_ms', 30)
      const worker = await world.forkWorker()
      const id = await ask()
      await world.until(async () => (await world.count('item where not stale')) >= 12)
      await worker.kill()
      await world.startWorker()
      expect(await ended(id)).toMatchObject({ state: 'published', releaseId: `release-${id}` })
      expect(await world.count('item where stale')).toBe(0)
      expect(await world.count('item where renders > 2')).toBe(0)
      expect(await world.count('committed where times > 1')).toBe(0)
    })

    test('finishes a run whose worker was killed while it published, with a worker that was there already', async () => {
      await begin(3)
      await turn(world.store.db, 'publish_ms', 60_000)
      const worker = await world.forkWorker()
      const id = await ask()
      await world.until(async () => (await world.count('publishing')) >= 1)
      await world.startWorker()
      await worker.kill()
      await turn(world.store.db, 'publish_ms', 0)
      expect(await ended(id)).toMatchObject({ state: 'published' })
      expect(await world.count('committed where times = 1')).toBe(1)
    })

    test('hands a run back on SIGTERM, and another worker takes it up', async () => {
      await begin(3)
      await turn(world.store.db, 'publish_ms', 60_000)
      const worker = await world.forkWorker({ shutdownSeconds: 1 })
      const id = await ask()
      await world.until(async () => (await world.count('publishing')) >= 1)
      expect(await worker.terminate()).toBe(0)
      expect(await getRun(world.store.db, id)).toMatchObject({ state: 'queued', attempt: 1 })
      await turn(world.store.db, 'publish_ms', 0)
      await world.startWorker()
      expect(await ended(id)).toMatchObject({ state: 'published', attempt: 2 })
    })

    test('lets a job that is nearly done finish on SIGTERM', async () => {
      await begin(3)
      await turn(world.store.db, 'publish_ms', 500)
      const worker = await world.forkWorker({ shutdownSeconds: 8 })
      const id = await ask()
      await world.until(async () => (await world.count('publishing')) >= 1)
      expect(await worker.terminate()).toBe(0)
      expect(await getRun(world.store.db, id)).toMatchObject({ state: 'published', attempt: 1 })
    })

    test('takes up a run that the queue knows nothing of, once its lease is dead', async () => {
      await begin(3)
      const { id } = await createRun(world.store.db, { trigger: 'manual', at: clock() })
      const lease = { kind: 'publication', runId: id, owner: 'a worker of yesterday', seconds: 3600 } as const
      expect(await claimRun(world.store.db, lease, clock())).toMatchObject({ kind: 'claimed', attempt: 1 })
      await world.startWorker()
      expect((await getRun(world.store.db, id)).owner).toBe('a worker of yesterday')
      await world.store.db.query('update run set lease_until = clock_timestamp() where id = $1', [id])
      expect(await ended(id)).toMatchObject({ state: 'published', attempt: 2 })
    })

    test('finishes a run whose jobs the queue has forgotten', async () => {
      await begin(30)
      await turn(world.store.db, 'render_ms', 20)
      await world.startWorker()
      const id = await ask()
      await world.until(async () => (await world.count('item where not stale')) >= 12)
      await engine.forget(world.store)
      expect(await ended(id)).toMatchObject({ state: 'published' })
      expect(await world.count('item where stale')).toBe(0)
    })

    test('finishes a run whose connections were cut in the middle, and takes the next one', async () => {
      await begin(30)
      await turn(world.store.db, 'render_ms', 20)
      await world.startWorker()
      const id = await ask()
      await world.until(async () => (await world.count('item where not stale')) >= 12)
      await engine.cut(world.store)
      expect(await ended(id)).toMatchObject({ state: 'published' })
      expect(await ended(await ask())).toMatchObject({ state: 'published' })
      expect(await world.count('item where stale')).toBe(0)
    })

    test('fails the run loudly when a shard cannot be rendered, and goes on to the next run', async () => {
      await begin(25)
      await turn(world.store.db, 'failing_item', 13)
      await world.startWorker()
      const failing = await ask()
      expect(await ended(failing)).toMatchObject({
        state: 'failed',
        error: { code: 'internal', message: 'item 13 cannot be rendered' },
      })
      // It is logged after it was entered.
      await world.until(async () => world.logged('publication run failed').length > 0)
      expect(world.logged('publication run failed')).toMatchObject([{ runId: failing }])
      await turn(world.store.db, 'failing_item', 0)
      expect(await ended(await ask())).toMatchObject({ state: 'published' })
      expect(await world.count('item where stale')).toBe(0)
    })

    test('publishes one run at a time: what is asked for meanwhile runs afterwards', async () => {
      await begin(3)
      await turn(world.store.db, 'publish_ms', 300)
      await Promise.all([world.startWorker(), world.startWorker()])
      const ids = await Promise.all([ask(), ask(), ask()])
      for (const id of ids) expect(await ended(id)).toMatchObject({ state: 'published', attempt: 1 })
      const overlapping = `publishing one join publishing other on other.id > one.id and other.began_at < one.ended_at`
      expect(await world.count(overlapping)).toBe(0)
      expect(await world.count('committed where times = 1')).toBe(3)
    })

    test.each(['kill', 'terminate'] as const)(
      'shares a run with a worker that comes later, and ends it after its %s',
      async (end) => {
        await begin(300)
        await turn(world.store.db, 'render_ms', 100)
        await world.startWorker()
        const id = await ask()
        await world.until(async () => (await world.count('item where not stale')) >= 1)
        const helper = await world.forkWorker({ shutdownSeconds: 1 })
        const helped = `run_shard join run on run.id = run_id where run_shard.lease_owner <> run.lease_owner`
        await world.until(async () => (await world.count(`${helped} and percent between 1 and 99`)) > 0)
        await helper[end]()
        await turn(world.store.db, 'render_ms', 0)
        expect(await ended(id)).toMatchObject({ state: 'published', attempt: 1 })
        expect(await world.count('item where stale or renders > 2')).toBe(0)
      },
    )

    test('lets the watchdog enter an instant that the queue never brought: once, and counted', async () => {
      await begin(0)
      const watchdog = { pattern: '* * * * * *', graceSeconds: 2 }
      await Promise.all([1, 2, 3].map(() => world.startWorker({ watchdog })))
      // The ledger hears of a schedule that the queue knows nothing of, due three minutes ago.
      const due = new Date(Math.floor(Date.now() / 60_000 - 3) * 60_000)
      const expression = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`
      await world.store.db.query('update schedule set expression = $1, adopted_at = $2 where name = $3', [
        expression,
        new Date(due.getTime() - 60_000),
        'publish',
      ])
      const run = await world.until(async () => (await world.runs()).find(({ finishedAt }) => finishedAt))
      expect(run).toMatchObject({ trigger: 'watchdog', state: 'published', due: { at: due } })
      await world.until(async () => world.logged('a scheduled publication had been missed, it runs now').length > 0)
      // Two more rounds of a watchdog: each restores what is missing.
      const queue = await world.openQueue()
      for (let round = 1; round <= 2; round++) {
        await queue.removeSchedulersExcept('publish', [])
        await world.until(async () => world.logged(/ scheduler was restored in the queue$/).length >= round)
      }
      expect(await world.runs()).toHaveLength(1)
      expect((await runNumbers(world.store.db)).watchdog).toBe(1)
    })

    test('notices a scheduler that was deleted behind its back, and runs what was missed once', async () => {
      await begin(0)
      await world.startWorker({ schedule: '* * * * * *', watchdog: { pattern: '* * * * * *', graceSeconds: 2 } })
      await world.until(async () => (await world.count(`run where state = 'published'`)) >= 1)
      const queue = await world.openQueue()
      expect((await queue.removeSchedulersExcept('publish', [])).sort()).toEqual(['pruning', 'publish'])
      await world.until(async () => world.logged('the publication scheduler was restored in the queue').length > 0)
      const restored = clock()
      await world.until(async () => (await world.runs()).some(({ due }) => due && due.at > restored))
      expect(await world.count('committed where times > 1')).toBe(0)
      expect(await queue.removeSchedulersExcept('publish', ['publish'])).toEqual(['pruning'])
      await world.until(async () => (await queue.findScheduler('publish', 'pruning')) !== undefined)
    })
  })
}
