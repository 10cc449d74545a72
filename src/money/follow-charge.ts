import { isoDateOf } from '../kernel/dates.js'
import type { Donation } from '../kernel/donation.js'
import { minorUnitExponent, sameAmount, signOf } from '../kernel/money.js'
import type { Db } from '../platform/database/connection.js'
import { readDatabaseClock } from '../work/sql/wrong-clocks.js'
import { type ChargeComparison, compareCharge, disputeOf, holdsMoney } from './compare-charge.js'
import { type ChargeState, withTimeout } from './gateways/gateway.js'
import { type Payments, sumOf } from './payments.js'
import { settledShare } from './settled-share.js'
import {
  findChargedDonation,
  lockBookedCharge,
  recordFollowedCharge,
  reopenFailedDonation,
} from './sql/charge-states.js'
import { recordResettled, type SettledShare } from './sql/donation-outcomes.js'
import { recordOutsideRefund, renameRepeatedRefunds } from './sql/refunds.js'
import { findOutcome, isChargeOf, wantedOf } from './take-payment.js'

/**
 * How following a charge ended. `corrected`: something was entered in the books; `differs`: a person must look; `waits`: a
 * payment or refund of it is under way, so it must be followed again; `unknown`: no donation here has this charge.
 */
export type Followed = 'agrees' | 'corrected' | 'differs' | 'waits' | 'unknown'

/**
 * Brings the books in line with what the processor has of one charge: an outcome that was lost, money that went back there
 * by its own doing or its console, a payment that failed after its approval, disputes, what it settles for another currency. Safe to repeat, in any order and from
 * several processes, since only the charge's state at this moment counts. Throws when the processor gives no clear answer.
 */
export async function followCharge(payments: Payments, chargeId: string): Promise<Followed> {
  const { gateway, store, timeoutMs } = payments
  const startedAt = await readDatabaseClock(store.db)
  const charge = await withTimeout(timeoutMs, (signal) => gateway.readCharge(chargeId, signal))
  if (charge?.reference === undefined) return 'unknown'
  const { reference } = charge
  const donation = await findChargedDonation(store.db, { gateway: gateway.name, reference })
  if (!donation) return 'unknown'
  const found = donation.status === 'received' ? await findOutcome(payments, donation) : 'unknown'
  if (typeof found === 'object' && (found.kind === 'pending' || found.kind === 'action-required')) return 'agrees'
  const { followed, difference } = await store.transaction((db) =>
    bringInLine(db, payments, donation, { charge, startedAt }),
  )
  if (difference !== undefined) {
    payments.warn(
      { donationId: donation.id, reference, difference },
      'a charge differs from the books: a person must look',
    )
  }
  return followed === 'agrees' && typeof found === 'object' ? 'corrected' : followed
}

// Within this time after a refund, the processor's view of the charge may lack it.
const lagMs = 120_000

/** `difference`: one that was not known before. */
async function bringInLine(
  db: Db,
  { clock, currency, feePercent, mailsReceipts: mails = false }: Payments,
  { id }: Donation,
  { charge, startedAt }: { readonly charge: ChargeState; readonly startedAt: Date },
): Promise<{ readonly followed: Followed; readonly difference?: string | undefined }> {
  const booked = await lockBookedCharge(db, id)
  const { donation, last, open, lastBackAt, followedAt } = booked
  const { status } = donation
  // What another process has entered meanwhile may be newer than what was read.
  if (open || (followedAt !== undefined && followedAt > startedAt)) return { followed: 'waits' }
  if (status === 'failed' && holdsMoney(charge) && isChargeOf(wantedOf(donation), charge)) {
    await reopenFailedDonation(db, id)
    return { followed: 'waits' }
  }
  const { missing, difference: ofCharge } = comparisonOf(status, booked, charge)
  const resettled = resettledMoney({ currency, feePercent }, donation, charge)
  // Shares of what was settled first have gone back: what that means for them is for a person to say.
  const shared = signOf(donation.refunded) > 0 || missing.length > 0
  const difference = ofCharge ?? (shared ? resettled?.inWords : undefined)
  if (status === 'received' && difference === undefined) return { followed: 'waits' }
  const at = clock()
  const justBack = lastBackAt !== undefined && at.getTime() - lastBackAt.getTime() < lagMs
  if (difference !== undefined && justBack && missing.length === 0) return { followed: 'waits' }
  for (const refund of missing) {
    await recordOutsideRefund(db, {
      ...{ ...refund, donationId: id, at, day: isoDateOf(at), places: minorUnitExponent(currency), mails },
    })
  }
  if (difference === undefined && missing.length === 0) await renameRepeatedRefunds(db, id, charge.refunds)
  const settled = difference === undefined ? resettled : undefined
  if (settled) await recordResettled(db, { ...settled.share, id, at, places: minorUnitExponent(currency) })
  const { progress } = charge
  const dispute = disputeOf(charge)
  const confirmed = progress === 'settled' && last?.progress !== 'settled' && donation.settledAt !== undefined
  const disputed = dispute && dispute.status !== last?.dispute ? [dispute] : []
  const events = [
    ...(confirmed ? [{ kind: 'confirmed' as const, details: {} }] : []),
    ...(settled ? [{ kind: 'confirmed' as const, details: { difference: settled.inWords } }] : []),
    ...disputed.map((details) => ({ kind: 'disputed' as const, details })),
  ]
  await recordFollowedCharge(db, { donationId: id, progress, dispute: dispute?.status, difference, at }, events)
  if (difference !== undefined) return { followed: 'differs', ...(difference !== last?.difference && { difference }) }
  return { followed: missing.length + events.length > 0 ? 'corrected' : 'agrees' }
}

/** What the processor says now that it settled for a donation in another currency, where the books have something else. */
function resettledMoney(
  books: Pick<Payments, 'currency' | 'feePercent'>,
  donation: Donation,
  { settled }: ChargeState,
): { readonly share: SettledShare; readonly inWords: string } | undefined {
  const booked = donation.settled
  const share = settledShare(books, wantedOf(donation), settled)
  if (!booked || typeof share !== 'object' || signOf(share.amount) <= 0) return undefined
  if (sameAmount(share.amount, booked.amount) && sameAmount(share.addon, booked.addon)) return undefined
  const total = ({ amount, addon, currency }: typeof booked) => `${sumOf(amount, addon, currency)} ${currency}`
  return { share, inWords: `the processor settled ${total(share)}, the books said ${total(booked)}` }
}

function comparisonOf(
  status: Donation['status'],
  booked: Parameters<typeof compareCharge>[0],
  charge: ChargeState,
): ChargeComparison {
  if (status === 'settled' || status === 'refunded' || status === 'received') {
    const comparison = compareCharge(booked, charge)
    return status === 'received' ? { ...comparison, missing: [] } : comparison
  }
  const difference = holdsMoney(charge) ? `the processor holds a charge of a donation that was ${status}` : undefined
  return { missing: [], difference }
}
