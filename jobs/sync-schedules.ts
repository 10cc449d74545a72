import type { UpstreamConfig } from '../src/config/config.js'
import type { Clock } from '../src/domain/dates.js'
import { isDue, latestDue, nextDue, type Schedule } from '../src/domain/schedule.js'
import type { Log } from '../src/observability/log.js'
import { adoptSchedule, findSchedule } from '../src/store/runs/schedules.js'
import { createSyncRun, findLastSyncDue, type SyncKind, type SyncTrigger } from '../src/store/runs/sync-runs.js'
import type { Store } from '../src/store/store.js'
import type { JobQueue } from './queue.js'

/** The schedules of syncs by their names in the ledger and in the queue, and what they enter. */
export const syncSchedules: Readonly<Record<string, SyncKind>> = { sync: 'incremental', 'full-sync': 'full' }

type ScheduleDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly upstream: UpstreamConfig
}

/** The configured schedules by name; both are read in UTC. */
export function configuredSchedules(upstream: UpstreamConfig): Readonly<Record<string, Schedule>> {
  return {
    sync: { expression: upstream.schedule, timezone: 'UTC' },
    'full-sync': { expression: upstream.fullSchedule, timezone: 'UTC' },
  }
}

/** Puts the configured schedules in force; the latest instant that was missed under the old ones is made up for. */
export async function adoptSyncSchedules(deps: ScheduleDeps): Promise<void> {
  for (const [name, schedule] of Object.entries(configuredSchedules(deps.upstream))) {
    nextDue(schedule, deps.clock())
    await enterMissedSync(deps, name, 'schedule', 0)
    await adoptSchedule(deps.store.db, name, schedule, deps.clock())
  }
}

/** Enters a sync for the schedule's latest due instant that has none, if it is at least `graceSeconds` ago. */
export async function enterMissedSync(
  deps: ScheduleDeps,
  name: string,
  trigger: SyncTrigger,
  graceSeconds: number,
): Promise<void> {
  const { store, clock, log } = deps
  const schedule = await findSchedule(store.db, name)
  if (!schedule) return
  const due = latestDue(schedule, new Date(clock().getTime() - graceSeconds * 1000))
  if (!due || due <= schedule.adoptedAt) return
  const last = await findLastSyncDue(store.db, name)
  if (last && last >= due) return
  const run = await enter(deps, name, due, trigger)
  if (run.created)
    log.warn({ runId: run.id, schedule: name, dueAt: due }, 'a scheduled sync had been missed, it runs now')
}

/** Enters the sync of a scheduler's job; nothing for an instant that the schedule in force does not have. */
export async function enterDueSync(deps: ScheduleDeps, name: string, dueAt: Date): Promise<string> {
  const schedule = await findSchedule(deps.store.db, name)
  if (!schedule || !isDue(schedule, dueAt)) return 'not due'
  const run = await enter(deps, name, dueAt, 'schedule')
  return run.created ? `sync ${run.id}` : `sync ${run.id} was there already`
}

/**
 * A mirror that never began begins at once, not at its first due instant. One run, however many processes start
 * together: it has an instant that no schedule has.
 */
export async function enterFirstSync({ store, clock, upstream }: ScheduleDeps): Promise<void> {
  const due = { schedule: `first sync of ${upstream.url}`, at: new Date(0) }
  await createSyncRun(store.db, { kind: 'full', trigger: 'start', upstream: upstream.url, at: clock(), due })
}

async function enter(deps: ScheduleDeps, name: string, at: Date, trigger: SyncTrigger) {
  const kind = syncSchedules[name] ?? 'incremental'
  const due = { schedule: name, at }
  return await createSyncRun(deps.store.db, { kind, trigger, upstream: deps.upstream.url, at: deps.clock(), due })
}

/** Makes the queue's sync schedulers what is in force; without an upstream there are none. */
export async function installSyncSchedulers(queue: JobQueue, upstream: UpstreamConfig | undefined): Promise<void> {
  const schedules = upstream ? configuredSchedules(upstream) : {}
  for (const [name, schedule] of Object.entries(schedules)) await queue.upsertScheduler(name, schedule, 'sync')
  await queue.removeSchedulersExcept(Object.keys(schedules), 'sync')
}

/** Installs schedulers again that are gone from the queue, or have stood still for `graceSeconds`. */
export async function restoreSyncSchedulers(deps: ScheduleDeps, queue: JobQueue, graceSeconds: number): Promise<void> {
  const limit = deps.clock().getTime() - graceSeconds * 1000
  for (const [name, schedule] of Object.entries(configuredSchedules(deps.upstream))) {
    const found = await queue.findScheduler(name, 'sync')
    if (found && (found.next?.getTime() ?? Number.POSITIVE_INFINITY) > limit) continue
    await queue.upsertScheduler(name, schedule, 'sync')
    deps.log.warn({ schedule: name }, 'a sync scheduler was restored in the queue')
  }
}
