import { mails } from '../../../jobs/mailing-row.js'
import type { Extension } from '../../cli/extension.js'
import type { ReleaseReader } from '../../release/read/release-reader.js'

/** Mails subscribers what the live release has that is new. */
const work = mails(
  { name: 'subscriptions', schedule: 'subscriptions' },
  [async (choice) => (await import('./mail-reports.js')).checkReportTemplates(choice)],
  ({ payments, telling }) => {
    if (!payments || !telling) return undefined
    let releases: ReleaseReader | undefined
    return async (given, signal) => {
      const refusal = await telling.refusal()
      if (refusal !== undefined) return refusal
      const [{ mailReports }, { createReleaseReader }] = await Promise.all([
        import('./mail-reports.js'),
        import('../../release/read/release-reader.js'),
      ])
      releases ??= createReleaseReader(telling.feedsDir)
      const mailing = { ...given, donors: payments.donors, baseUrl: await telling.baseUrl(), releases }
      return await mailReports(mailing, signal)
    }
  },
)

/** Subscribers are mailed the reports that a release has anew. */
export const subscriptions = { name: 'subscriptions', work } as const satisfies Extension
