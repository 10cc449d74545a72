import type { Donation, DonationStatus } from '../../domain/donation.js'
import type { CurrencyCode, Decimal } from '../../domain/money.js'

/** Columns of a donation, for `select`; the table's alias is `d`. */
export const donationColumns = `d.id, d.project_id, d.status, d.reference, d.amount, d.addon, d.fee, d.currency,
  d.transaction_id, d.refcode, d.newsletter_platform, d.newsletter_charity, d.received_at, d.settled_at,
  d.receipt_number, d.decline_code, d.decline_text, d.refunded`

/** A row of `donationColumns`. */
export type DonationRow = {
  id: number
  project_id: number
  status: DonationStatus
  reference: string | null
  amount: string
  addon: string
  fee: string
  currency: string
  transaction_id: string | null
  refcode: string | null
  newsletter_platform: boolean
  newsletter_charity: boolean
  received_at: Date | null
  settled_at: Date | null
  receipt_number: string | null
  decline_code: number | null
  decline_text: string | null
  refunded: string
}

export function toDonation(row: DonationRow): Donation {
  return {
    id: row.id,
    projectId: row.project_id,
    status: row.status,
    amount: row.amount as Decimal,
    addon: row.addon as Decimal,
    fee: row.fee as Decimal,
    currency: row.currency as CurrencyCode,
    newsletterPlatform: row.newsletter_platform,
    newsletterCharity: row.newsletter_charity,
    refunded: row.refunded as Decimal,
    ...(row.reference !== null && { reference: row.reference }),
    ...(row.transaction_id !== null && { transactionId: row.transaction_id }),
    ...(row.refcode !== null && { refcode: row.refcode }),
    ...(row.received_at && { receivedAt: row.received_at }),
    ...(row.settled_at && { settledAt: row.settled_at }),
    ...(row.receipt_number !== null && { receiptNumber: row.receipt_number }),
    ...(row.decline_code !== null && { decline: { code: row.decline_code, text: row.decline_text ?? 'Declined' } }),
  }
}
