import {
  recordShardCounts,
  recordShardProgress,
  renewRendering,
  type ShardRange,
} from '../src/store/runs/run-leases.js'
import type { Attempt } from './queue.js'
import type { JobCall } from './queue-worker.js'
import { leaseOn } from './run-deps.js'
import { type QueuedDeps, settleFailure } from './settle.js'
import { underLease } from './under-lease.js'

/** Renders one shard of an attempt. A shard that is delivered again finds only what is still stale. */
export async function renderShard(deps: QueuedDeps, call: JobCall, shard: Attempt & ShardRange): Promise<string> {
  const { store } = deps
  const lease = leaseOn(deps, shard, 'render')
  const run = await renewRendering(store.db, lease)
  if (!run) return 'superseded'
  let percent = 0
  try {
    const renew = async () => {
      if (percent > 0) await recordShardProgress(store.db, lease, shard, percent)
      return (await renewRendering(store.db, lease)) !== undefined
    }
    const rendered = await underLease({ renew, seconds: lease.seconds, signal: call.signal }, async (signal) => {
      const range = { fromId: shard.fromId, toId: shard.toId }
      return await deps.publication.renderShard(run, range, {
        signal,
        onProgress: (_stage, done, total) => {
          percent = total > 0 ? (100 * done) / total : 0
        },
      })
    })
    if (rendered.kind === 'superseded') return 'superseded'
    await recordShardCounts(store.db, lease, shard, rendered.value)
    return `${rendered.value.rendered} rendered`
  } catch (error) {
    return await settleFailure(deps, call, lease, error)
  }
}
