import { join } from 'node:path'
import type { Delivery } from '../../cli/extension.js'
import type { Runtime } from '../../cli/wiring/runtime.js'
import type { Config } from '../../platform/config/config.js'
import { releaseFolder } from '../../release/folder/release-folder.js'
import { claimFolder } from '../../release/operate/folder-of-store.js'
import { type Bucket, type BucketSettings, openBucket } from './bucket.js'
import { deliverRelease, withdrawFromBucket } from './deliver-release.js'
import { createSharedFolder, shareSeen } from './shared-folder.js'

/** Undefined when no bucket is configured. */
export function bucketSettings({ bucket, secrets }: Config): BucketSettings | undefined {
  if (bucket === undefined) return undefined
  const { accessKeyId, isFolder: _, ...settings } = bucket
  const secretAccessKey = secrets.bucketSecretKey
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined
  return { ...settings, keys: isGiven ? { accessKeyId, secretAccessKey } : undefined }
}

/** Delivery to the bucket that is configured, and the folders of this process as copies of it where FEEDS_S3_IS_FOLDER is on. */
export function bucketDelivery(runtime: Runtime, waiting?: 'person'): Delivery | undefined {
  const { config, store, feedsDir, clock } = runtime
  const bucket = bucketSettings(config)
  if (!bucket) return undefined
  const shared = config.bucket?.isFolder ? sharedFolders(runtime, bucket, waiting) : undefined
  return {
    shared,
    deliver: (signal) => deliverRelease({ store, feedsDir, clock, bucket, shared }, signal),
    withdraw: () => withdrawFromBucket({ store, bucket }, runtime.signal),
  }
}

function sharedFolders(
  { store, feedsDir, clock, signal, fence }: Runtime,
  settings: BucketSettings,
  waiting: 'person' | undefined,
): Delivery['shared'] {
  let opened: Promise<Bucket> | undefined
  const bucket = () => {
    opened ??= openBucket(settings, signal, waiting)
    return opened
  }
  // The first state is that of the folder that the store published into, so that no release is lost.
  const begin = async () => await claimFolder({ store, feedsDir, clock })
  const open = (name: string, folder: string) =>
    createSharedFolder({ bucket, clock, begin, name, folder: releaseFolder(folder) })
  return {
    releases: open('releases', feedsDir),
    beside: (name) => open(name, join(feedsDir, name)),
    shareSeen: async () => fence && (await shareSeen(await bucket(), (others) => fence.exchange(others))),
  }
}
