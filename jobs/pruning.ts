import { pruneDatabase } from '../src/store/pruning.js'
import type { Work } from './work-row.js'

/** Prunes rows that nothing needs any more. Pruning twice, or an hour later, does no harm, so it has no runs. */
export const pruning: Work<'publish'> = {
  name: 'pruning',
  fields: ['publish'],
  queues: { publish: 1 },
  schedules: () => ({ pruning: { expression: '23 * * * *', timezone: 'UTC' } }),
  open: ({ store, clock, log, config }) => ({
    tick: async () => {
      const pruned = await pruneDatabase(store.db, clock(), config.publish.keepReleases)
      const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
      if (total > 0) log.info(pruned, 'old rows were pruned')
      return `${total} rows pruned`
    },
  }),
}
