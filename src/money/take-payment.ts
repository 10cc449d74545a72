import { setTimeout as sleep } from 'node:timers/promises'
import { isoDateOf } from '../kernel/dates.js'
import type { Decline, Donation, ProjectTotals } from '../kernel/donation.js'
import { invalidFields, ServiceError, toServiceError } from '../kernel/errors.js'
import type { Decimal } from '../kernel/money.js'
import { sameAmount } from '../kernel/money.js'
import {
  type Charge,
  type Charged,
  type ChargeOutcome,
  GatewayRefusal,
  type WantedCharge,
  withTimeout,
} from './gateways/gateway.js'
import { isLate, leaseSecondsOf, lookAgainSeconds, type Payments, sumOf } from './payments.js'
import { settledShare } from './settled-share.js'
import {
  type EarlierDonation,
  findDonationTarget,
  findEarlierDonation,
  type HeldUntil,
} from './sql/donation-intents.js'
import {
  claimLateCharge,
  recordDeclined,
  recordFailed,
  recordLateChargeReturned,
  recordWaiting,
  type Settlement,
} from './sql/donation-outcomes.js'

/** How a payment ended. */
export type PaymentResult =
  | ({ readonly kind: 'settled' } & Settlement)
  | { readonly kind: 'declined'; readonly decline: Decline }
  | { readonly kind: 'action-required'; readonly clientSecret: string }
  | ({ readonly kind: 'pending' } & PendingDonation)

/** A donation that the donor has completed and whose money is awaited; the project's totals are those without it. */
export type PendingDonation = { readonly receivedAt: Date; readonly totals: ProjectTotals }

/**
 * Charges an intent that is in the books and records the outcome. Throws `payment-unavailable` when nothing was
 * charged, `payment-pending` when that is not known or could not be recorded: then the intent stays open, and the
 * settlement or a repeated request finds the outcome by its reference. Throws `request-invalid` when the reference has the
 * charge of another request. `triedBefore`: the books know of an earlier call for this donation;
 * `lease`: that of who calls, asked for at `leasedAt` (`performance.now()`).
 */
export async function takePayment(
  payments: Payments,
  id: number,
  charge: Charge,
  {
    triedBefore,
    lease,
    leasedAt,
  }: { readonly triedBefore: boolean; readonly lease: HeldUntil; readonly leasedAt: number },
): Promise<PaymentResult> {
  if (isLate(payments, leasedAt)) throw pending(new Error('this process stood still before it could charge'))
  const { gateway, store, clock, timeoutMs } = payments
  let outcome: ChargeOutcome
  try {
    outcome = await withTimeout(timeoutMs, (signal) => gateway.charge(charge, signal))
    if (outcome.kind !== 'declined' && outcome.charged && !isChargeOf(charge, outcome.charged)) {
      // The books lost the donation that was charged so; it is entered again from the processor.
      await recordFailed(store.db, id, { reason: 'its transactionId has another charge', at: clock(), lease })
      throw otherDonation()
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    if (!(cause instanceof GatewayRefusal)) throw pending(cause)
    // This call did nothing, but an earlier one with the same reference may have charged.
    const again = triedBefore && { lookAgainSeconds }
    await recordFailed(store.db, id, { reason: 'gateway unavailable', at: clock(), lease, ...again }).catch(() => false)
    throw new ServiceError('payment-unavailable', 'the payment gateway cannot be reached; nothing was charged', {
      cause,
    })
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await recordOutcome(payments, { id, reference: charge.reference, charge }, outcome)
    } catch (cause) {
      const { code } = toServiceError(cause)
      if (code === 'payment-pending' || code === 'payment-unavailable') throw cause
      // Money has moved, so a lost connection is retried before the caller is told to repeat the request.
      if (code !== 'database-unavailable' || attempt >= 3) throw pending(cause)
      await sleep(100 * attempt)
    }
  }
}

/**
 * Enters an outcome in the books. A donation that another process has closed keeps its state: an outcome that it recorded is
 * returned, and a charge for a donation that had failed is refunded.
 */
async function recordOutcome(
  payments: Payments,
  { id, reference, charge }: { readonly id: number; readonly reference: string; readonly charge: WantedMoney },
  outcome: ChargeOutcome,
): Promise<PaymentResult> {
  const { store, books, clock } = payments
  const at = clock()
  const share = outcome.kind === 'approved' ? settledShare(payments, charge, outcome.settled) : undefined
  if (share === 'foreign') {
    payments.warn({ donationId: id, reference }, 'a charge has settled in a currency that is not that of the books')
  }
  const isSettled = outcome.kind === 'approved' && share !== 'unknown' && share !== 'foreign'
  if (isSettled) {
    const settled = await books.recordSettled({
      id,
      chargeId: outcome.chargeId,
      at,
      day: isoDateOf(at),
      mailsReceipt: payments.mailsReceipts ?? false,
      settled: share,
      liabilityShifted: outcome.liabilityShifted,
    })
    if (settled) return { kind: 'settled', ...settled }
  } else if (outcome.kind === 'action-required') {
    const { clientSecret } = outcome
    if (await recordWaiting(store.db, id, { waitsFor: 'donor', at })) return { kind: 'action-required', clientSecret }
  } else if (outcome.kind === 'processing' || outcome.kind === 'approved') {
    const waits = await recordWaiting(store.db, id, { waitsFor: 'processor', at })
    const waiting = waits ? (await findEarlierDonation(store.db, id))?.donation : undefined
    const project = waiting && (await findDonationTarget(store.db, waiting.projectId))
    if (project) return { kind: 'pending', receivedAt: waiting.receivedAt ?? at, totals: project.totals }
  } else if (
    await recordDeclined(store.db, id, { decline: outcome.decline, at, mails: payments.mailsReceipts ?? false })
  ) {
    return { kind: 'declined', decline: outcome.decline }
  }
  const earlier = await findEarlierDonation(store.db, id)
  const entered = enteredOutcome(earlier)
  if (entered?.kind === 'settled' && outcome.kind === 'approved' && earlier) {
    await returnSecondCharge(payments, earlier, { reference, chargeId: outcome.chargeId })
  }
  if (entered) return entered
  const donation = earlier?.donation
  if (donation?.status === 'failed' && outcome.kind === 'approved') {
    const amount = sumOf(donation.amount, donation.addon, donation.currency)
    const returned = await returnLateCharge(payments, donation, { reference, chargeId: outcome.chargeId, amount })
    if (!returned) throw pending(undefined)
    throw new ServiceError('payment-unavailable', 'the payment came too late and was given back; nothing was charged')
  }
  throw pending(undefined)
}

/** The outcome that the books hold; undefined for a donation that is open or has failed. */
export function enteredOutcome(earlier: EarlierDonation | undefined): PaymentResult | undefined {
  if (!earlier) return undefined
  const { donation, totals } = earlier
  const { receiptNumber, settledAt, decline } = donation
  if (settledAt && receiptNumber !== undefined && totals) return { kind: 'settled', receiptNumber, settledAt, totals }
  return donation.status === 'declined' && decline ? { kind: 'declined', decline } : undefined
}

/**
 * Looks an open donation up at the gateway and records the outcome that is found. `unknown`: the gateway knows no charge
 * of it; `differs`: the charge is of another amount, which a person must settle.
 */
export async function findOutcome(
  payments: Payments,
  donation: Donation,
): Promise<PaymentResult | 'unknown' | 'differs'> {
  const { gateway, timeoutMs, warn } = payments
  const { id, reference = '', waitsFor } = donation
  const found = await withTimeout(timeoutMs, (signal) => gateway.findByReference(wantedCharge(donation), signal))
  if (!found) return 'unknown'
  if (!isChargeOf(wantedOf(donation), found)) {
    warn({ donationId: id, reference }, 'the gateway charged another amount than the donation says: a person must look')
    return 'differs'
  }
  // The page has what completes a payment: with another card it would charge a donation that was declined.
  if (found.outcome.kind === 'declined' && waitsFor === 'donor') await abandonCharge(payments, donation)
  return await recordOutcome(payments, { id, reference, charge: wantedOf(donation) }, found.outcome)
}

/** Ends a donation's charge that waits for the donor. */
export async function abandonCharge({ gateway, timeoutMs }: Payments, donation: Donation): Promise<void> {
  await withTimeout(timeoutMs, async (signal) => await gateway.abandon?.(wantedCharge(donation), signal))
}

/** The gateway's key of a donation's charge. */
export function wantedCharge({ reference = '', receivedAt = new Date(0) }: Donation): WantedCharge {
  return { reference, since: receivedAt }
}

/** What is to be charged, and for what. */
type WantedMoney = Pick<Charge, 'amount' | 'currency' | 'notes'>

/** What a donation was to be charged. */
export function wantedOf({ amount, addon, currency, projectId }: Donation): WantedMoney {
  return { amount: sumOf(amount, addon, currency), currency, notes: { projectId, addon } }
}

/** Whether this is what was to be charged: amount, currency and, where the charge names them, project and tip. */
export function isChargeOf(wanted: WantedMoney, { amount, currency, notes }: Charged): boolean {
  if (currency !== wanted.currency || !sameAmount(amount, wanted.amount)) return false
  if (!notes || !wanted.notes) return true
  return notes.projectId === wanted.notes.projectId && sameAmount(notes.addon, wanted.notes.addon)
}

/** The error of a request whose transactionId another donation has. */
export function otherDonation(): ServiceError {
  return invalidFields([
    { field: 'donation.transactionId', expected: 'one that was not used before: this one belongs to another donation' },
  ])
}

/** Gives back what was charged although the donation has a charge already: the first one counts. */
async function returnSecondCharge(
  { gateway, timeoutMs, warn }: Payments,
  { donation, chargeId: counted }: EarlierDonation,
  { reference, chargeId }: { readonly reference: string; readonly chargeId: string },
): Promise<void> {
  if (counted === undefined || counted === chargeId) return
  const { id, amount, addon, currency } = donation
  const refund = { reference: `${reference}-late`, chargeReference: reference, chargeId, currency }
  await withTimeout(timeoutMs, (signal) =>
    gateway.refund({ ...refund, amount: sumOf(amount, addon, currency) }, signal),
  )
  warn({ donationId: id, reference }, 'a second charge of a donation was given back')
}

/**
 * Refunds a charge that came after its donation had failed; safe to repeat. `amount` is what was charged. False: the donation
 * is being charged again, so the charge is its own.
 */
export async function returnLateCharge(
  payments: Payments,
  donation: Donation,
  charge: { readonly reference: string; readonly chargeId: string; readonly amount: Decimal },
): Promise<boolean> {
  const { gateway, store, clock, timeoutMs, warn } = payments
  const { id, currency } = donation
  const { reference, chargeId, amount } = charge
  if (!(await claimLateCharge(store.db, id, { chargeId, leaseSeconds: leaseSecondsOf(payments) }))) return false
  const refund = { reference: `${reference}-late`, chargeReference: reference, chargeId, amount, currency }
  await withTimeout(timeoutMs, (signal) => gateway.refund(refund, signal))
  await recordLateChargeReturned(store.db, id, { at: clock(), chargeId, amount })
  warn({ donationId: id, reference }, 'a charge came after its donation had been given up, and was given back')
  return true
}

/** The error of a payment whose outcome is not known yet. */
export function pending(cause: unknown): ServiceError {
  return new ServiceError('payment-pending', 'the outcome of the payment is not known yet', {
    ...(cause !== undefined && { cause }),
  })
}
