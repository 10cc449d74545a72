import type { CurrencyCode, Decimal } from './money.js'

/** `received -> settled | declined | failed`, `settled -> refunded` (whole or in part). */
export type DonationStatus = 'received' | 'settled' | 'declined' | 'failed' | 'refunded'

/** What a project shows of its money right after a donation. */
export type ProjectTotals = {
  readonly projectId: number
  readonly funding: Decimal
  readonly numberOfDonations: number
  readonly goal?: Decimal | undefined
  readonly remaining?: Decimal | undefined
  readonly projectLink?: string | undefined
  readonly progressReportLink?: string | undefined
}

/** A donation: money and state, nothing of the person who gave. */
export type Donation = {
  readonly id: number
  readonly projectId: number
  readonly status: DonationStatus
  /** Our name for the payment at the gateway; absent for records of the past. */
  readonly reference?: string | undefined
  readonly amount: Decimal
  /** A tip to the platform, charged together with the amount; 0 when there is none. */
  readonly addon: Decimal
  /** In the currency of the books. */
  readonly fee: Decimal
  readonly currency: CurrencyCode
  /** What the processor settled for amount and tip, where it charged another currency than that of the books. */
  readonly settled?: { readonly amount: Decimal; readonly addon: Decimal; readonly currency: CurrencyCode } | undefined
  readonly transactionId?: string | undefined
  readonly refcode?: string | undefined
  readonly newsletterPlatform: boolean
  readonly newsletterCharity: boolean
  readonly receivedAt?: Date | undefined
  readonly settledAt?: Date | undefined
  readonly receiptNumber?: string | undefined
  readonly decline?: Decline | undefined
  /** For whom a donation that was received waits: the donor, whose bank asks, or the processor of a slow payment. */
  readonly waitsFor?: 'donor' | 'processor' | undefined
  /** Whether the bank of the card answers for fraud, since its owner was authenticated; absent: the processor did not say. */
  readonly liabilityShifted?: boolean | undefined
  /** What has been given back of the amount. */
  readonly refunded: Decimal
}

/** Why a payment was refused: the processor's published code and text. */
export type Decline = { readonly code: number; readonly text: string }

/** One row of a donation's life. */
export type DonationEvent = {
  /** `confirmed`: the processor has settled the charge; `disputed`: the state of a dispute changed. */
  readonly kind: DonationStatus | 'confirmed' | 'disputed'
  readonly at: Date
  readonly details: Readonly<Record<string, unknown>>
}
