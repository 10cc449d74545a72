import { handleDueWebhooks } from '../src/money/handle-webhooks.js'
import type { Work } from './work-row.js'

/**
 * Handles what payment processors have sent, every minute. Following a charge twice does no harm, so it has no runs. It shares
 * the queue of the settlement, so that a worker needs no further connections.
 */
export const webhooks: Work = {
  name: 'webhooks',
  fields: ['payments'],
  queues: { settlement: 4 },
  schedules: ({ payments }) =>
    payments.gateway === 'sandbox' ? {} : { webhooks: { expression: '* * * * *', timezone: 'UTC' } },
  open: ({ payments, log }) =>
    payments?.gateway.webhooks && {
      tick: async ({ signal }) => {
        const handled = await handleDueWebhooks(payments, signal)
        const { done, later, failed } = handled
        if (Object.values(handled).some((count) => count > 0)) log.info({ ...handled }, 'webhooks were handled')
        return `${done} done, ${later} later, ${failed} failed`
      },
    },
}
