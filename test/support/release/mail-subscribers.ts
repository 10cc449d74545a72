import { mailReports, type ReportMailing } from '../../../src/extensions/subscriptions/mail-reports.js'
import type { Store } from '../../../src/platform/database/store.js'
import type { Mailed } from '../../../src/platform/mail/mailing.js'
import { SmtpSender } from '../../../src/platform/mail/smtp.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testDonors } from '../money/donations.js'

type Place = { readonly store: Store; readonly feedsDir: string; readonly smtpUrl: string }

/** Mails subscribers what is due, as a worker does. */
export async function mailSubscribers(
  { store, feedsDir, smtpUrl }: Place,
  changes: Partial<ReportMailing> = {},
): Promise<Mailed> {
  const mailing: ReportMailing = {
    store,
    donors: testDonors,
    sender: new SmtpSender(smtpUrl, 'reports@giving.example'),
    choice: { language: 'en', operatorsDir: undefined },
    platform: 'Giving Platform',
    baseUrl: 'https://giving.example',
    clock: () => new Date(),
    warn: () => undefined,
    releases: createReleaseReader(feedsDir),
    ...changes,
  }
  return await mailReports(mailing, new AbortController().signal)
}
