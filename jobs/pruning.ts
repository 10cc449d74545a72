import { refreshSearchDocuments } from '../src/catalogue/sql/ready-texts/project-search.js'
import { pruneDatabase } from '../src/release/sql/pruning.js'
import type { Work } from './work-row.js'

/** Prunes rows that nothing needs any more, and makes again what an earlier version made otherwise. Pruning twice, or an hour later, does no harm, so it has no runs. */
export const pruning: Work = {
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
      const refreshed = await refreshSearchDocuments(store.db)
      if (refreshed > 0) log.info({ refreshed }, 'documents of searches were made again')
      return `${total} rows pruned`
    },
  }),
}
