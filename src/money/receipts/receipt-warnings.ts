import type { Db } from '../../platform/database/connection.js'
import { countUnmailed } from '../sql/receipt-mails.js'

/** Notes for operators about the mailing of receipts, and of reports to subscribers. */
export async function receiptWarnings(
  db: Db,
  { mailsReceipts }: { readonly mailsReceipts?: boolean },
  closedBecause: string | undefined,
  now: Date,
): Promise<string[]> {
  return [
    ...(mailsReceipts || closedBecause !== undefined ? [] : ['receipts are not mailed: SMTP_URL is not set']),
    ...unmailedWarnings('receipts', await countUnmailed(db, 'donors', now)),
    ...unmailedWarnings('messages to subscribers', await countUnmailed(db, 'subscribers', now)),
  ]
}

function unmailedWarnings(
  what: string,
  { refused, failed, unknown }: Awaited<ReturnType<typeof countUnmailed>>,
): string[] {
  return [
    ...(refused > 0 ? [`${refused} ${what} were not mailed: the mail server refuses the recipient`] : []),
    ...(failed > 0 ? [`${failed} ${what} were not mailed: every try failed`] : []),
    ...(unknown > 0
      ? [`${unknown} ${what} may not have been mailed: the connection or the process ended meanwhile`]
      : []),
  ]
}
