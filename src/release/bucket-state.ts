import type { Db } from '../platform/database/connection.js'
import { findFact, forgetFact, recordFact } from '../platform/database/facts.js'

/** How far the delivery to the bucket is, as the workers last recorded it. */
export type BucketState = {
  /** Which bucket; another one has nothing yet. */
  readonly target: string
  /** The release that its manifest names, and the newest run that it knows to have ended well. */
  readonly release?: string
  readonly run?: number
  /** The release whose delivery was begun last. */
  readonly begun?: string
  /** Why the last try failed, and since when every try has. */
  readonly failure?: { readonly message: string; readonly since: string }
}

/** Undefined when no bucket is configured, or no worker has begun with it. */
export async function findBucketState(db: Db): Promise<BucketState | undefined> {
  const text = await findFact(db, 'bucket')
  return text === undefined ? undefined : (JSON.parse(text) as BucketState)
}

export async function recordBucketState(db: Db, state: BucketState, at: Date): Promise<void> {
  await recordFact(db, 'bucket', JSON.stringify(state), at)
}

/** Removes the state, for a service without a bucket. */
export async function forgetBucketState(db: Db): Promise<void> {
  await forgetFact(db, 'bucket')
}
