import type { Clock } from '../src/domain/dates.js'
import { isDue, latestDue, nextDue, type Schedule } from '../src/domain/schedule.js'
import type { Log } from '../src/observability/log.js'
import { createRun, findLastDue, listDues, type RunTrigger } from '../src/store/runs/runs.js'
import { type AdoptedSchedule, adoptSchedule, findSchedule } from '../src/store/runs/schedules.js'
import type { Store } from '../src/store/store.js'
import type { JobQueue } from './queue.js'

/** The schedule of publications: its name in the ledger and in the queue. */
export const publishSchedule = 'publish'

/** The scheduler of shared maintenance: its name in the queue, and when it is due. */
export const maintenanceName = 'maintenance'
const maintenanceSchedule: Schedule = { expression: '23 * * * *', timezone: 'UTC' }

/**
 * An instant so recent is not missed but late: a worker died with its tick, or a starting one threw the tick away. It is
 * run all the same, so that no instant is left out while somebody is there.
 */
const lateMs = 60_000

type ScheduleDeps = { readonly store: Store; readonly clock: Clock; readonly log: Log }

/** The next scheduled publication after `now`, for display. */
export function nextRun(publish: { readonly schedule: string; readonly timezone: string }, now: Date): Date {
  return nextDue({ expression: publish.schedule, timezone: publish.timezone }, now)
}

/**
 * Puts the configured schedule in force. First the schedule so far is asked which instant was missed while the service
 * was down, and that one is entered; instants before a schedule was adopted are never made up for.
 */
export async function adoptPublishSchedule(deps: ScheduleDeps, schedule: Schedule): Promise<void> {
  nextDue(schedule, deps.clock())
  await enterOverdueRuns(deps)
  await adoptSchedule(deps.store.db, publishSchedule, schedule, deps.clock())
}

/**
 * Enters a run for the latest due instant that has none, if it is at least `graceSeconds` ago. Returns the run's id
 * when this call entered it.
 */
export async function enterMissedRun(
  { store, clock, log }: ScheduleDeps,
  trigger: RunTrigger,
  graceSeconds: number,
): Promise<number | undefined> {
  const schedule = await findSchedule(store.db, publishSchedule)
  if (!schedule) return undefined
  const now = clock()
  const due = latestDue(schedule, new Date(now.getTime() - graceSeconds * 1000))
  if (!due || due <= schedule.adoptedAt) return undefined
  const last = await findLastDue(store.db, publishSchedule)
  if (last && last >= due) return undefined
  const run = await createRun(store.db, { trigger, at: now, due: { schedule: publishSchedule, at: due } })
  if (!run.created) return undefined
  log.warn({ runId: run.id, dueAt: due, trigger }, 'a scheduled publication had been missed, it runs now')
  return run.id
}

/**
 * Enters what a starting process finds due: the latest instant that has no run, however long ago, and every other one
 * that is merely late. To be asked before a schedule is replaced, and again once the scheduler is in the queue: putting
 * it there throws away a tick that is due at that moment.
 */
export async function enterOverdueRuns(deps: ScheduleDeps): Promise<void> {
  await enterMissedRun(deps, 'schedule', 0)
  const schedule = await findSchedule(deps.store.db, publishSchedule)
  if (schedule) await enterLateRuns(deps, schedule, deps.clock())
}

/**
 * Enters the run of a scheduler's job, and the instants before it that are late. Nothing is entered for an instant that
 * the schedule in force does not have (it is the last job of a schedule that has been replaced), or for one of long ago
 * that a later run has made up for (its worker died, and nobody was there to find the job).
 */
export async function enterDueRun(deps: ScheduleDeps, dueAt: Date): Promise<string> {
  const { store, clock, log } = deps
  const schedule = await findSchedule(store.db, publishSchedule)
  if (!schedule || !isDue(schedule, dueAt)) {
    log.info({ dueAt }, 'a job of a replaced schedule was ignored')
    return 'not due'
  }
  const now = clock()
  if (now.getTime() - dueAt.getTime() > lateMs) {
    const last = await findLastDue(store.db, publishSchedule)
    if (last && last > dueAt) return 'made up for'
  }
  await enterLateRuns(deps, schedule, dueAt)
  const due = { schedule: publishSchedule, at: dueAt }
  const run = await createRun(store.db, { trigger: 'schedule', at: now, due })
  return run.created ? `run ${run.id}` : `run ${run.id} was there already`
}

/** Enters the instants of the last minute before `until` that have no run. */
async function enterLateRuns(
  { store, clock, log }: ScheduleDeps,
  schedule: AdoptedSchedule,
  until: Date,
): Promise<void> {
  const from = new Date(Math.max(schedule.adoptedAt.getTime(), until.getTime() - lateMs))
  let due = nextDue(schedule, from)
  if (due >= until) return
  const entered = new Set((await listDues(store.db, publishSchedule, from, until)).map((at) => at.getTime()))
  for (; due < until; due = nextDue(schedule, due)) {
    if (entered.has(due.getTime())) continue
    const run = await createRun(store.db, {
      trigger: 'schedule',
      at: clock(),
      due: { schedule: publishSchedule, at: due },
    })
    if (run.created) log.warn({ runId: run.id, dueAt: due }, 'a scheduled publication is late, it runs now')
  }
}

/** Makes the queue's schedulers what the configuration says: ours in place, no others. */
export async function installScheduler(queue: JobQueue, schedule: Schedule, log: Log): Promise<void> {
  await queue.upsertScheduler(publishSchedule, schedule)
  await queue.upsertScheduler(maintenanceName, maintenanceSchedule)
  const removed = await queue.removeSchedulersExcept([publishSchedule, maintenanceName])
  if (removed.length > 0) log.info({ removed }, 'schedulers of another version were removed')
}

/**
 * Installs the schedulers again when one is gone from the queue, or has stood still since an instant at least
 * `graceSeconds` ago. Returns whether that was necessary.
 */
export async function restoreScheduler(deps: ScheduleDeps, queue: JobQueue, graceSeconds: number): Promise<boolean> {
  const schedule = await findSchedule(deps.store.db, publishSchedule)
  if (!schedule) return false
  const limit = deps.clock().getTime() - graceSeconds * 1000
  for (const [name, event] of [
    [publishSchedule, 'the publication scheduler was restored in the queue'],
    [maintenanceName, 'the maintenance scheduler was restored in the queue'],
  ] as const) {
    const found = await queue.findScheduler(name)
    if (found && (found.next?.getTime() ?? Number.POSITIVE_INFINITY) > limit) continue
    await installScheduler(queue, schedule, deps.log)
    deps.log.warn({ was: found ? 'standing still' : 'gone' }, event)
    return true
  }
  return false
}
