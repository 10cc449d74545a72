import { type ScheduledTask, schedule } from 'node-cron'
import { toServiceError } from '../src/kernel/errors.js'
import type { Log } from '../src/platform/observability/log.js'
import { takeOverDead } from '../src/work/attempt.js'
import { enterMissed, enterWithoutTick, type ScheduledRuns } from '../src/work/due.js'
import type { RunKind } from '../src/work/run.js'
import { dispatchNext } from './dispatch.js'
import { restoreSchedulers } from './schedulers.js'
import type { Work, WorkDeps } from './work-row.js'

const lateEveryMs = 10_000

/** When the watchdog looks, and how long the queue has to start a due run before it is taken for lost. */
type WatchdogSettings = { readonly pattern: string; readonly graceSeconds: number }

export type Rounds = {
  readonly rows: readonly Work[]
  readonly scheduled: readonly ScheduledRuns[]
  /** Every minute, and five minutes of grace, when absent. */
  readonly watchdog?: WatchdogSettings
  /** What the first round waits for, so that it finds a run that is entered now. */
  readonly entered?: Promise<unknown> | undefined
  /** Removes old files that this process can see; called every hour. */
  readonly pruneFiles?: () => Promise<void>
}

/**
 * What a worker repeats outside the queue. Each second: runs of dead workers are queued again, and the queue is given
 * what is due to begin. Every ten seconds: instants whose tick has not come are entered. Each minute, the watchdog: a due
 * instant of long ago that the ledger does not show is entered, and a scheduler that is gone from the queue is put back.
 * Resolves after the first round.
 */
export async function startRounds(
  deps: WorkDeps,
  { rows, scheduled, watchdog = { pattern: '* * * * *', graceSeconds: 300 }, entered, pruneFiles }: Rounds,
): Promise<{ stop(): void }> {
  const { log } = deps
  const kinds = [...new Set(scheduled.map(({ kind }) => kind))]
  const recoveries = kinds.map((kind) => guarded(log, `recovery of ${kind} runs`, () => recoverRuns(deps, kind)))
  const recoverAll = async () => void (await Promise.all(recoveries.map((round) => round())))
  const watch = guarded(log, 'watchdog', async () => {
    for (const runs of scheduled) await enterMissed(runs, 'watchdog', watchdog.graceSeconds)
    await restoreSchedulers(deps, rows, watchdog.graceSeconds)
  })
  const enterLate = guarded(log, 'late instants', async () => {
    for (const runs of scheduled) await enterWithoutTick(runs)
  })
  await entered
  await recoverAll()
  const timers = [
    setInterval(recoverAll, Math.min(1000, (deps.lockSeconds * 1000) / 3)),
    setInterval(enterLate, lateEveryMs),
  ]
  const tasks = [repeat(watchdog.pattern, watch)]
  if (pruneFiles) {
    // At a minute that depends on the process id, so that processes do not prune at once.
    tasks.push(repeat(`${process.pid % 60} * * * *`, guarded(log, 'pruning of files', pruneFiles)))
  }
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer)
      for (const task of tasks) void task.destroy()
    },
  }
}

/** Queues the run of a dead worker again and gives the queue whatever is due to begin. */
async function recoverRuns(deps: WorkDeps, kind: RunKind): Promise<void> {
  await takeOverDead(deps, kind)
  await dispatchNext(deps, kind)
}

/** A round that logs its failure once, until it succeeds again, and is skipped while it is still going on. */
export function guarded(log: Log, what: string, work: () => Promise<void>): () => Promise<void> {
  let failing = false
  let running = false
  return async () => {
    if (running) return
    running = true
    try {
      await work()
      failing = false
    } catch (error) {
      if (!failing) log.warn({ what, error: toServiceError(error).message }, 'a round failed, it will be repeated')
      failing = true
    } finally {
      running = false
    }
  }
}

/** Repeats a round by a cron pattern. node-cron's own messages are dropped, since the next round catches up. */
function repeat(pattern: string, round: () => Promise<void>): ScheduledTask {
  const nothing = () => undefined
  const logger = { info: nothing, warn: nothing, error: nothing, debug: nothing }
  return schedule(pattern, round, { noOverlap: true, suppressMissedWarning: true, unref: true, logger })
}
