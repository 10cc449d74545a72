import { ServiceError, toServiceError } from '../src/kernel/errors.js'
import { endFailedTry, failAttempt, leaseOn } from '../src/work/attempt.js'
import type { Attempt, IdRange, Lease, RunKind } from '../src/work/run.js'
import { type Claim, claimRun, reserveQueued } from '../src/work/sql/leases.js'
import { tryDispatchNext } from './dispatch.js'
import type { JobCall } from './queue-worker.js'
import type { WorkDeps } from './work-row.js'

type Claimed<Kind extends RunKind> = Extract<Claim<Kind>, { kind: 'claimed' }>['run']

/**
 * The job that begins an attempt of a queued run and does `step` with it. While another run of the kind is worked on the
 * run stays queued; when that one has ended it is dispatched.
 */
export async function startAttempt<Kind extends RunKind>(
  deps: WorkDeps,
  call: JobCall,
  kind: Kind,
  step: (lease: Lease, run: Claimed<Kind>) => Promise<string>,
): Promise<string> {
  const { store, clock } = deps
  if (!(await deps.clockAgrees())) throw new ServiceError('clock-wrong', 'the clock of this process is wrong')
  const queued = leaseOn(deps, { kind, runId: numberOf(call.data, 'runId'), attempt: 0 }, call.id)
  const claim = await claimRun(store.db, { ...queued, kind }, clock())
  if (claim.kind === 'busy') await reserveQueued(store.db, kind, queued.runId, undefined)
  if (claim.kind !== 'claimed') return claim.kind
  const lease = { ...queued, attempt: claim.attempt }
  return await jobOfRun(deps, call, lease, 'queued', () => step(lease, claim.run))
}

/** A job of an attempt that has begun. After a failure the run is queued again or fails; then the next run may begin. */
export async function jobOfRun(
  deps: WorkDeps,
  call: JobCall,
  lease: Lease,
  betweenTries: 'queued' | 'running',
  step: () => Promise<string>,
): Promise<string> {
  try {
    return await step()
  } catch (error) {
    return await endFailedTry(deps, call, lease, betweenTries, error)
  } finally {
    await tryDispatchNext(deps, lease.kind)
  }
}

/**
 * Fails the run of a job that the queue gave up without asking its handler (its child failed, or it stalled too often).
 * For all other jobs the ledger has the failure already.
 */
export async function failRunOf(deps: WorkDeps, attempt: Attempt, error: Error): Promise<void> {
  try {
    await failAttempt(deps, attempt, error)
  } catch (failure) {
    deps.log.warn({ ...attempt, error: toServiceError(failure).message }, 'a failed run could not be marked yet')
  }
  await tryDispatchNext(deps, attempt.kind)
}

/** The attempt that a job belongs to. */
export function attemptOf(kind: RunKind, data: unknown): Attempt {
  return { kind, runId: numberOf(data, 'runId'), attempt: numberOf(data, 'attempt') }
}

/** The project ids that a render job covers. */
export function rangeOf(data: unknown): IdRange {
  return { fromId: numberOf(data, 'fromId'), toId: numberOf(data, 'toId') }
}

function numberOf(data: unknown, name: string): number {
  const value = typeof data === 'object' && data !== null ? new Map(Object.entries(data)).get(name) : undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new ServiceError('request-invalid', `a job of a run must carry the number ${name}, got ${JSON.stringify(data)}`)
}
