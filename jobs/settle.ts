import { toServiceError } from '../src/domain/errors.js'
import {
  failRun,
  type Lease,
  requeueRun,
  reserveQueued,
  suspendRun,
  takeNextQueued,
} from '../src/store/runs/run-leases.js'
import type { Attempt, JobQueue } from './queue.js'
import type { JobCall } from './queue-worker.js'
import type { RunDeps } from './run-deps.js'

/** The work on runs together with the queue that delivers it. */
export type QueuedDeps = RunDeps & { readonly queue: JobQueue }

/**
 * Gives the queue the oldest queued run when no run is going on. Called whenever a run is entered, handed back or
 * ended, and by every worker now and then, so that no call has to succeed.
 */
export async function dispatchNext({ store, queue, lockSeconds }: Pick<QueuedDeps, 'store' | 'queue' | 'lockSeconds'>) {
  const next = await takeNextQueued(store.db, lockSeconds)
  if (!next) return
  try {
    await queue.addStart({ runId: next.id, attempt: next.attempt })
  } catch (error) {
    await reserveQueued(store.db, next.id, undefined)
    throw error
  }
}

/** `dispatchNext` where a failure must not disturb what has already been achieved: the next round does it. */
export async function tryDispatchNext(deps: QueuedDeps): Promise<void> {
  try {
    await dispatchNext(deps)
  } catch (error) {
    deps.log.warn({ error: toServiceError(error).message }, 'the next run could not be given to the queue yet')
  }
}

/**
 * Decides what becomes of a run whose job failed. Interrupted by a shutdown: the run is queued again, for any worker
 * that is there. The job's last try: the run has failed, loudly. Otherwise its lease is stretched to the next try.
 * Throws the error again unless the run was handed back.
 */
export async function settleFailure(deps: QueuedDeps, call: JobCall, lease: Lease, failure: unknown): Promise<string> {
  const { store, log } = deps
  const error = toServiceError(failure)
  if (call.signal.aborted) {
    if (await requeueRun(store.db, lease)) {
      log.info({ runId: lease.runId, attempt: lease.attempt }, 'run handed back: this worker is stopping')
      await tryDispatchNext(deps)
    }
    return 'handed back'
  }
  if (call.isLast(error)) {
    await recordFailure(deps, lease, error)
    throw failure
  }
  log.warn(
    { runId: lease.runId, attempt: lease.attempt, job: call.name, code: error.code, error: error.message },
    'job failed, it will be tried again',
  )
  const seconds = call.nextTryMs / 1000 + lease.seconds
  await suspendRun(store.db, { ...lease, seconds }, call.name === 'start')
  throw failure
}

/** Marks the attempt's run failed, unless that attempt is already over, and lets the next run begin. */
export async function recordFailure(deps: QueuedDeps, run: Attempt, failure: unknown): Promise<void> {
  const error = toServiceError(failure)
  if (!(await failRun(deps.store.db, run, error, deps.clock()))) return
  deps.log.error(
    { runId: run.runId, attempt: run.attempt, code: error.code, error: error.message, err: error.cause },
    'publication run failed',
  )
  await tryDispatchNext(deps)
}
