import { checkAccountTemplates, mailDueCodes } from '../src/accounts/mail-account-codes.js'
import { checkSleepingTemplate, tellSleeping } from '../src/money/plans/tell-sleeping.js'
import { checkNoticeTemplates, mailNotices } from '../src/money/receipts/mail-notices.js'
import { checkReceiptTemplate, mailDueReceipts } from '../src/money/receipts/mail-receipts.js'
import { checkPdfTemplate } from '../src/money/receipts/receipt-pdf.js'
import { findFact } from '../src/platform/database/facts.js'
import type { TemplateChoice } from '../src/platform/mail/load-template.js'
import type { Mailed, Mailing } from '../src/platform/mail/mailing.js'
import { SmtpSender } from '../src/platform/mail/smtp.js'
import type { Work, WorkDeps } from './work-row.js'

/**
 * A row that mails every minute; each message is claimed by one tick, so ticks that come twice do no harm. A template that
 * `checks` throw for ends the start. `mailer` is undefined in a process that has no part in it.
 */
function mails(
  { name, schedule }: { readonly name: string; readonly schedule: string },
  checks: readonly ((choice: TemplateChoice) => Promise<void>)[],
  mailer: (
    deps: WorkDeps,
  ) => ((mailing: Mailing & Pick<WorkDeps, 'store'>, signal: AbortSignal) => Promise<Mailed>) | undefined,
): Work {
  return {
    name,
    fields: ['mail', 'language', 'reportingOrg', 'baseUrl'],
    queues: { settlement: 3 },
    schedules: ({ mail }) => (mail ? { [schedule]: { expression: '* * * * *', timezone: 'UTC' } } : {}),
    open: (deps) => {
      const { store, clock, log, config } = deps
      const { mail, language, reportingOrg, secrets } = config
      const mailOut = mailer(deps)
      if (!mail || secrets.smtpUrl === undefined || !mailOut) return undefined
      const sender = new SmtpSender(secrets.smtpUrl, mail.from)
      const choice = { language, operatorsDir: mail.templatesDir }
      const warn: Mailing['warn'] = (details, message) => log.warn(details, message)
      return {
        begin: async () => void (await Promise.all(checks.map((check) => check(choice)))),
        tick: async ({ signal }) => {
          const baseUrl = config.baseUrl ?? (await findFact(store.db, 'base-url')) ?? ''
          const mailing = { store, sender, choice, platform: reportingOrg.name, baseUrl, clock, warn }
          const { sent, later, ended } = await mailOut(mailing, signal)
          return `${sent} sent, ${later} later, ${ended} not sent`
        },
      }
    },
  }
}

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
