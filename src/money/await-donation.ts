import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../kernel/errors.js'
import type { Charge } from './gateways/gateway.js'
import { leaseSecondsOf, type Payments } from './payments.js'
import { type EarlierDonation, findEarlierDonation, takeOverIntent } from './sql/donation-intents.js'
import { enteredOutcome, findOutcome, type PaymentResult, pending, takePayment } from './take-payment.js'

const pollMs = 50
const askEveryMs = 500

/**
 * The outcome of an earlier request with the same idempotency key. While that is open, this polls the books and the gateway
 * for as long as the gateway may take. Once a charge of it can no longer appear, it is charged again under its own
 * reference. Throws like `takePayment`.
 */
export async function awaitEarlierDonation(
  payments: Payments,
  first: EarlierDonation,
  chargeOf: (reference: string) => Charge,
): Promise<PaymentResult> {
  const { store, timeoutMs } = payments
  const { id, reference = '' } = first.donation
  const deadline = performance.now() + timeoutMs
  let nextAsk = performance.now() + Math.min(askEveryMs, timeoutMs / 2)
  for (let earlier: EarlierDonation | undefined = first; ; earlier = await findEarlierDonation(store.db, id)) {
    if (!earlier || earlier.donation.status === 'failed') {
      throw new ServiceError('payment-unavailable', 'the first request was not charged')
    }
    const known = enteredOutcome(earlier)
    if (known) return known
    if (earlier.leaseOver || earlier.donation.waitsFor || performance.now() >= nextAsk) {
      const found = await findOutcome(payments, earlier.donation).catch((error: unknown) => {
        throw error instanceof ServiceError ? error : pending(error)
      })
      if (found === 'differs') throw pending(undefined)
      if (found !== 'unknown') return found
      const leasedAt = performance.now()
      const lease = earlier.leaseOver ? await takeOverIntent(store.db, id, leaseSecondsOf(payments)) : undefined
      if (lease !== undefined) {
        const held = { triedBefore: true, lease, leasedAt }
        return await takePayment(payments, id, { ...chargeOf(reference), again: true }, held)
      }
      nextAsk = performance.now() + askEveryMs
    }
    if (performance.now() >= deadline) throw pending(undefined)
    await sleep(pollMs)
  }
}
