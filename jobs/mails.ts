import { checkAccountTemplates, mailDueCodes } from '../src/accounts/mail-account-codes.js'
import { checkSleepingTemplate, tellSleeping } from '../src/money/plans/tell-sleeping.js'
import { checkNoticeTemplates, mailNotices } from '../src/money/receipts/mail-notices.js'
import { checkReceiptTemplate, mailDueReceipts } from '../src/money/receipts/mail-receipts.js'
import { checkPdfTemplate } from '../src/money/receipts/receipt-pdf.js'
import { mails } from './mailing-row.js'

/** Mails codes of accounts. */
export const accountMail = mails(
  { name: 'account mail', schedule: 'account-mail' },
  [checkAccountTemplates],
  () => mailDueCodes,
)

/** Mails receipts and other messages to donors. */
export const receipts = mails(
  { name: 'receipts', schedule: 'receipts' },
  [checkReceiptTemplate, checkPdfTemplate, checkSleepingTemplate, checkNoticeTemplates],
  ({ payments, log }) =>
    payments &&
    (async (given, signal) => {
      const mailing = { ...given, donors: payments.donors, clock: payments.clock }
      const mailed = await mailDueReceipts(mailing, signal)
      await tellSleeping(mailing, signal)
      const notices = await mailNotices(mailing, signal)
      const [sent, later] = [mailed.sent + notices.sent, mailed.later + notices.later]
      const ended = mailed.ended + notices.ended
      if (sent + later + ended > 0)
        log.info({ sent, later, ended }, 'receipts and other messages to donors were mailed')
      return { sent, later, ended }
    }),
)
