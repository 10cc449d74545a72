import type { DonorVault } from '../../money/donors/donor-vault.js'
import { deliverRelease } from '../../outbound/bucket/deliver-release.js'
import { mailReports } from '../../outbound/mail-reports.js'
import { tellHub } from '../../outbound/tell-hub.js'
import { SmtpSender } from '../../platform/mail/smtp.js'
import { forgetBucketState } from '../../release/bucket-state.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { bucketSettings } from './bucket-settings.js'
import { type baseUrlFields, resolveBaseUrl } from './listening.js'
import { type publisherFields, tellingRefusal } from './publisher.js'
import type { Runtime } from './runtime.js'
import { sharedFolders } from './shared-folders.js'

type BucketRuntime = Pick<
  Runtime<'bucket' | (typeof publisherFields)[number]>,
  'config' | 'secrets' | 'store' | 'feedsDir' | 'clock' | 'signal'
>

/** How the live release is delivered to the bucket; undefined when none is configured: then no earlier failure is reported. */
export async function openDelivery(
  runtime: BucketRuntime,
): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const { config, secrets, store, feedsDir, clock } = runtime
  const shared = sharedFolders(runtime)
  const bucket = bucketSettings({ config, secrets })
  if (bucket) {
    return async (signal) =>
      (await tellingRefusal({ config, store, feedsDir })) ??
      (await deliverRelease({ store, feedsDir, clock, bucket, shared }, signal))
  }
  await forgetBucketState(store.db)
  return undefined
}

/** How the WebSub hub is told what changed; undefined when none is configured. */
export function openHub(
  runtime: Runtime<'websubHub' | (typeof publisherFields)[number] | (typeof baseUrlFields)[number]>,
): ((signal: AbortSignal) => Promise<string>) | undefined {
  const { store, feedsDir, clock } = runtime
  const hub = runtime.config.websubHub
  if (hub === undefined) return undefined
  return async (signal) =>
    (await tellingRefusal(runtime)) ??
    (await tellHub({ store, feedsDir, clock, hub, baseUrl: await resolveBaseUrl(runtime) }, signal))
}

/** How subscribers are mailed what is new; undefined while no mail is sent. */
export function openReportMail(
  runtime: Runtime<'mail' | (typeof publisherFields)[number] | (typeof baseUrlFields)[number]>,
  donors: DonorVault,
): ((signal: AbortSignal) => Promise<string>) | undefined {
  const { config, secrets, store, feedsDir, clock, log } = runtime
  const { mail, language, reportingOrg } = config
  const { smtpUrl } = secrets
  if (!mail || smtpUrl === undefined) return undefined
  const sender = new SmtpSender(smtpUrl, mail.from)
  const choice = { language, operatorsDir: mail.templatesDir }
  const releases = createReleaseReader(feedsDir)
  const warn = (details: object, message: string) => log.warn(details, message)
  return async (signal) => {
    const refusal = await tellingRefusal(runtime)
    if (refusal !== undefined) return refusal
    const baseUrl = await resolveBaseUrl(runtime)
    const mailing = { store, donors, sender, choice, platform: reportingOrg.name, baseUrl, clock, warn, releases }
    const { sent, later, ended } = await mailReports(mailing, signal)
    return `${sent} sent, ${later} later, ${ended} not sent`
  }
}
