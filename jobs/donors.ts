import { rekeyDonors } from '../src/money/donors/rekey-donors.js'
import type { Work } from './work-row.js'

/**
 * Encrypts donors that were stored in clear before there was a key: when a worker starts and every night. Doing it twice does
 * no harm, so the ledger has no runs of it.
 */
export const donors: Work = {
  name: 'donors',
  fields: [],
  queues: { settlement: 2 },
  schedules: () => ({ donors: { expression: '7 4 * * *', timezone: 'UTC' } }),
  open: ({ payments, queue, store, log }) =>
    payments && {
      begin: () => queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'donors' } }),
      tick: async ({ signal }) => {
        if (payments.donors.refusal !== undefined) return 'no key'
        const { encrypted } = await rekeyDonors(store, payments.donors, { onlyClear: true, signal })
        if (encrypted > 0) log.info({ encrypted }, 'donors that were in clear were encrypted')
        return `${encrypted} encrypted`
      },
    },
}
