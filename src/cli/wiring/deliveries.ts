import type { BucketSettings } from '../../outbound/bucket/bucket.js'
import { deliverRelease } from '../../outbound/bucket/deliver-release.js'
import { tellHub } from '../../outbound/tell-hub.js'
import type { ConfigOf, Secrets } from '../../platform/config/config.js'
import { forgetBucketState } from '../../release/bucket-state.js'
import { type baseUrlFields, resolveBaseUrl } from './listening.js'
import { type publisherFields, tellingRefusal } from './publisher.js'
import type { Runtime } from './runtime.js'

type BucketRuntime = Pick<
  Runtime<'bucket' | (typeof publisherFields)[number]>,
  'config' | 'secrets' | 'store' | 'feedsDir' | 'clock'
>

/** How the live release is delivered to the bucket; undefined when none is configured: then no earlier failure is reported. */
export async function openDelivery({
  config,
  secrets,
  store,
  feedsDir,
  clock,
}: BucketRuntime): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const bucket = bucketSettings({ config, secrets })
  if (bucket) {
    return async (signal) =>
      (await tellingRefusal({ config, store, feedsDir })) ??
      (await deliverRelease({ store, feedsDir, clock, bucket }, signal))
  }
  await forgetBucketState(store.db)
  return undefined
}

/** Undefined when no bucket is configured. */
export function bucketSettings({
  config,
  secrets,
}: {
  readonly config: ConfigOf<'bucket'>
  readonly secrets: Secrets
}): BucketSettings | undefined {
  if (config.bucket === undefined) return undefined
  const { accessKeyId, ...settings } = config.bucket
  const secretAccessKey = secrets.bucketSecretKey
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined
  return { ...settings, keys: isGiven ? { accessKeyId, secretAccessKey } : undefined }
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
