import { randomUUID } from 'node:crypto'
import { isoDateOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { type Decimal, minorUnitExponent } from '../domain/money.js'
import {
  cancelRefund,
  type RefundIntent,
  type RefundKind,
  recordRefundDone,
  recordRefundIntent,
} from '../store/donations/refunds.js'
import { GatewayRefusal, withTimeout } from './gateway.js'
import { leaseSecondsOf, type Payments, sumOf } from './payments.js'

/**
 * Gives a donation back, whole (with its tip) or in part; a chargeback is only booked, since the processor has taken it.
 * Throws `not-found`, `request-invalid`, `payment-unavailable` (nothing was given back) or `payment-pending` (the
 * settlement finishes it).
 */
export async function refundDonation(
  payments: Payments,
  request: { readonly donationId: number; readonly kind: RefundKind; readonly amount: Decimal | undefined },
): Promise<RefundIntent> {
  const { store, clock } = payments
  const intent = await store.transaction((db) =>
    recordRefundIntent(db, {
      ...request,
      reference: randomUUID(),
      at: clock(),
      leaseSeconds: leaseSecondsOf(payments),
    }),
  )
  await finishRefund(payments, intent)
  return intent
}

/** Makes and books a refund that is written down; doing it twice does it once. */
export async function finishRefund(payments: Payments, intent: RefundIntent): Promise<void> {
  const { store, clock } = payments
  if (intent.kind === 'refund') await giveBack(payments, intent)
  const at = clock()
  await recordRefundDone(store.db, {
    id: intent.id,
    at,
    day: isoDateOf(at),
    places: minorUnitExponent(intent.donation.currency),
  })
}

async function giveBack({ gateway, store, timeoutMs }: Payments, intent: RefundIntent): Promise<void> {
  const { donation, reference, chargeId = '' } = intent
  const { currency } = donation
  const amount = sumOf(intent.amount, intent.addon, currency)
  const refund = { reference, chargeReference: donation.reference ?? '', chargeId, amount, currency }
  try {
    await withTimeout(timeoutMs, (signal) => gateway.refund(refund, signal))
  } catch (cause) {
    if (cause instanceof GatewayRefusal) {
      await cancelRefund(store.db, intent.id)
      throw new ServiceError('payment-unavailable', `the gateway gave nothing back: ${cause.message}`, { cause })
    }
    throw new ServiceError(
      'payment-pending',
      'the outcome of the refund is not known yet; the settlement finishes it',
      {
        cause,
      },
    )
  }
}
