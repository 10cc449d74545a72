import { setTimeout as sleep } from 'node:timers/promises'
import {
  beginPublishing,
  finishRun,
  type Lease,
  type LeasedRun,
  renewPublishing,
} from '../src/store/runs/run-leases.js'
import type { RunProgress } from '../src/store/runs/runs.js'
import type { Attempt } from './queue.js'
import type { JobCall } from './queue-worker.js'
import { leaseOn, type RunDeps } from './run-deps.js'
import { type QueuedDeps, settleFailure, tryDispatchNext } from './settle.js'
import { underLease } from './under-lease.js'

/** Publishes the release of an attempt whose shards are all rendered, and ends its run in the ledger. */
export async function publish(deps: QueuedDeps, call: JobCall, attempt: Attempt): Promise<string> {
  const lease = leaseOn(deps, attempt, 'publish')
  try {
    const run = await becomePublisher(deps, lease, call.signal)
    const result = run ? await publishAs(deps, lease, run, call.signal) : 'superseded'
    await tryDispatchNext(deps)
    return result
  } catch (error) {
    return await settleFailure(deps, call, lease, error)
  }
}

/**
 * Waits until this owner is the attempt's only publisher: the queue may deliver a job again while the worker that had
 * it is merely slow. Undefined when the other one finished it, or when this process stops first.
 */
async function becomePublisher(deps: RunDeps, lease: Lease, signal: AbortSignal): Promise<LeasedRun | undefined> {
  for (;;) {
    const claim = await beginPublishing(deps.store.db, lease)
    if (claim.kind === 'claimed') return claim.run
    if (claim.kind === 'gone' || signal.aborted) return undefined
    await sleep(250)
  }
}

/** The publishing itself, under a lease that this owner holds. Returns how the run ended, or `superseded`. */
export async function publishAs(
  deps: RunDeps,
  lease: Lease,
  run: LeasedRun,
  signal: AbortSignal,
  onProgress?: (progress: RunProgress) => void,
): Promise<string> {
  const { store, log } = deps
  const stages = new StageTimes((deps.clock().getTime() - run.startedAt.getTime()) / 1000)
  let progress: RunProgress | undefined
  const renew = async () => (await renewPublishing(store.db, lease, progress)) !== undefined
  const published = await underLease({ renew, seconds: lease.seconds, signal }, async (leased) => {
    const outcome = await deps.publication.publishRelease(run, {
      signal: leased,
      onProgress: (stage, done, total) => {
        progress = { stage, done, total }
        stages.enter(stage)
        onProgress?.(progress)
      },
    })
    return outcome
  })
  if (published.kind === 'superseded') return 'superseded'
  const outcome = published.value
  const timings = stages.end()
  if (!(await finishRun(store.db, lease, outcome, deps.clock(), timings))) return 'superseded'
  for (const [stage, seconds] of Object.entries(timings)) deps.onStage?.(stage, seconds)
  const event = { runId: lease.runId, attempt: lease.attempt, ...outcome }
  if (outcome.state === 'held') log.warn(event, 'release held: it needs approval')
  else log.info(event, 'publication run finished')
  return outcome.state
}

/** Seconds by stage: `render` is everything since the run was begun, by whichever workers. */
class StageTimes {
  readonly #seconds: Record<string, number>
  #stage: string | undefined
  #since = 0

  constructor(renderSeconds: number) {
    this.#seconds = { render: Math.max(0, renderSeconds) }
  }

  enter(stage: string): void {
    if (stage === this.#stage) return
    this.end()
    this.#stage = stage
    this.#since = performance.now()
  }

  /** Ends the stage at hand and returns all, in milliseconds' precision. */
  end(): Readonly<Record<string, number>> {
    if (this.#stage !== undefined) this.#seconds[this.#stage] = (performance.now() - this.#since) / 1000
    this.#stage = undefined
    return Object.fromEntries(
      Object.entries(this.#seconds).map(([stage, seconds]) => [stage, Math.round(seconds * 1000) / 1000]),
    )
  }
}
