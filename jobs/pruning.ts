import { pruneDatabase } from '../src/release/sql/pruning.js'
import type { Work } from './work-row.js'

/** Prunes rows that nothing needs any more. Pruning twice, or an hour later, does no harm, so it has no runs. */
export const pruning: Work<'publish' | 'donors'> = {
  name: 'pruning',
  fields: ['publish', 'donors'],
  queues: { publish: 1 },
  schedules: () => ({ pruning: { expression: '23 * * * *', timezone: 'UTC' } }),
  open: ({ store, clock, log, config }) => ({
    tick: async () => {
      const { keepReleases } = config.publish
      const { retentionDays } = config.donors
      const pruned = await pruneDatabase(store.db, clock(), { keepReleases, donorRetentionDays: retentionDays })
      const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
      if (total > 0) log.info(pruned, 'old rows were pruned')
      return `${total} rows pruned`
    },
  }),
}
