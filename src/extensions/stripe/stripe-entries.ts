import type Stripe from 'stripe'
import type { ProcessorEntry } from '../../money/gateways/gateway.js'
import { UnclearAnswer } from '../../money/gateways/processor-calls.js'
import { fromStripeAmount } from './stripe-amounts.js'
import { hasFailed } from './stripe-charge-state.js'

// Types of balance transactions; all others, such as payouts and fees, concern no charge.
const charges: ReadonlySet<string> = new Set(['charge', 'payment'])
const refunds: ReadonlySet<string> = new Set(['refund', 'payment_refund'])
/** A payment, of a bank account for example, whose money did not come after all. */
const failures: ReadonlySet<string> = new Set(['payment_failure_refund', 'payment_reversal'])
/** Disputes, and refunds that did not arrive. */
const changes: ReadonlySet<string> = new Set(['adjustment', 'refund_failure'])

/**
 * The list of Stripe's balance transactions, with the charges and refunds that they are about. A charge has the metadata
 * of its PaymentIntent, and the PaymentIntent's id is what our books call the charge.
 */
export async function* listStripeEntries(
  stripe: Stripe,
  { from, until }: { readonly from: Date; readonly until: Date },
  signal: AbortSignal,
): AsyncGenerator<ProcessorEntry> {
  const created = { gte: Math.ceil(from.getTime() / 1000), lt: Math.ceil(until.getTime() / 1000) }
  for await (const listed of stripe.balanceTransactions.list({ created, limit: 100, expand: ['data.source'] })) {
    signal.throwIfAborted()
    yield* toEntries(listed)
  }
}

function toEntries({ id, type, source, created }: Stripe.BalanceTransaction): ProcessorEntry[] {
  const known = [charges, refunds, failures, changes].some((types) => types.has(type))
  // An adjustment without a source is Stripe's own.
  if (!known || (source === null && changes.has(type))) return []
  if (source === null || typeof source === 'string')
    throw new UnclearAnswer(`Stripe listed a ${type} without its source`)
  const about = source as Stripe.Charge | Stripe.Refund
  const intent = typeof about.payment_intent === 'string' ? about.payment_intent : about.payment_intent?.id
  const chargeId = intent ?? about.id
  const changed = { kind: 'changed', chargeId } as const
  if (changes.has(type)) return intent === undefined ? [] : [changed]
  const entry = { chargeId, ...fromStripeAmount(about), settledAt: new Date(created * 1000) }
  if (failures.has(type)) return [{ ...entry, kind: 'refund', id, reference: undefined }, changed]
  if (!charges.has(type) && hasFailed(about as Stripe.Refund)) return [changed]
  const reference = about.metadata?.reference
  return charges.has(type)
    ? [{ ...entry, kind: 'charge', id: chargeId, reference }]
    : [{ ...entry, kind: 'refund', id: about.id, reference }]
}
