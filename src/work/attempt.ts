import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../kernel/dates.js'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import type { Store } from '../platform/database/store.js'
import type { Log } from '../platform/observability/log.js'
import type { Attempt, Lease, RunKind } from './run.js'
import { failRun, requeueDeadRun, requeueRun } from './sql/leases.js'
import { type RunLine, recordRunLine } from './sql/run-lines.js'

/** What the work on every kind of run needs, with or without a queue. */
export type RunDeps = {
  readonly store: Store
  readonly log: Log
  readonly clock: Clock
  /** Names this process in the ledger; see `createOwner`. */
  readonly owner: string
  /** A worker that renews nothing for so long counts as dead. */
  readonly lockSeconds: number
}

/** One try of a job that works on a run. */
export type Try = {
  /** Aborted when the process shuts down and the job's time is up. */
  readonly signal: AbortSignal
  /** Wait before the next try, in milliseconds. */
  readonly nextTryMs: number
  /** Whether this failure is the job's last: no tries left, or an error that trying again cannot cure. */
  isLast(error: unknown): boolean
}

/** A unique name of this process: host, process id and random characters. */
export function createOwner(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** A lease on one attempt, as long as a lock; `part` tells apart the jobs of one process. */
export function leaseOn(deps: RunDeps, { kind, runId, attempt }: Attempt, part: string): Lease {
  return { kind, runId, attempt, owner: `${deps.owner} ${part}`, seconds: deps.lockSeconds }
}

type Told = {
  readonly runId: number
  readonly kind: RunKind
  readonly level: RunLine['level']
  readonly cause?: unknown
}

/**
 * Logs what happened to a run. Of a publication it is kept for the run's page too; that it cannot be kept is no failure of
 * the run.
 */
export async function tellOfRun(
  { store, log, clock }: Pick<RunDeps, 'store' | 'log' | 'clock'>,
  { runId, kind, level, cause }: Told,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  log[level]({ runId, ...details, ...(cause !== undefined && { err: cause }) }, message)
  if (kind !== 'publication') return
  try {
    await recordRunLine(store.db, runId, { at: clock(), level, message, details })
  } catch (error) {
    log.debug({ runId, err: error }, 'a line of this run is in the log alone')
  }
}

/** Does `work` while renewing the lease; undefined: another worker took over the attempt, and the result does not count. */
export async function underLease<T extends NonNullable<unknown>>(
  { lease, renew, signal }: LeasedOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const lost = new AbortController()
  const limitMs = lease.seconds * 1000
  let superseded = false
  let renewing = false
  const everyMs = Math.min(1000, limitMs / 3)
  // Time in which this process ran. While it is stopped it cannot renew: on its return the ledger says whether the lease is still its own.
  let awakeMs = 0
  let seenAt = performance.now()
  const beat = async () => {
    if (lost.signal.aborted) return
    const now = performance.now()
    awakeMs += Math.min(now - seenAt, 2 * everyMs)
    seenAt = now
    if (awakeMs > limitMs) {
      const message = `the lease of ${lease.seconds} s could not be renewed in time`
      lost.abort(new ServiceError('database-unavailable', message))
      return
    }
    if (renewing) return
    renewing = true
    const begunAt = awakeMs
    try {
      if (await renew()) awakeMs -= begunAt
      else {
        superseded = true
        lost.abort(new ServiceError('run-superseded', 'another worker has taken this run over'))
      }
    } catch {
      // The ledger is out of reach for the moment; the lease's length decides when that is too long.
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void beat(), everyMs)
  try {
    const value = await work(AbortSignal.any([signal, lost.signal]))
    return superseded ? undefined : value
  } catch (error) {
    if (superseded) return undefined
    if (signal.aborted) throw new ServiceError('aborted', 'the work was interrupted by a shutdown', { cause: error })
    throw lost.signal.aborted ? lost.signal.reason : error
  } finally {
    clearInterval(timer)
  }
}

type LeasedOptions = {
  readonly lease: Pick<Lease, 'seconds'>
  /** Extends the lease; false when it is lost. */
  readonly renew: () => Promise<boolean>
  readonly signal: AbortSignal
}

/**
 * Queues or fails a run after a failed try. Interrupted by a shutdown: it is queued again for any worker. The
 * job's last try: it fails. Otherwise it is kept for the queue's next try. Throws the error again unless the run was
 * handed back.
 */
export async function endFailedTry(
  deps: RunDeps,
  { signal, nextTryMs, isLast }: Try,
  lease: Lease,
  failure: unknown,
): Promise<'handed back'> {
  const { store } = deps
  const { kind, runId, attempt } = lease
  const error = toServiceError(failure)
  if (signal.aborted) {
    if (await requeueRun(store.db, lease)) {
      await tellOfRun(deps, { runId, kind, level: 'info' }, `${kind} run handed back: this worker is stopping`, {
        attempt,
      })
    }
    return 'handed back'
  }
  if (isLast(error)) {
    await failAttempt(deps, lease, error)
    throw failure
  }
  const failed = { attempt, code: error.code, error: error.message }
  await tellOfRun(deps, { runId, kind, level: 'warn' }, `${kind} job failed, it will be tried again`, failed)
  await requeueRun(store.db, lease, nextTryMs / 1000 + lease.seconds)
  throw failure
}

// A run that loses so many workers in a row without progress probably kills them, by its data or its memory.
const mostLosses = 5

/** Queues the run of a kind again whose worker has died, if there is one; fails it when it was lost too often. */
export async function takeOverDead(deps: RunDeps, kind: RunKind): Promise<void> {
  const dead = await requeueDeadRun(deps.store.db, kind)
  if (!dead) return
  const { id: runId, attempt, owner, losses } = dead
  if (losses < mostLosses) {
    const gone = `the worker of this ${kind} run is gone, the run is taken up again`
    await tellOfRun(deps, { runId, kind, level: 'warn' }, gone, { attempt, owner })
    return
  }
  const message = `${losses} workers in a row were lost while they worked on this run, without progress`
  await failAttempt(
    deps,
    { kind, runId, attempt },
    new ServiceError('worker-lost', `${message}; the last one was ${owner}`),
  )
}

/** Ends the attempt's run as failed, unless that attempt is already over. */
export async function failAttempt(deps: RunDeps, run: Attempt, failure: unknown): Promise<void> {
  const error = toServiceError(failure)
  if (!(await failRun(deps.store.db, run, error, deps.clock()))) return
  const { kind, runId, attempt } = run
  const failed = { attempt, code: error.code, error: error.message }
  await tellOfRun(deps, { runId, kind, level: 'error', cause: error.cause }, `${kind} run failed`, failed)
}
