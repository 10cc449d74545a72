import type { Db } from '../../platform/database/connection.js'
import { countUnmailedReceipts } from '../sql/receipt-mails.js'

/** Notes for operators about the mailing of receipts. */
export async function receiptWarnings(
  db: Db,
  { mailsReceipts }: { readonly mailsReceipts?: boolean },
  closedBecause: string | undefined,
  now: Date,
): Promise<string[]> {
  const { refused, failed, unknown } = await countUnmailedReceipts(db, now)
  return [
    ...(mailsReceipts || closedBecause !== undefined ? [] : ['receipts are not mailed: SMTP_URL is not set']),
    ...(refused > 0 ? [`${refused} receipts were not mailed: the mail server refuses the recipient`] : []),
    ...(failed > 0 ? [`${failed} receipts were not mailed: the mail server took them at no try`] : []),
    ...(unknown > 0
      ? [`${unknown} receipts may not have been mailed: the connection or the process ended meanwhile`]
      : []),
  ]
}
