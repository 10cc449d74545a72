import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { QueueConnection } from '../../../jobs/engine.js'
import type { Store } from '../../../src/platform/database/store.js'
import { runNumbers } from '../../../src/work/sql/run-numbers.js'
import { findSchedule } from '../../../src/work/sql/schedules.js'
import { World } from '../../support/processes/jobs/world.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { emptyDatabase, testDatabase } from '../../support/store/database.js'
import { createFleet, type FleetProcess, neverSoon, until } from './fleet.js'
import { type CampaignRow, duration, record, seeded } from './record.js'
import { scale } from './scale.js'
import { forkStarters } from './starters.js'
import { allEnded, instantsOf, scheduledRuns } from './workers.js'

type Engine = CampaignRow['engine']

/** Seconds of the minute as a schedule: due at this instant, to the second. */
function at(...instants: readonly Date[]): string {
  return `${instants.map((instant) => instant.getUTCSeconds()).join(',')} * * * * *`
}

/** The whole second that comes so many seconds from now. */
function inSeconds(seconds: number): Date {
  return new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000)
}

/** A machine that was too busy for an instant gets another one, with more time for what comes before it. */
function later(lead: number): number {
  if (lead > 40) throw new Error('the machine is too busy: processes take more than half a minute to start')
  return lead + 5
}

/** Every process is gone at a due instant: it is run once after the restart, and the table says how soon. */
async function missInstants(engine: Engine, store: Store, environment: Record<string, string>): Promise<void> {
  const random = seeded(`down at the due instant, ${engine}`)
  const fleet = await createFleet({ ...environment, LOG_LEVEL: 'warn', QUEUE_LOCK_SECONDS: '4' })
  await insertProjects(store.db, [{ id: 1 }])
  const late: number[] = []
  let lead = 6
  for (let tried = 0; tried < scale.missedInstants; ) {
    const due = inSeconds(lead)
    const schedule = { PUBLISH_SCHEDULE: at(due) }
    const crew = await Promise.all([fleet.start('worker', schedule), fleet.start('api', schedule)])
    await Promise.all(crew.map((one) => (random() < 0.5 ? one.kill() : one.terminate())))
    if (Date.now() > due.getTime() - 100) {
      lead = later(lead)
      continue
    }
    await sleep(due.getTime() + 500 - Date.now())
    const restarted = performance.now()
    const back = await Promise.all([fleet.start('worker', schedule), fleet.start('worker', schedule)])
    const run = await until(async () =>
      (await scheduledRuns(store)).find((one) => one.due.at.getTime() === due.getTime() && one.finishedAt),
    )
    late.push(performance.now() - restarted)
    expect(run.state).toMatch(/^(published|unchanged)$/)
    await Promise.all(back.map((one) => one.terminate()))
    await allEnded(store)
    const instants = (await scheduledRuns(store)).map((one) => one.due.at.getTime())
    expect(instants.filter((instant) => instant === due.getTime())).toHaveLength(1)
    tried++
  }
  record({
    name: 'everything down at the due instant',
    engine,
    tried: late.length,
    outcome: `each run once, within ${duration(Math.max(...late))} of the restart`,
  })
  await fleet.end()
}

/** Two workers are restarted one after the other with another schedule: it is in force, no instant runs twice. */
async function changeSchedules(engine: Engine, store: Store, environment: Record<string, string>) {
  const fleet = await createFleet({ ...environment, LOG_LEVEL: 'warn', QUEUE_LOCK_SECONDS: '4' })
  await insertProjects(store.db, [{ id: 1 }])
  const expressions = ['1-59/2 * * * * *', '*/2 * * * * *'] as const
  let crew: FleetProcess[] = []
  let instants = 0
  for (let tried = 0; tried < scale.scheduleChanges; tried++) {
    const expression = expressions[tried % 2] ?? neverSoon
    const next: FleetProcess[] = []
    for (const old of crew.length > 0 ? crew : [undefined, undefined]) {
      await old?.terminate()
      next.push(await fleet.start('worker', { PUBLISH_SCHEDULE: expression }))
    }
    crew = next
    const adopted = await findSchedule(store.db, 'publish')
    expect(adopted?.expression).toBe(expression)
    const restarted = new Date()
    const wanted = instantsOf(expression, restarted, new Date(restarted.getTime() + 5000))
    const dues = async () => (await scheduledRuns(store)).map(({ due }) => due.at.toISOString())
    await until(async () => {
      const entered = await dues()
      return wanted.every((instant) => entered.includes(instant))
    })
    const all = await dues()
    expect(new Set(all).size).toBe(all.length)
    // Nothing of the schedule before: all that was due since the new one was adopted is the new one's.
    const since = all.filter((instant) => instant > (adopted?.adoptedAt.toISOString() ?? ''))
    const now = new Date(Date.now() + 1000)
    expect(instantsOf(expression, adopted?.adoptedAt ?? now, now)).toEqual(expect.arrayContaining(since))
    instants += wanted.length
  }
  await Promise.all(crew.map((one) => one.terminate()))
  record({
    name: 'PUBLISH_SCHEDULE changed, two workers restarted in turn',
    engine,
    tried: scale.scheduleChanges,
    outcome: `in force at once: ${instants} instants of the new schedule run once each, none of the old one`,
  })
  await fleet.end()
}

/** How a case looks into a queue behind the workers' backs. */
export type QueueSurgery = {
  readonly connection: QueueConnection
  /** Forgets everything. */
  readonly forget: (store: Store) => Promise<void>
  /** Deletes the scheduler of publications only, its next job only, or both. */
  readonly remove: (store: Store, what: 'scheduler' | 'job') => Promise<void>
}

/** Five processes start at the same moment, again and again: none fails, one schedule remains, no instant runs twice. */
async function startTogether(engine: Engine, store: Store, url: string, queueOf: QueueSurgery): Promise<void> {
  const starters = await forkStarters(url, queueOf.connection)
  const world = new World(store, url, queueOf.connection)
  await world.begin(0)
  let ran = 0
  for (let tried = 0; tried < scale.simultaneousStarts; tried++) {
    // In turn: the very first start, a start that finds all in place, one with another schedule, one that is due at once.
    if (tried % 4 === 0) {
      await queueOf.forget(store)
      await world.begin(0)
    }
    const expression = ['10 3 * * *', '10 3 * * *', '20 4 * * *', '* * * * * *'][tried % 4] ?? neverSoon
    await starters.start(expression)
    const queue = await world.openQueue()
    expect((await queue.findScheduler('publish', 'publish'))?.schedule).toEqual({ expression, timezone: 'UTC' })
    expect(await queue.removeSchedulersExcept('publish', ['publish', 'pruning'])).toEqual([])
    if (tried % 4 === 3) {
      await until(async () => (await world.count(`run where state = 'published'`)) >= 2)
      expect(await world.count('committed where times > 1')).toBe(0)
      ran++
    }
    await starters.stop()
    await world.end()
  }
  record({
    name: 'five workers start at the same moment',
    engine,
    tried: scale.simultaneousStarts,
    outcome: `none failed, one schedule each time; in ${ran} rounds with a schedule of 1 s no instant ran twice`,
  })
}

/**
 * The same with cold processes of `giving worker` on a database that has nothing in it, not even our schema, and a queue
 * that `environment` has emptied.
 */
async function startCold(
  engine: Engine,
  environment: (databaseUrl: string) => Promise<Record<string, string>>,
): Promise<void> {
  for (let tried = 0; tried < scale.coldStarts; tried++) {
    const database = await emptyDatabase()
    const fleet = await createFleet({ ...(await environment(database.url)), LOG_LEVEL: 'warn' })
    const due = { PUBLISH_SCHEDULE: '* * * * * *' }
    const crew = await Promise.all([1, 2, 3, 4, 5].map(() => fleet.start('worker', due)))
    await until(async () => (await scheduledRuns(database.store)).filter(({ finishedAt }) => finishedAt).length >= 2)
    const instants = (await scheduledRuns(database.store)).map((run) => run.due.at.getTime())
    expect(new Set(instants).size).toBe(instants.length)
    const ends = await Promise.all(crew.map((one) => one.terminate()))
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    await fleet.end()
    await database.drop()
  }
  record({
    name: 'five processes of `giving worker` start at the same moment on an empty database',
    engine,
    tried: scale.coldStarts,
    outcome: 'none failed, no instant ran twice',
  })
}

/**
 * The scheduler is deleted behind the workers' backs just before an instant is due, as a row, as its next job, or both:
 * the instant is run once, the watchdog of three processes puts the scheduler back, and counts the run when it was it
 * that entered it.
 */
async function loseScheduler(engine: Engine, store: Store, url: string, queueOf: QueueSurgery): Promise<void> {
  const ways = [['scheduler', 'job'], ['scheduler'], ['job']] as const
  let [slowest, rescued, tried, lead] = [0, 0, 0, 7]
  while (tried < scale.lostSchedulers * ways.length) {
    const way = ways[tried % ways.length] ?? ways[0]
    const world = new World(store, url, queueOf.connection)
    await queueOf.forget(store)
    await world.begin(0)
    const due = inSeconds(lead)
    const after = (seconds: number) => new Date(due.getTime() + seconds * 1000)
    // The watchdog looks after the instant, so that it is missed; shortened from every minute and five minutes' grace.
    const watchdog = { pattern: at(after(3), after(4)), graceSeconds: 2 }
    const schedule = at(due, after(7))
    await Promise.all([1, 2, 3].map(() => world.forkWorker({ schedule, watchdog })))
    for (const what of way) await queueOf.remove(store, what)
    if (Date.now() > due.getTime() - 100) {
      await world.end()
      lead = later(lead)
      continue
    }
    const runOf = (instant: Date) =>
      until(async () =>
        (await scheduledRuns(store)).find((one) => one.due.at.getTime() === instant.getTime() && one.finishedAt),
      )
    const first = await runOf(due)
    slowest = Math.max(slowest, (first.finishedAt?.getTime() ?? 0) - due.getTime())
    const queue = await world.openQueue()
    const restored = await until(() => queue.findScheduler('publish', 'publish'))
    expect(restored.schedule.expression).toBe(schedule)
    expect((await runOf(after(7))).trigger).toBe('schedule')
    const instants = (await scheduledRuns(store)).map((one) => one.due.at.getTime())
    expect(instants).toEqual([due.getTime(), after(7).getTime()])
    expect(await world.count('committed where times > 1')).toBe(0)
    const watched = first.trigger === 'watchdog' ? 1 : 0
    // Without its job nobody but the watchdog can know of the instant; an orphaned job still enters its own.
    if (way.some((what) => what === 'job')) expect(watched).toBe(1)
    expect((await runNumbers(store.db)).watchdog).toBe(watched)
    rescued += watched
    await world.end()
    tried++
  }
  record({
    name: 'the scheduler deleted behind the backs of three workers (watchdog shortened to 2 s)',
    engine,
    tried,
    outcome: `each instant run once, within ${duration(slowest)}; ${rescued} entered and counted by the watchdog; scheduler back`,
  })
}

/** The cases of schedules with the queue in one engine; `begin` empties it and returns what the processes are told. */
export function testSchedules(
  engine: Engine,
  begin: (databaseUrl: string) => Promise<Record<string, string>>,
  surgery: (databaseUrl: string) => QueueSurgery,
): void {
  test('down at the due instant', async () => {
    const { store, url } = await testDatabase()
    await missInstants(engine, store, await begin(url))
  })

  test('changed', async () => {
    const { store, url } = await testDatabase()
    await changeSchedules(engine, store, await begin(url))
  })

  test('started together', async () => {
    const { store, url } = await testDatabase()
    await startTogether(engine, store, url, surgery(url))
  })

  test('started together, cold', () => startCold(engine, begin))

  test('the scheduler lost', async () => {
    const { store, url } = await testDatabase()
    await loseScheduler(engine, store, url, surgery(url))
  })
}
