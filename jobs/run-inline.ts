import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, toServiceError } from '../src/domain/errors.js'
import {
  beginPublishing,
  claimRun,
  failRun,
  type Lease,
  type LeasedRun,
  recordShardCounts,
  recordShards,
  renewRendering,
  requeueDeadRun,
  requeueRun,
  reserveQueued,
} from '../src/store/runs/run-leases.js'
import {
  createRun,
  getRun,
  isFinished,
  type RunProgress,
  type RunSummary,
  type RunTrigger,
} from '../src/store/runs/runs.js'
import { publishAs } from './publish.js'
import { leaseOn, type RunDeps } from './run-deps.js'
import { underLease } from './under-lease.js'

export type InlineOptions = {
  readonly trigger: RunTrigger
  readonly force: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (progress: RunProgress) => void
  /** A run that is already in the ledger; without it a new one is entered. */
  readonly runId?: number
}

/**
 * A whole run in this process, without a queue, but under the same ledger: it waits for a run that is going on, and
 * takes over from a dead worker. Returns the run as it ended, also when it failed. When `signal` is aborted the run is
 * queued again and `aborted` is thrown.
 */
export async function runInline(deps: RunDeps, options: InlineOptions): Promise<RunSummary> {
  const runId = options.runId ?? (await enterReserved(deps, options))
  for (;;) {
    const claimed = await claimWhenFree(deps, runId, options)
    if (claimed) await attemptInline(deps, claimed.lease, claimed.run, options)
    const run = await getRun(deps.store.db, runId)
    if (isFinished(run)) return run
  }
}

async function enterReserved(deps: RunDeps, { trigger, force }: InlineOptions): Promise<number> {
  const reserveSeconds = deps.lockSeconds
  return (await createRun(deps.store.db, { trigger, force, at: deps.clock(), reserveSeconds })).id
}

/** Claims the run once no other is going on, taking over from dead workers; undefined when it has ended meanwhile. */
async function claimWhenFree(deps: RunDeps, runId: number, { signal, onProgress }: InlineOptions) {
  const { db } = deps.store
  for (;;) {
    const { state, attempt, progress } = await getRun(db, runId)
    if (state !== 'queued' && state !== 'running') return undefined
    await requeueDeadRun(db)
    if (state === 'queued') {
      await reserveQueued(db, runId, deps.lockSeconds)
      const lease: Lease = leaseOn(deps, { runId, attempt }, 'inline')
      const claim = await claimRun(db, lease, deps.clock())
      if (claim.kind === 'claimed') return { lease: { ...lease, attempt: claim.attempt }, run: claim.run }
    }
    if (progress) onProgress?.(progress)
    try {
      await sleep(250, undefined, { signal })
    } catch (error) {
      await reserveQueued(db, runId, undefined)
      throw new ServiceError('aborted', 'interrupted while waiting for another publication run', { cause: error })
    }
  }
}

async function attemptInline(deps: RunDeps, lease: Lease, run: LeasedRun, options: InlineOptions): Promise<void> {
  const { store, log } = deps
  const { runId, attempt } = lease
  log.info({ runId, attempt, inline: true }, 'publication run started')
  try {
    await renderAll(deps, lease, run, options)
    const begun = await beginPublishing(store.db, lease)
    if (begun.kind === 'claimed') await publishAs(deps, lease, run, options.signal, options.onProgress)
  } catch (failure) {
    const error = toServiceError(failure)
    if (options.signal.aborted) {
      await requeueRun(store.db, lease)
      throw error
    }
    if (await failRun(store.db, lease, error, deps.clock())) {
      log.error({ runId, attempt, code: error.code, error: error.message, err: error.cause }, 'publication run failed')
    }
  }
}

async function renderAll(deps: RunDeps, lease: Lease, run: LeasedRun, options: InlineOptions): Promise<void> {
  const { db } = deps.store
  const renew = async () => (await renewRendering(db, lease)) !== undefined
  const { signal } = options
  await underLease({ renew, seconds: lease.seconds, signal }, async (leased) => {
    const shards = await deps.publication.planShards(run)
    await recordShards(db, lease, shards)
    for (const [index, shard] of shards.entries()) {
      leased.throwIfAborted()
      const counts = await deps.publication.renderShard(run, shard, {
        signal: leased,
        onProgress: (stage, done, total) => {
          const share = total > 0 ? Math.floor((100 * done) / total) : 0
          options.onProgress?.({ stage, done: index * 100 + share, total: shards.length * 100 })
        },
      })
      await recordShardCounts(db, lease, shard, counts)
    }
  })
}
