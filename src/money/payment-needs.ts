import type { Cause } from '../kernel/conditions.js'
import type { Db } from '../platform/database/connection.js'
import type { Gateway } from './gateways/gateway.js'
import { listChargeAttention } from './sql/charge-states.js'
import { countWebhookTroubles } from './sql/webhook-events.js'

const shown = 10

/** What needs a person at the payment processor: disputes, charges that differ from the books, webhooks given up. */
export async function paymentNeeds(db: Db): Promise<Omit<Cause, 'cause'>[]> {
  const charges = await listChargeAttention(db, shown + 1)
  const { failed } = await countWebhookTroubles(db)
  return [
    ...charges
      .slice(0, shown)
      .flatMap(({ donationId, disputed, difference }) =>
        [
          ...(disputed ? [`donation ${donationId} is disputed: answer in the console of the payment processor`] : []),
          ...(difference === undefined
            ? []
            : [`donation ${donationId} differs: ${difference}; then run giving payments follow ${donationId}`]),
        ].map((message) => ({ about: String(donationId), message })),
      ),
    ...(charges.length > shown
      ? [{ message: 'more donations differ from the payment processor or are disputed' }]
      : []),
    ...(failed > 0
      ? [{ message: `${failed} webhooks could not be handled: giving payments webhooks --state failed` }]
      : []),
  ]
}

/** Notes for operators about webhooks. */
export async function paymentWarnings(db: Db, gateway: Gateway): Promise<string[]> {
  const { unknown } = await countWebhookTroubles(db)
  // The sandbox of this service sends nothing.
  const lacksSecret = gateway.webhooks === undefined && gateway.name !== 'sandbox'
  return [
    ...(lacksSecret ? ['webhooks of the payment processor are not received: STRIPE_WEBHOOK_SECRET is not set'] : []),
    ...(unknown > 0 ? [`${unknown} webhooks were about charges that no donation here has`] : []),
  ]
}
