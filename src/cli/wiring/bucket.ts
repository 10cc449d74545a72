import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../kernel/system-errors.js'
import {
  type Bucket,
  type BucketPatience,
  type BucketSettings,
  ofPerson,
  openBucket,
} from '../../outbound/bucket/bucket.js'
import { deliverRelease } from '../../outbound/bucket/deliver-release.js'
import { createSharedFolder, shareSeen } from '../../outbound/bucket/shared-folder.js'
import type { Config } from '../../platform/config/config.js'
import { forgetBucketState } from '../../release/bucket-state.js'
import { releaseFolder } from '../../release/folder/release-folder.js'
import { claimFolder } from '../../release/operate/folder-of-store.js'
import type { FilesBeside, SharedFolders } from '../../release/publication.js'
import type { Runtime } from './runtime.js'

// A machine serves within this time what another one has published.
const followMs = 2_000

/** Undefined when no bucket is configured. */
export function bucketSettings({ bucket, secrets }: Config): BucketSettings | undefined {
  if (bucket === undefined) return undefined
  const { accessKeyId, isFolder: _, ...settings } = bucket
  const secretAccessKey = secrets.bucketSecretKey
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined
  return { ...settings, keys: isGiven ? { accessKeyId, secretAccessKey } : undefined }
}

/**
 * The folders of this process as copies of what the bucket says; undefined where FEEDS_S3_IS_FOLDER is off. `patience` for a
 * person who waits.
 */
export function sharedFolders(
  runtime: Runtime,
  patience?: BucketPatience,
): (SharedFolders & { readonly bucket: () => Promise<Bucket> }) | undefined {
  const { config, store, feedsDir, clock, signal } = runtime
  const settings = config.bucket?.isFolder ? bucketSettings(config) : undefined
  if (!settings) return undefined
  let opened: Promise<Bucket> | undefined
  const bucket = () => {
    opened ??= openBucket(settings, signal, patience)
    return opened
  }
  // The first state is that of the folder that the store published into, so that no release is lost.
  const begin = async () => await claimFolder({ store, feedsDir, clock })
  const open = (name: string, folder: string) =>
    createSharedFolder({ bucket, clock, begin, name, folder: releaseFolder(folder) })
  return { bucket, releases: open('releases', feedsDir), beside: (name) => open(name, join(feedsDir, name)) }
}

/** Brings what the bucket says once, for a command. */
export async function followOnce(runtime: Runtime): Promise<void> {
  await sharedFolders(runtime, ofPerson)?.releases.follow()
}

/**
 * Shares what was seen of the database with the other machines, for a command; returns why that cannot be done, undefined where it was
 * or where machines have nothing but their folder.
 */
export async function shareSeenOnce(runtime: Runtime): Promise<string | undefined> {
  const { fence } = runtime
  const shared = fence && sharedFolders(runtime, ofPerson)
  try {
    if (shared) await shareSeen(await shared.bucket(), (others) => fence.exchange(others))
    return undefined
  } catch (error) {
    return `what other machines have seen of the database is not known: ${messageOf(error)}`
  }
}

/**
 * Keeps the folder of this process as the state in the bucket says, and shares what was seen of the database, until the runtime is
 * closed; `first` resolves after the first try. While the bucket is away the folder stays as it is.
 */
export function keepFollowing(runtime: Runtime, beside: readonly FilesBeside[]): { readonly first: Promise<void> } {
  const shared = sharedFolders(runtime)
  if (!shared) return { first: Promise.resolve() }
  const folders = [shared.releases, ...beside.map(({ name }) => shared.beside(name))]
  const { log, fence } = runtime
  const stop = new AbortController()
  const signal = AbortSignal.any([runtime.signal, stop.signal])
  let failure: string | undefined
  const follow = async () => {
    try {
      if (fence) await shareSeen(await shared.bucket(), (others) => fence.exchange(others))
      for (const folder of folders) await folder.follow()
      if (failure !== undefined) log.info('the folder follows the bucket again')
      failure = undefined
    } catch (err) {
      if (signal.aborted || messageOf(err) === failure) return
      failure = messageOf(err)
      log.warn({ err }, 'the folder does not follow the bucket: it stays as it is, and this is tried again')
    }
  }
  const first = follow()
  const ended = first.then(async () => {
    while (!signal.aborted) {
      await sleep(followMs, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) await follow()
    }
  })
  runtime.defer(async () => {
    stop.abort()
    await ended
  })
  return { first }
}

/** How the live release is delivered to the bucket; undefined when none is configured: then no earlier failure is reported. */
export async function openDelivery(runtime: Runtime): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const { config, store, feedsDir, clock } = runtime
  const shared = sharedFolders(runtime)
  const bucket = bucketSettings(config)
  if (bucket) return (signal) => deliverRelease({ store, feedsDir, clock, bucket, shared }, signal)
  await forgetBucketState(store.db)
  return undefined
}
