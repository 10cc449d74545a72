import { checkReportTemplates } from '../src/outbound/mail-reports.js'
import type { Work } from './work-row.js'

/**
 * Mails subscribers what the live release has that is new, every minute. Each message is claimed by one tick, so ticks that
 * come twice do no harm.
 */
export const subscriptions: Work<'mail' | 'language'> = {
  name: 'subscriptions',
  fields: ['mail', 'language'],
  queues: { settlement: 3 },
  schedules: ({ mail }) => (mail ? { subscriptions: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ mailReports, config: { mail, language } }) =>
    mail &&
    mailReports && {
      // A template that cannot be used ends the start.
      begin: () => checkReportTemplates({ language, operatorsDir: mail.templatesDir }),
      tick: ({ signal }) => mailReports(signal),
    },
}
