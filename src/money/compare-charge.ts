import { type Decimal, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../kernel/money.js'
import type { ChargeState, Dispute } from './gateways/gateway.js'
import type { BookedCharge } from './sql/charge-states.js'
import type { RefundKind } from './sql/refunds.js'

/** Money that went back at the processor and is not in the books, divided between donation and tip. */
type MissingRefund = {
  readonly reference: string
  readonly kind: RefundKind
  readonly amount: Decimal
  readonly addon: Decimal
}

export type ChargeComparison = {
  /** What the books lack, in the order to enter it. */
  readonly missing: readonly MissingRefund[]
  /** The difference that remains after that; undefined: none. */
  readonly difference: string | undefined
}

/**
 * Compares a settled donation with its charge at the processor. Totals decide, so that what an operator has booked by hand
 * is not entered again; what went back is of the donation first, then of the tip.
 */
export function compareCharge(booked: BookedCharge, charge: ChargeState): ChargeComparison {
  const { donation, chargeId } = booked
  const { currency } = donation
  const places = minorUnitExponent(currency)
  const units = (amount: Decimal) => toMinorUnits(amount, places)
  const inWords = (amount: bigint) => `${fromMinorUnits(amount, places)} ${currency}`
  const charged = units(donation.amount) + units(donation.addon)
  const differs = (difference: string) => ({ missing: [], difference })
  if (charge.currency !== currency || units(charge.amount) !== charged) {
    return differs(`the processor charged ${charge.amount} ${charge.currency}, the books say ${inWords(charged)}`)
  }
  if (chargeId !== undefined && chargeId !== charge.chargeId) {
    return differs(`the processor has two charges with one reference, ${chargeId} and ${charge.chargeId}`)
  }
  const wentBack = backAtProcessor(charge)
  const total = sumOf(wentBack.map(({ amount }) => units(amount)))
  let left = least(total, charged) - units(booked.givenBack)
  let leftOfAmount = units(donation.amount) - units(donation.refunded)
  const missing: MissingRefund[] = []
  for (const { id, reference = id, kind, amount } of wentBack) {
    if (left <= 0n || booked.references.includes(id) || booked.references.includes(reference)) continue
    const part = least(units(amount), left)
    const ofAmount = least(part, leftOfAmount)
    left -= part
    leftOfAmount -= ofAmount
    const split = { amount: fromMinorUnits(ofAmount, places), addon: fromMinorUnits(part - ofAmount, places) }
    missing.push({ reference: id, kind, ...split })
  }
  if (total > charged) {
    return { missing, difference: `the processor gave back ${inWords(total)} of a charge of ${inWords(charged)}` }
  }
  // A bank takes the money when a dispute opens; an operator may have booked that already.
  const disputed = sumOf(openDisputes(charge).map(({ amount }) => units(amount)))
  if (left === 0n || (left < 0n && -left <= disputed)) return { missing, difference: undefined }
  const difference = `the books have given back ${inWords(total - left)}, the processor ${inWords(total)}`
  return { missing, difference }
}

/** Whether the processor has money of this charge, or will have. */
export function holdsMoney(charge: ChargeState): boolean {
  const back = backAtProcessor(charge).map(({ amount }) => toMinorUnits(amount, 4))
  return sumOf(back) < toMinorUnits(charge.amount, 4)
}

/** The dispute that counts: an open one, or else a lost one. */
export function disputeOf(charge: ChargeState): Dispute | undefined {
  const { disputes } = charge
  return openDisputes(charge)[0] ?? disputes.find(({ status }) => status === 'lost') ?? disputes[0]
}

function openDisputes({ disputes }: ChargeState): Dispute[] {
  return disputes.filter(({ status }) => status === 'open')
}

type WentBack = {
  readonly id: string
  readonly reference?: string | undefined
  readonly kind: RefundKind
  amount: Decimal
}

function backAtProcessor({ chargeId, progress, amount, refunds, disputes }: ChargeState): WentBack[] {
  if (progress === 'voided') return [{ id: `${chargeId}-void`, kind: 'refund', amount }]
  if (progress === 'failed') return [{ id: `${chargeId}-failed`, kind: 'failure', amount }]
  const lost = disputes.filter(({ status }) => status === 'lost')
  return [
    ...refunds.map((refund) => ({ ...refund, kind: 'refund' as const })),
    ...lost.map((dispute) => ({ id: dispute.id, kind: 'chargeback' as const, amount: dispute.amount })),
  ]
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
