import { loadAccountTemplates, mailDueCodes } from '../src/accounts/mail-account-codes.js'
import { findFact } from '../src/platform/database/facts.js'
import { SmtpSender } from '../src/platform/mail/smtp.js'
import type { Work } from './work-row.js'

/** Mails codes of accounts every minute. Each is claimed by one tick, so ticks that come twice do no harm. */
export const accountMail: Work = {
  name: 'account mail',
  fields: ['mail', 'language', 'reportingOrg', 'baseUrl'],
  queues: { settlement: 3 },
  schedules: ({ mail }) => (mail ? { 'account-mail': { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ config, store, clock, log }) => {
    const { mail, language, reportingOrg } = config
    const { smtpUrl } = config.secrets
    if (!mail || smtpUrl === undefined) return undefined
    const sender = new SmtpSender(smtpUrl, mail.from)
    const load = () => loadAccountTemplates({ language, operatorsDir: mail.templatesDir })
    return {
      // A template that cannot be used ends the start.
      begin: async () => void (await load()),
      tick: async ({ signal }) => {
        const warn = (details: object, message: string) => log.warn(details, message)
        const baseUrl = config.baseUrl ?? (await findFact(store.db, 'base-url')) ?? ''
        const mailing = { store, sender, templates: await load(), language, baseUrl, clock, warn }
        const { sent, later, ended } = await mailDueCodes({ ...mailing, platform: reportingOrg.name }, signal)
        return `${sent} sent, ${later} later, ${ended} not sent`
      },
    }
  },
}
