import { deliverRelease } from '../../outbound/bucket/deliver-release.js'
import { forgetBucketState } from '../../release/bucket-state.js'
import { bucketSettings } from './bucket-settings.js'
import type { Runtime } from './runtime.js'
import { sharedFolders } from './shared-folders.js'

/** How the live release is delivered to the bucket; undefined when none is configured: then no earlier failure is reported. */
export async function openDelivery(runtime: Runtime): Promise<((signal: AbortSignal) => Promise<string>) | undefined> {
  const { config, secrets, store, feedsDir, clock } = runtime
  const shared = sharedFolders(runtime)
  const bucket = bucketSettings({ config, secrets })
  if (bucket) return (signal) => deliverRelease({ store, feedsDir, clock, bucket, shared }, signal)
  await forgetBucketState(store.db)
  return undefined
}
