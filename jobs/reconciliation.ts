import { nightlySpan, reconcileDays } from '../src/money/reconcile.js'
import type { Work } from './work-row.js'

/**
 * Compares the last days of the payment processor with the books, every night. The comparison of a day replaces the one
 * before, so that ticks that come twice or not at all do no harm.
 */
export const reconciliation: Work = {
  name: 'reconciliation',
  fields: [],
  queues: { settlement: 4 },
  schedules: () => ({ reconciliation: { expression: '41 4 * * *', timezone: 'UTC' } }),
  open: ({ payments, log }) =>
    payments && {
      tick: async ({ signal }) => {
        const { differences } = await reconcileDays(payments, nightlySpan(payments), signal)
        const open = differences.filter(({ acceptedAt }) => acceptedAt === undefined).length
        if (open > 0) log.error({ differences: open }, 'the payment processor and the books differ')
        return `${open} differences`
      },
    },
}
