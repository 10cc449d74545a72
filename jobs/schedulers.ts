import { findSchedule } from '../src/work/sql/schedules.js'
import type { Work, WorkDeps } from './work-row.js'
import { schedulerQueue } from './work-row.js'

/** Makes the queue's schedulers those of the table, as configured: ours in place, no others in the same queues. */
export async function installSchedulers({ queue, config, log }: WorkDeps, rows: readonly Work[]): Promise<void> {
  const install = async (place: string) => {
    const ours = rows.flatMap((row) => (schedulerQueue(row) === place ? Object.entries(row.schedules(config)) : []))
    for (const [name, schedule] of ours) await queue.upsertScheduler(place, name, schedule)
    const names = ours.map(([name]) => name)
    const removed = await queue.removeSchedulersExcept(place, names)
    if (removed.length > 0) log.info({ removed }, 'schedulers of another version were removed')
  }
  await Promise.all([...new Set(rows.map(schedulerQueue))].map(install))
}

/**
 * Installs schedulers again that are gone from the queue, or have stood still since an instant at least `graceSeconds`
 * ago. The schedule in force comes from the ledger: a worker with a newer configuration may have put it there.
 */
export async function restoreSchedulers(
  { queue, config, store, clock, log }: WorkDeps,
  rows: readonly Work[],
  graceSeconds: number,
): Promise<void> {
  const limit = clock().getTime() - graceSeconds * 1000
  for (const row of rows) {
    const place = schedulerQueue(row)
    for (const [name, schedule] of Object.entries(row.schedules(config))) {
      const found = await queue.findScheduler(place, name)
      if (found && (found.next?.getTime() ?? Number.POSITIVE_INFINITY) > limit) continue
      await queue.upsertScheduler(place, name, (await findSchedule(store.db, name)) ?? schedule)
      const was = found ? 'standing still' : 'gone'
      log.warn({ scheduler: name, was }, `the ${row.name} scheduler was restored in the queue`)
    }
  }
}
