import { toServiceError } from '../kernel/errors.js'
import { failAttempt, leaseOn, type RunDeps, takeOverDead } from './attempt.js'
import type { Lease, RunKind } from './run.js'
import { type Claim, claimRun, requeueRun, reserveQueued } from './sql/leases.js'
import { type WaitOptions, waitForEnd } from './wait.js'

type Claimed<Kind extends RunKind> = Extract<Claim<Kind>, { kind: 'claimed' }>['run']

/** How one kind of run is worked on without a queue. */
export type InlineWork<Kind extends RunKind, Summary> = {
  readonly kind: Kind
  readonly runId: number
  readonly look: () => Promise<Summary>
  readonly attempt: (lease: Lease, run: Claimed<Kind>) => Promise<unknown>
}

/**
 * A whole run in this process, without a queue but under the same ledger: waits for a run of the kind that is worked on,
 * and takes over from a dead worker. Returns the run as it ended, also when it failed. When `signal` is aborted the run
 * is queued again and `aborted` is thrown.
 */
export async function runInline<Kind extends RunKind, Summary extends { readonly id: number; readonly state: string }>(
  deps: RunDeps,
  { kind, runId, look, attempt }: InlineWork<Kind, Summary>,
  { signal, ...options }: WaitOptions<Summary>,
): Promise<Summary> {
  const { store, clock } = deps
  const tryOnce = async () => {
    await takeOverDead(deps, kind)
    await reserveQueued(store.db, kind, runId, deps.lockSeconds)
    const wanted = leaseOn(deps, { kind, runId, attempt: 0 }, 'inline')
    const claim = await claimRun(store.db, { ...wanted, kind }, clock())
    if (claim.kind !== 'claimed') return
    const lease = { ...wanted, attempt: claim.attempt }
    try {
      await attempt(lease, claim.run)
    } catch (failure) {
      if (signal.aborted) {
        await requeueRun(store.db, lease)
        throw failure
      }
      await failAttempt(deps, lease, toServiceError(failure))
    }
  }
  try {
    return await waitForEnd(
      async () => {
        await tryOnce()
        return await look()
      },
      { signal, ...options },
    )
  } catch (error) {
    if (signal.aborted) await reserveQueued(store.db, kind, runId, undefined)
    throw error
  }
}
