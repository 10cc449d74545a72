import Stripe from 'stripe'
import type { ChargeProgress, ChargeState, DisputeStatus, SettledMoney } from '../../money/gateways/gateway.js'
import { fromStripeAmount } from './stripe-amounts.js'
import { fromStripeMetadata } from './stripe-metadata.js'

/** A PaymentIntent with its refunds and disputes; undefined: there is none with this id. */
export async function readStripeCharge(stripe: Stripe, chargeId: string): Promise<ChargeState | undefined> {
  const intent = await findIntent(stripe, chargeId)
  if (!intent) return undefined
  const ofCharge = { payment_intent: chargeId, limit: 100 }
  const [refunds, disputes] = await Promise.all([stripe.refunds.list(ofCharge), stripe.disputes.list(ofCharge)])
  return {
    chargeId: intent.id,
    reference: intent.metadata.reference,
    notes: fromStripeMetadata(intent.metadata),
    at: new Date(intent.created * 1000),
    ...moneyOfIntent(intent),
    settled: settledIn(intent),
    progress: progressOf(intent.status),
    refunds: refunds.data
      .filter((refund) => !hasFailed(refund))
      .map((refund) => ({
        id: refund.id,
        reference: refund.metadata?.reference,
        amount: fromStripeAmount(refund).amount,
      })),
    disputes: disputes.data.map((dispute) => {
      // A bank may dispute in a currency of its own.
      const { amount } = fromStripeAmount(dispute.currency === intent.currency ? dispute : intent)
      return { id: dispute.id, amount, status: disputeStatus(dispute.status) }
    }),
  }
}

/** Whether the money of a refund has come back. */
export function hasFailed({ status }: Stripe.Refund): boolean {
  return status === 'failed' || status === 'canceled'
}

/** What a payment is of; of one that was paid in part, what came. */
export function moneyOfIntent(
  intent: Pick<Stripe.PaymentIntent, 'status' | 'amount' | 'amount_received' | 'currency'>,
) {
  const { status, amount, amount_received: received, currency } = intent
  return fromStripeAmount({ amount: status === 'succeeded' ? received : amount, currency })
}

/** Asks for a payment with its entry in the balance. */
export const withSettled: Stripe.PaymentIntentRetrieveParams = { expand: ['latest_charge.balance_transaction'] }

/** What the balance entry of a payment says; undefined: there is none yet. */
export function settledIn({ latest_charge: charge }: Stripe.PaymentIntent): SettledMoney | undefined {
  const entry = charge && typeof charge === 'object' ? charge.balance_transaction : undefined
  return entry && typeof entry === 'object' ? fromStripeAmount(entry) : undefined
}

async function findIntent(stripe: Stripe, id: string): Promise<Stripe.PaymentIntent | undefined> {
  try {
    return await stripe.paymentIntents.retrieve(id, withSettled)
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing') return undefined
    throw error
  }
}

function progressOf(status: string): ChargeProgress {
  if (status === 'succeeded') return 'settled'
  if (status === 'processing' || status === 'requires_capture') return 'pending'
  return status === 'canceled' ? 'voided' : 'failed'
}

function disputeStatus(status: string): DisputeStatus {
  if (status === 'lost') return 'lost'
  return status === 'won' || status === 'prevented' || status === 'warning_closed' ? 'won' : 'open'
}
