import { hash, randomUUID } from 'node:crypto'
import type { CommandLine } from '../../cli/command-line.js'
import { type Finding, fix, good } from '../../cli/finding.js'
import { toServiceError } from '../../kernel/errors.js'
import { readConfig } from '../../platform/config/config.js'
import { askStatus, reasonOf } from '../../platform/outgoing/http-client.js'
import { type Bucket, type BucketSettings, openBucket } from './bucket.js'
import { bucketSettings } from './delivery.js'
import { sharedPrefix } from './shared-folder.js'

/** Whether the bucket takes what is delivered. */
export async function inspectBucket({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, ['bucket'])
  const settings = bucketSettings(config)
  if (!settings) return [good('none: releases are served by the API only')]
  const bucket = await openBucket(settings, signal, 'person')
  try {
    // A delivery lists and writes; listing changes nothing.
    for await (const _ of bucket.folders('feeds/releases/')) break
  } catch (error) {
    return [fix(toServiceError(error).message, 'docs/how-to/bucket.md')]
  }
  const delivered = good(`releases are delivered to ${settings.name}, which answers`)
  return config.bucket?.isFolder ? [delivered, ...(await inspectBucketAsFolder(bucket, settings, signal))] : [delivered]
}

/** Whether one of two writers is refused, and whether strangers read what only our processes may. */
async function inspectBucketAsFolder(
  bucket: Bucket,
  { name, region, endpoint }: BucketSettings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const text = Buffer.from('giving doctor\n')
  const key = `${sharedPrefix}doctor-${randomUUID()}`
  const trial = { key, body: text, mediaType: 'text/plain', sha256: hash('sha256', text), lifetime: 'live' } as const
  try {
    const first = await bucket.putIf(trial, undefined)
    const second = await bucket.putIf(trial, undefined)
    const third = await bucket.putIf(trial, '"0123456789abcdef0123456789abcdef"')
    if (first === undefined || second !== undefined || third !== undefined) {
      const ignored = `the service of ${name} ignores If-Match and If-None-Match, so two workers may replace each other's release`
      return [fix(ignored, 'another service, or a folder that machines share with FEEDS_S3_IS_FOLDER=off')]
    }
    const address = endpoint ?? `https://s3.${region}.amazonaws.com`
    const seen = await askStatus(`${address}/${name}/${key}`, { totalMs: 5_000, signal }).catch(reasonOf)
    const kept = good(`it keeps the releases of all machines below ${sharedPrefix}`)
    if (seen !== 200) return [kept]
    const open = `strangers can read ${sharedPrefix} of ${name}, where held releases are`
    return [kept, fix(open, `make everything but ${sharedPrefix} public (docs/how-to/bucket.md)`)]
  } catch (error) {
    return [fix(toServiceError(error).message, 'docs/how-to/bucket.md')]
  } finally {
    await bucket.remove(key).catch(() => undefined)
  }
}
