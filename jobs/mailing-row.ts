import { findFact } from '../src/platform/database/facts.js'
import type { TemplateChoice } from '../src/platform/mail/load-template.js'
import type { Mailed, Mailing } from '../src/platform/mail/mailing.js'
import type { Work, WorkDeps } from './work-row.js'

/**
 * A row that mails every minute; each message is claimed by one tick, so ticks that come twice do no harm. A template that
 * `checks` throw for ends the start. `mailer` is undefined in a process that has no part in it; a text is why nothing is mailed now.
 */
export function mails(
  { name, schedule }: { readonly name: string; readonly schedule: string },
  checks: readonly ((choice: TemplateChoice) => Promise<void>)[],
  mailer: (
    deps: WorkDeps,
  ) => ((mailing: Mailing & Pick<WorkDeps, 'store'>, signal: AbortSignal) => Promise<Mailed | string>) | undefined,
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
      const { smtpUrl } = secrets
      const choice = { language, operatorsDir: mail.templatesDir }
      const warn: Mailing['warn'] = (details, message) => log.warn(details, message)
      return {
        begin: async () => void (await Promise.all(checks.map((check) => check(choice)))),
        tick: async ({ signal }) => {
          const { SmtpSender } = await import('../src/platform/mail/smtp.js')
          const sender = new SmtpSender(smtpUrl, mail.from)
          const baseUrl = config.baseUrl ?? (await findFact(store.db, 'base-url')) ?? ''
          const mailing = { store, sender, choice, platform: reportingOrg.name, baseUrl, clock, warn }
          const mailed = await mailOut(mailing, signal)
          if (typeof mailed === 'string') return mailed
          const { sent, later, ended } = mailed
          return `${sent} sent, ${later} later, ${ended} not sent`
        },
      }
    },
  }
}
