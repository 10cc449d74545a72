import type { BucketSettings } from '../../outbound/bucket/bucket.js'
import type { Config, Secrets } from '../../platform/config/config.js'

/** Undefined when no bucket is configured. */
export function bucketSettings({
  config,
  secrets,
}: {
  readonly config: Config
  readonly secrets: Secrets
}): BucketSettings | undefined {
  if (config.bucket === undefined) return undefined
  const { accessKeyId, isFolder: _, ...settings } = config.bucket
  const secretAccessKey = secrets.bucketSecretKey
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined
  return { ...settings, keys: isGiven ? { accessKeyId, secretAccessKey } : undefined }
}
