import { isoDateOf } from '../kernel/dates.js'
import { type CurrencyCode, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../kernel/money.js'
import { followCharge } from './follow-charge.js'
import { type ChargeState, withTimeout } from './gateways/gateway.js'
import { feeOf, type Payments } from './payments.js'
import { settledShare } from './settled-share.js'
import { recordSettlements, type SettledShare } from './sql/donation-outcomes.js'
import { enterLostDonation, type LostDonation } from './sql/lost-donations.js'
import type { ReconciliationDifference } from './sql/reconciliation.js'

/** A charge of the processor that the books did not have. */
export type Adopted = { readonly chargeId: string } & (
  | { readonly donationId: number }
  /** Why it was left. */
  | { readonly left: string }
)

/**
 * Enters charges that the processor knows and the books lost: each becomes a donation of the project that it names, on the
 * day on which it was charged, without a donor. A request that is repeated later makes itself known as its own. Safe to
 * repeat. `differences` are those of a comparison; only unknown charges of them count.
 */
export async function adoptCharges(
  payments: Payments,
  differences: readonly ReconciliationDifference[],
  signal: AbortSignal,
): Promise<Adopted[]> {
  const unknown = differences.filter(({ kind, entry, acceptedAt }) => {
    return kind === 'unknown' && entry === 'charge' && acceptedAt === undefined
  })
  const adopted: Adopted[] = []
  for (const { chargeId = '' } of unknown) {
    signal.throwIfAborted()
    adopted.push({ chargeId, ...(await adopt(payments, chargeId)) })
  }
  return adopted
}

async function adopt(
  payments: Payments,
  chargeId: string,
): Promise<{ readonly donationId: number } | { readonly left: string }> {
  const { gateway, store, timeoutMs } = payments
  const charge = await withTimeout(timeoutMs, (signal) => gateway.readCharge(chargeId, signal))
  const read = charge ? toDonation(payments, charge) : { left: 'the processor has no charge of this name' }
  if ('left' in read) return read
  const { settled } = read
  // Both or nothing: a donation that is entered and not settled would be looked up as one that was just requested.
  const donationId = await store.transaction(async (db) => {
    const id = await enterLostDonation(db, read)
    if (id === undefined) return undefined
    await recordSettlements(db, [{ id, chargeId, at: read.at, day: isoDateOf(read.at), mailsReceipt: false, settled }])
    return id
  })
  if (donationId === undefined) {
    return { left: `there is no project ${read.projectId}, or its donation was entered meanwhile` }
  }
  await followCharge(payments, chargeId)
  return { donationId }
}

function toDonation(
  payments: Payments,
  charge: ChargeState,
): (LostDonation & { readonly settled: SettledShare | undefined }) | { readonly left: string } {
  const { gateway, feePercent } = payments
  const { reference, notes, at } = charge
  if (reference === undefined || !notes)
    return { left: 'it does not say what it was for: this service did not make it' }
  if (charge.progress === 'failed' || charge.progress === 'voided') return { left: `it has ${charge.progress}` }
  const currency = charge.currency as CurrencyCode
  const settled = settledShare(payments, { amount: charge.amount, currency, notes }, charge.settled)
  if (settled === 'unknown' || settled === 'foreign') {
    return { left: `it is in ${currency}, and nothing has settled for it in ${payments.currency}` }
  }
  const places = minorUnitExponent(currency)
  const amount = toMinorUnits(charge.amount, places) - toMinorUnits(notes.addon, places)
  if (amount <= 0n) return { left: 'its tip is more than its amount' }
  const gift = fromMinorUnits(amount, places)
  return {
    ...{ reference, at, gateway: gateway.name, currency, amount: gift, addon: notes.addon },
    ...{ fee: feeOf(gift, feePercent, currency), settled, projectId: notes.projectId, refcode: notes.refcode },
  }
}
