import { randomUUID } from 'node:crypto'
import { isoDateOf } from '../kernel/dates.js'
import { ServiceError } from '../kernel/errors.js'
import { type Decimal, minorUnitExponent } from '../kernel/money.js'
import type { Db } from '../platform/database/connection.js'
import { GatewayRefusal, RefundLater, withTimeout } from './gateways/gateway.js'
import { isLate, leaseSecondsOf, type Payments, sumOf } from './payments.js'
import {
  cancelRefund,
  type RefundIntent,
  type RefundKind,
  recordRefundDone,
  recordRefundIntent,
} from './sql/refunds.js'

/**
 * Refunds a donation, whole (with its tip) or in part. A chargeback is only entered in the books, since the processor has
 * already taken the money. Throws `not-found`, `request-invalid`, `payment-unavailable` (nothing was given back) or
 * `payment-pending` (the settlement finishes it).
 */
export async function refundDonation(
  payments: Payments,
  request: {
    readonly donationId: number
    readonly kind: RefundKind
    readonly amount: Decimal | undefined
    /** Done in the transaction that records the refund; what it throws leaves no refund. */
    readonly recorded?: (db: Db, intent: RefundIntent) => Promise<void>
  },
): Promise<RefundIntent> {
  const { store, clock } = payments
  const { recorded, ...wanted } = request
  const leasedAt = performance.now()
  const intent = await store.transaction(async (db) => {
    const entered = await recordRefundIntent(db, {
      ...wanted,
      reference: randomUUID(),
      at: clock(),
      leaseSeconds: leaseSecondsOf(payments),
    })
    await recorded?.(db, entered)
    return entered
  })
  await finishRefund(payments, intent, leasedAt)
  return intent
}

/** Makes a recorded refund, whose lease was asked for at `leasedAt`, and enters it in the books; safe to repeat. */
export async function finishRefund(payments: Payments, intent: RefundIntent, leasedAt: number): Promise<void> {
  const { store, clock, currency, mailsReceipts: mails = false } = payments
  if (intent.kind === 'refund') {
    if (isLate(payments, leasedAt)) {
      const message = 'this process stood still before it could give back; the settlement finishes it'
      throw new ServiceError('payment-pending', message)
    }
    await giveBack(payments, intent)
  }
  const at = clock()
  await recordRefundDone(store.db, {
    id: intent.id,
    at,
    day: isoDateOf(at),
    places: minorUnitExponent(currency),
    mails,
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
      await cancelRefund(store.db, intent)
      throw new ServiceError('payment-unavailable', `the gateway gave nothing back: ${cause.message}`, { cause })
    }
    const reason = cause instanceof RefundLater ? cause.message : 'the outcome of the refund is not known yet'
    throw new ServiceError('payment-pending', `${reason}; the settlement finishes it`, { cause })
  }
}
