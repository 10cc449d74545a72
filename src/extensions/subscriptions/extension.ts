import type { Work } from '../../../jobs/work-row.js'
import type { Extension } from '../../cli/extension.js'
import type { ReleaseReader } from '../../release/read/release-reader.js'

/**
 * Mails subscribers what the live release has that is new, every minute. Each message is claimed by one tick, so ticks that
 * come twice do no harm.
 */
const work: Work = {
  name: 'subscriptions',
  fields: ['mail', 'language', 'reportingOrg'],
  queues: { settlement: 3 },
  schedules: ({ mail }) => (mail ? { subscriptions: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ config, payments, telling, store, clock, log }) => {
    const {
      mail,
      language,
      reportingOrg,
      secrets: { smtpUrl },
    } = config
    if (!mail || smtpUrl === undefined || !payments || !telling) return undefined
    const choice = { language, operatorsDir: mail.templatesDir }
    let releases: ReleaseReader | undefined
    return {
      // A template that cannot be used ends the start.
      begin: async () => (await import('./mail-reports.js')).checkReportTemplates(choice),
      tick: async ({ signal }) => {
        const refusal = await telling.refusal()
        if (refusal !== undefined) return refusal
        const [{ mailReports }, { SmtpSender }, { createReleaseReader }] = await Promise.all([
          import('./mail-reports.js'),
          import('../../platform/mail/smtp.js'),
          import('../../release/read/release-reader.js'),
        ])
        releases ??= createReleaseReader(telling.feedsDir)
        const { sent, later, ended } = await mailReports(
          {
            ...{ store, donors: payments.donors, clock, choice, platform: reportingOrg.name },
            sender: new SmtpSender(smtpUrl, mail.from),
            releases,
            baseUrl: await telling.baseUrl(),
            warn: (details, message) => log.warn(details, message),
          },
          signal,
        )
        return `${sent} sent, ${later} later, ${ended} not sent`
      },
    }
  },
}

/** Subscribers are mailed the reports that a release has anew. */
export const subscriptions = { name: 'subscriptions', work } as const satisfies Extension
