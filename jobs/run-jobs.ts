import { ServiceError } from '../src/kernel/errors.js'
import { endFailedTry, leaseOn } from '../src/work/attempt.js'
import type { Attempt, Lease, RunKind } from '../src/work/run.js'
import { type Claim, claimRun, reserveQueued } from '../src/work/sql/leases.js'
import { tryDispatchNext } from './dispatch.js'
import type { JobCall } from './queue-worker.js'
import type { WorkDeps } from './work-row.js'

type Claimed<Kind extends RunKind> = Extract<Claim<Kind>, { kind: 'claimed' }>['run']

/**
 * The job that begins an attempt of a queued run and does all of it by `step`. While another run of the kind is worked on
 * the run stays queued; when that one has ended it is dispatched. A failure decides about the run, and afterwards the next
 * run may begin.
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
  try {
    return await step(lease, claim.run)
  } catch (error) {
    return await endFailedTry(deps, call, lease, error)
  } finally {
    await tryDispatchNext(deps, kind)
  }
}

/** The attempt that a job belongs to. */
export function attemptOf(kind: RunKind, data: unknown): Attempt {
  return { kind, runId: numberOf(data, 'runId'), attempt: numberOf(data, 'attempt') }
}

function numberOf(data: unknown, name: string): number {
  const value = typeof data === 'object' && data !== null ? new Map(Object.entries(data)).get(name) : undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new ServiceError('request-invalid', `a job of a run must carry the number ${name}, got ${JSON.stringify(data)}`)
}
