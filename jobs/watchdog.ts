import { type ScheduledTask, schedule } from 'node-cron'
import { toServiceError } from '../src/domain/errors.js'
import type { Log } from '../src/observability/log.js'
import { requeueDeadRun } from '../src/store/runs/run-leases.js'
import { enterMissedRun, restoreScheduler } from './schedules.js'
import { dispatchNext, type QueuedDeps } from './settle.js'

/** When the watchdog looks, and how long the queue has to start a due run before it is taken for lost. */
export type WatchdogSettings = { readonly pattern: string; readonly graceSeconds: number }

export const defaultWatchdog: WatchdogSettings = { pattern: '* * * * *', graceSeconds: 300 }

/**
 * Watches the queue from outside: a due instant that the ledger does not show is entered and given to the queue once,
 * and a scheduler that has vanished is restored. Returns the task that is to be stopped in the end.
 */
export function startWatchdog(deps: QueuedDeps, { pattern, graceSeconds }: WatchdogSettings): ScheduledTask {
  const watch = guarded(deps.log, 'watchdog', async () => {
    await enterMissedRun(deps, 'watchdog', graceSeconds)
    await reconcile(deps)
    await restoreScheduler(deps, deps.queue, graceSeconds)
  })
  return schedule(pattern, watch, { noOverlap: true, suppressMissedWarning: true, unref: true, logger: silentLogger })
}

/** Queues the run of a dead worker again and gives the queue whatever is due to begin. */
export async function reconcile(deps: QueuedDeps): Promise<void> {
  const dead = await requeueDeadRun(deps.store.db)
  if (dead) {
    const { id, attempt, owner } = dead
    deps.log.warn({ runId: id, attempt, owner }, 'the worker of this run is gone, the run is taken up again')
  }
  await dispatchNext(deps)
}

/** A round of housekeeping that may fail: what it could not do, the next round does. */
export function guarded(log: Log, what: string, work: () => Promise<void>): () => Promise<void> {
  let failing = false
  return async () => {
    try {
      await work()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ what, error: toServiceError(error).message }, 'housekeeping failed, it will be repeated')
      failing = true
    }
  }
}

/** What node-cron has to say (a round that was late or still going on) is of no interest: every round does it all. */
export const silentLogger = { info: nothing, warn: nothing, error: nothing, debug: nothing }

function nothing(): void {}
