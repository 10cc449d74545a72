import { claimRun, recordShards, renewRendering, reserveQueued } from '../src/store/runs/run-leases.js'
import type { Attempt } from './queue.js'
import type { JobCall } from './queue-worker.js'
import { leaseOn } from './run-deps.js'
import { type QueuedDeps, settleFailure } from './settle.js'
import { underLease } from './under-lease.js'

/**
 * Begins an attempt of a queued run: plans its shards and adds the flow that renders and publishes them. While another
 * run is going on it stays queued; whoever ends that one dispatches it.
 */
export async function startRun(deps: QueuedDeps, call: JobCall, queued: Attempt): Promise<string> {
  const { store, log } = deps
  // Named after the job, not the process: a second delivery of this job may begin again, another job may not.
  const lease = { ...leaseOn(deps, queued, ''), owner: `start ${call.id}` }
  const claim = await claimRun(store.db, lease, deps.clock())
  if (claim.kind === 'busy') await reserveQueued(store.db, queued.runId, undefined)
  if (claim.kind !== 'claimed') return claim.kind
  const begun = { ...lease, attempt: claim.attempt }
  log.info({ runId: begun.runId, attempt: begun.attempt }, 'publication run started')
  try {
    const renew = async () => (await renewRendering(store.db, begun)) !== undefined
    const planned = await underLease({ renew, seconds: begun.seconds, signal: call.signal }, async (signal) => {
      const shards = await deps.publication.planShards(claim.run)
      signal.throwIfAborted()
      await recordShards(store.db, begun, shards)
      return shards
    })
    if (planned.kind === 'superseded') return 'superseded'
    await deps.queue.addFlow({ runId: begun.runId, attempt: begun.attempt }, planned.value)
    return `${planned.value.length} shards`
  } catch (error) {
    return await settleFailure(deps, call, begun, error)
  }
}
