import {
  planShardsUnderLease,
  publicationSchedule,
  publishUnderLease,
  renderShardUnderLease,
  scheduledPublications,
} from '../src/release/run.js'
import { leaseOn } from '../src/work/attempt.js'
import type { NewJob } from './queue.js'
import { attemptOf, failRunOf, jobOfRun, rangeOf, startAttempt } from './run-jobs.js'
import type { Work } from './work-row.js'

/** Publications: one job plans the shards, one renders each shard, and the last one publishes the release. */
export const publication: Work<'publish'> = {
  name: 'publication',
  fields: ['publish'],
  // Ticks and starts take a moment; they must not wait behind a publication that takes minutes.
  queues: { publish: 4, render: 1 },
  schedules: (config) => ({ publish: publicationSchedule(config) }),
  open: (deps) => ({
    scheduled: [scheduledPublications(deps)],
    jobs: {
      start: (call) =>
        startAttempt(deps, call, 'publication', async (lease, run) => {
          const { runId, attempt } = lease
          const shards = await planShardsUnderLease(deps, lease, run, call.signal)
          if (!shards) return 'superseded'
          const data = { runId, attempt }
          const renders = shards.map((shard) => renderJob(data, shard))
          // The id is of the ledger, never of the day: a flow whose jobs have ended under their ids would do nothing.
          await deps.queue.addFlow(`run-${runId}-${attempt}`, { queue: 'publish', name: 'publish', data }, renders)
          return `${shards.length} shards`
        }),
      render: (call) => {
        const lease = leaseOn(deps, attemptOf('publication', call.data), 'render')
        return jobOfRun(deps, call, lease, 'running', async () => {
          const counts = await renderShardUnderLease(deps, lease, rangeOf(call.data), call)
          return counts ? `${counts.rendered} rendered` : 'superseded'
        })
      },
      publish: (call) => {
        const lease = leaseOn(deps, attemptOf('publication', call.data), 'publish')
        return jobOfRun(deps, call, lease, 'running', () => publishUnderLease(deps, lease, call))
      },
    },
    onGivenUp: async (name, data, error) => {
      if (name === 'render' || name === 'publish') await failRunOf(deps, attemptOf('publication', data), error)
    },
  }),
}

function renderJob(attempt: object, shard: { readonly fromId: number; readonly toId: number }) {
  return { queue: 'render', name: 'render', data: { ...attempt, ...shard }, id: `${shard.fromId}` } satisfies NewJob & {
    id: string
  }
}
