import type { Decimal } from '../../kernel/money.js'

/**
 * What a charge says of its donation at the processor, beside our reference: enough to enter it again after the books were
 * lost, and nothing personal.
 */
export type ChargeNotes = {
  readonly projectId: number
  /** What of the charge is a tip to the platform. */
  readonly addon: Decimal
  readonly refcode?: string | undefined
}

// Free text, and whatever could be an address of a person, stays here.
const shownRefcode = /^[\w-]{1,64}$/

/** The notes of a donation. */
export function notesOf(donation: {
  readonly projectId: number
  readonly addon?: Decimal | undefined
  readonly refcode?: string | undefined
}): ChargeNotes {
  const { projectId, addon = '0' as Decimal, refcode = '' } = donation
  return { projectId, addon, ...(shownRefcode.test(refcode) && { refcode }) }
}
