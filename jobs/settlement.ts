import { chargeDuePlans } from '../src/money/plans/charge-plans.js'
import { followSettled } from '../src/money/rehearse.js'
import { settleOpen } from '../src/money/settlement.js'
import type { Work } from './work-row.js'

/**
 * Looks up open payments at the gateway and charges regular gifts that are due, every minute and when a worker starts. A
 * round that is missed or comes twice does no harm: each takes all that is open, and a donation belongs to one round at a
 * time.
 */
export const settlement: Work = {
  name: 'settlement',
  fields: [],
  queues: { settlement: 1 },
  schedules: () => ({ settlement: { expression: '* * * * *', timezone: 'UTC' } }),
  open: ({ payments, queue, log, clockAgrees }) =>
    payments && {
      begin: () => queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'settlement' } }),
      tick: async ({ signal }) => {
        await payments.rehearsal?.refresh()
        if (payments.rehearsal) await followSettled(payments)
        const round = await settleOpen(payments, signal)
        const { settled, declined, failed, refunded, waiting, open } = round
        if (Object.values(round).some((count) => count > 0)) log.info({ ...round }, 'open payments were looked up')
        // A clock that is ahead would charge before the instant.
        const plans = (await clockAgrees()) ? await chargeDuePlans(payments, signal) : 0
        if (plans > 0) log.info({ plans }, 'regular gifts were looked at')
        return `${plans} regular gifts, ${settled} settled, ${declined} declined, ${failed} failed, ${refunded} refunded, ${waiting} waiting, ${open} open`
      },
    },
}
