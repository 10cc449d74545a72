import { checkSleepingTemplate, tellSleeping } from '../src/money/plans/tell-sleeping.js'
import { checkNoticeTemplates, mailNotices } from '../src/money/receipts/mail-notices.js'
import { checkReceiptTemplate, mailDueReceipts } from '../src/money/receipts/mail-receipts.js'
import { checkPdfTemplate } from '../src/money/receipts/receipt-pdf.js'
import { findFact } from '../src/platform/database/facts.js'
import { SmtpSender } from '../src/platform/mail/smtp.js'
import type { Work } from './work-row.js'

/**
 * Mails receipts and other messages to donors every minute. Each is claimed by one tick, so ticks that come twice do no
 * harm.
 */
export const receipts: Work = {
  name: 'receipts',
  fields: ['mail', 'language', 'reportingOrg', 'baseUrl'],
  queues: { settlement: 3 },
  schedules: ({ mail }) => (mail ? { receipts: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ config, payments, store, log }) => {
    const { mail, language, reportingOrg } = config
    const { smtpUrl } = config.secrets
    if (!mail || smtpUrl === undefined || !payments) return undefined
    const sender = new SmtpSender(smtpUrl, mail.from)
    const choice = { language, operatorsDir: mail.templatesDir }
    return {
      // A template that cannot be used ends the start.
      begin: async () =>
        void (await Promise.all(
          [checkReceiptTemplate, checkPdfTemplate, checkSleepingTemplate, checkNoticeTemplates].map((check) =>
            check(choice),
          ),
        )),
      tick: async ({ signal }) => {
        const warn = (details: object, message: string) => log.warn(details, message)
        const baseUrl = config.baseUrl ?? (await findFact(store.db, 'base-url')) ?? ''
        const platform = reportingOrg.name
        const { donors, clock } = payments
        const mailing = { store, donors, sender, choice, platform, baseUrl, clock, warn }
        const mailed = await mailDueReceipts(mailing, signal)
        await tellSleeping(mailing, signal)
        const notices = await mailNotices(mailing, signal)
        const sent = mailed.sent + notices.sent
        const later = mailed.later + notices.later
        const ended = mailed.ended + notices.ended
        if (sent + later + ended > 0)
          log.info({ sent, later, ended }, 'receipts and other messages to donors were mailed')
        return `${sent} sent, ${later} later, ${ended} not sent`
      },
    }
  },
}
