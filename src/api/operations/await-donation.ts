import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../domain/errors.js'
import { type Charge, withTimeout } from '../../payments/gateway.js'
import { leaseSecondsOf, type Payments } from '../../payments/payments.js'
import { isChargeOf, type PaymentResult, pending, recordOutcome, takePayment } from '../../payments/take-payment.js'
import { type EarlierDonation, findEarlierDonation, takeOverIntent } from '../../store/donations/donation-intents.js'

const pollMs = 50
const askEveryMs = 500

/**
 * The outcome of an earlier request with the same key, for a repeated one. While it is open, its outcome is waited for
 * as long as the gateway may take, in the books and at the gateway; once no charge of it can turn up any more, it is
 * charged again under its own reference. Throws like `takePayment`.
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
    const known = outcomeOf(earlier)
    if (known) return known
    if (earlier?.leaseOver || performance.now() >= nextAsk) {
      const found = await askGateway(payments, first)
      if (found) return found
      if (earlier?.leaseOver && (await takeOverIntent(store.db, id, leaseSecondsOf(payments)))) {
        return await takePayment(payments, id, chargeOf(reference))
      }
      nextAsk = performance.now() + askEveryMs
    }
    if (performance.now() >= deadline) throw pending(undefined)
    await sleep(pollMs)
  }
}

/** What the books say; undefined while the donation is open. */
function outcomeOf(earlier: EarlierDonation | undefined): PaymentResult | undefined {
  if (!earlier) throw new ServiceError('payment-unavailable', 'the first request was not charged')
  const { donation, totals } = earlier
  switch (donation.status) {
    case 'received':
      return undefined
    case 'settled':
    case 'refunded': {
      const { receiptNumber, settledAt } = donation
      if (receiptNumber === undefined || !settledAt || !totals) throw pending(undefined)
      return { kind: 'settled', receiptNumber, settledAt, totals }
    }
    case 'declined':
      if (!donation.decline) throw pending(undefined)
      return { kind: 'declined', decline: donation.decline }
    case 'failed':
      throw new ServiceError('payment-unavailable', 'the first request was not charged')
    default:
      return donation.status satisfies never
  }
}

/** What the gateway says, brought into the books; undefined when it knows nothing of the charge, or does not answer. */
async function askGateway(payments: Payments, { donation }: EarlierDonation): Promise<PaymentResult | undefined> {
  const { gateway, timeoutMs, warn } = payments
  const { id, reference = '' } = donation
  const found = await withTimeout(timeoutMs, (signal) => gateway.findByReference(reference, signal)).catch(
    (cause: unknown) => {
      throw pending(cause)
    },
  )
  if (!found) return undefined
  if (!isChargeOf(donation, found)) {
    warn({ donationId: id, reference }, 'the gateway charged another amount than the donation says: a person must look')
    throw pending(undefined)
  }
  return await recordOutcome(payments, { id, reference }, found.outcome)
}
