import type { Clock } from '../kernel/dates.js'
import type { Store } from '../platform/database/store.js'
import type { Log } from '../platform/observability/log.js'
import type { DueInstant, RunKind, RunTrigger } from './run.js'
import { isDue, latestDue, nextDue, type Schedule } from './schedule.js'
import { type EnteredRun, findLastDue, listDues } from './sql/ledger.js'
import { type AdoptedSchedule, adoptSchedule, findSchedule } from './sql/schedules.js'

/**
 * An instant so recent is not missed but late: a worker died with its tick, or a starting one discarded the tick. It is
 * still run, so that no instant is skipped while a worker is there.
 */
const lateMs = 60_000
// How long a tick may take to arrive before its instant is entered without it.
const tickMs = 5_000

/** What entering runs needs. */
export type EnteringDeps = { readonly store: Store; readonly clock: Clock; readonly log: Log }

/** The runs of one schedule. */
export type ScheduledRuns = EnteringDeps & {
  readonly kind: RunKind
  /** The schedule's name in the ledger and in the queue. */
  readonly schedule: string
  /** Enters the run of an instant, or finds the one that the instant already has. */
  readonly enter: (due: DueInstant, trigger: RunTrigger) => Promise<EnteredRun>
}

/**
 * Puts the configured schedule in force. First what is due by the schedule so far is entered; instants before a schedule
 * was put in force are never made up for. Throws `configuration-invalid`.
 */
export async function putInForce(runs: ScheduledRuns, configured: Schedule): Promise<void> {
  nextDue(configured, runs.clock())
  await enterOverdue(runs)
  await adoptSchedule(runs.store.db, runs.schedule, configured, runs.clock())
}

/**
 * Enters what a starting process finds due: the latest instant that has no run, however long ago, and every other one
 * that is merely late. To be called before a schedule is replaced, and again once the scheduler is in the queue: putting
 * it there throws away a tick that is due at that moment.
 */
export async function enterOverdue(runs: ScheduledRuns): Promise<void> {
  await enterMissed(runs, 'schedule', 0)
  const schedule = await findActive(runs)
  if (schedule) await enterLate(runs, schedule, runs.clock())
}

/**
 * Enters a run for the latest due instant that has none, if it is at least `graceSeconds` ago. Returns the run's id
 * when this call entered it.
 */
export async function enterMissed(
  runs: ScheduledRuns,
  trigger: RunTrigger,
  graceSeconds: number,
): Promise<number | undefined> {
  const { store, clock, log, kind } = runs
  const schedule = await findActive(runs)
  if (!schedule) return undefined
  const due = latestDue(schedule, new Date(clock().getTime() - graceSeconds * 1000))
  if (!due || due <= schedule.adoptedAt) return undefined
  const last = await findLastDue(store.db, kind, runs.schedule)
  if (last && last >= due) return undefined
  const run = await enterAt(runs, due, trigger)
  if (!run.created) return undefined
  log.warn({ runId: run.id, dueAt: due, trigger }, `a scheduled ${kind} had been missed, it runs now`)
  return run.id
}

/**
 * Enters the run of a scheduler's job, and the instants before it that are late. Nothing is entered for an instant that
 * the schedule in force does not have (the last job of a schedule that was replaced or is paused), or for one of long ago that
 * a later run has made up for (its worker died, and nobody was there to find the job).
 */
export async function enterDue(runs: ScheduledRuns, dueAt: Date): Promise<string> {
  const { store, clock, log, kind } = runs
  const schedule = await findActive(runs)
  if (!schedule || !isDue(schedule, dueAt)) {
    log.info({ schedule: runs.schedule, dueAt }, 'a job of a replaced or paused schedule was ignored')
    return 'not due'
  }
  if (clock().getTime() - dueAt.getTime() > lateMs) {
    const last = await findLastDue(store.db, kind, runs.schedule)
    if (last && last > dueAt) return 'made up for'
  }
  await enterLate(runs, schedule, dueAt)
  const run = await enterAt(runs, dueAt, 'schedule')
  return run.created ? `run ${run.id}` : `run ${run.id} was there already`
}

/**
 * Enters the instants of the last minute whose tick has not come. Called every ten seconds, so that whatever happens to
 * the queue, no instant is left out that a worker has the database for within a minute.
 */
export async function enterWithoutTick(runs: ScheduledRuns): Promise<void> {
  const schedule = await findActive(runs)
  if (schedule) await enterLate(runs, schedule, new Date(runs.clock().getTime() - tickMs))
}

/** The schedule in force, unless an operator has paused it. */
async function findActive({ store, schedule: name }: ScheduledRuns): Promise<AdoptedSchedule | undefined> {
  const schedule = await findSchedule(store.db, name)
  return schedule?.pausedAt ? undefined : schedule
}

/** Enters the instants of the last minute before `until` that have no run. */
async function enterLate(runs: ScheduledRuns, schedule: AdoptedSchedule, until: Date): Promise<void> {
  const { store, log, kind } = runs
  const from = new Date(Math.max(schedule.adoptedAt.getTime(), until.getTime() - lateMs))
  let due = nextDue(schedule, from)
  if (due >= until) return
  const entered = new Set((await listDues(store.db, kind, runs.schedule, from, until)).map((at) => at.getTime()))
  for (; due < until; due = nextDue(schedule, due)) {
    if (entered.has(due.getTime())) continue
    const run = await enterAt(runs, due, 'schedule')
    if (run.created) log.warn({ runId: run.id, dueAt: due }, `a scheduled ${kind} is late, it runs now`)
  }
}

async function enterAt({ enter, schedule }: ScheduledRuns, at: Date, trigger: RunTrigger): Promise<EnteredRun> {
  return await enter({ schedule, at }, trigger)
}
