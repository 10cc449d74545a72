import { type CurrencyCode, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../../kernel/money.js'
import type { ChargeNotes } from '../../money/gateways/charge-notes.js'

// Braintree keeps no notes of ours with a sale, so they follow the reference: its project, its tip in the smallest unit, its refcode.
const withNotes = /^([0-9a-f-]{32,36})\.(\d{1,15})\.(\d{1,18})(?:\.([\w-]{1,64}))?$/

/** The order id of a sale. */
export function toOrderId(reference: string, notes: ChargeNotes | undefined, currency: CurrencyCode): string {
  if (!notes) return reference
  const { projectId, addon, refcode } = notes
  const tip = toMinorUnits(addon, minorUnitExponent(currency))
  return [reference, projectId, tip, ...(refcode === undefined ? [] : [refcode])].join('.')
}

/** Our reference in an order id; of one that is not ours the whole; undefined: there is none. */
export function referenceIn(orderId: string | null | undefined): string | undefined {
  return withNotes.exec(orderId ?? '')?.[1] ?? (orderId || undefined)
}

/** The notes in an order id; undefined: it has none. */
export function notesIn(orderId: string | null | undefined, currency: string): ChargeNotes | undefined {
  const [, , project, tip = '0', refcode] = withNotes.exec(orderId ?? '') ?? []
  if (project === undefined) return undefined
  const addon = fromMinorUnits(BigInt(tip), minorUnitExponent(currency as CurrencyCode))
  return { projectId: Number(project), addon, ...(refcode !== undefined && { refcode }) }
}
