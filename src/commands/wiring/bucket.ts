import type { ConfigOf, Secrets } from '../../config/config.js'
import type { BucketSettings } from '../../publishing/bucket/bucket.js'
import { forgetBucketState } from '../../publishing/bucket/bucket-state.js'
import { deliverRelease } from '../../publishing/bucket/deliver-release.js'
import type { Runtime } from './runtime.js'

type BucketRuntime = Pick<Runtime<'bucket'>, 'config' | 'secrets' | 'store' | 'feedsDir' | 'clock'>

/** How the live release is delivered to the bucket; undefined when none is configured, and then none is behind. */
export async function openDelivery({
  config,
  secrets,
  store,
  feedsDir,
  clock,
}: BucketRuntime): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const bucket = bucketSettings({ config, secrets })
  if (bucket) return (signal) => deliverRelease({ store, feedsDir, clock, bucket }, signal)
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
