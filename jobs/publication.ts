import { helpRendering, publicationSchedule, publishUnderLease, scheduledPublications } from '../src/release/run.js'
import { requeueRun } from '../src/work/sql/leases.js'
import { attemptOf, startAttempt } from './run-jobs.js'
import type { Work } from './work-row.js'

/** Publications: one job does a whole run, whose shards the other processes help to render. */
export const publication: Work = {
  name: 'publication',
  fields: ['publish'],
  // Ticks must not wait behind a publication that takes minutes; the ledger lets one be worked on at a time.
  queues: { publish: 4 },
  schedules: (config) => ({ publish: publicationSchedule(config) }),
  open: (deps) => ({
    scheduled: [scheduledPublications(deps)],
    jobs: {
      start: (call) =>
        startAttempt(deps, call, 'publication', (lease, run) => publishUnderLease(deps, lease, run, call)),
      // The end of what a worker of an earlier version has begun; the run begins again, with what is rendered.
      publish: async (call) => {
        const handedBack = await requeueRun(deps.store.db, attemptOf('publication', call.data))
        return handedBack ? 'handed back' : 'superseded'
      },
    },
    help: (signal) => helpRendering(deps, signal),
  }),
}
