import { adoptPublishedRun, knowsReleasesOf } from '../../../store/runs/run-sequence.js'
import type { Store } from '../../../store/store.js'
import { createReleaseReader, type ReadableRelease } from '../read/release-reader.js'

/**
 * Tells a database that was restored from a backup which run made the live release, so that the next run is a later
 * one; done before a process takes up work. A database that never published under this publisher is not the one that
 * the folder belongs to, and is left alone: its run says so when it publishes. Returns the run's number when it was
 * not known.
 */
export async function adoptLiveRun(deps: {
  readonly store: Store
  readonly feedsDir: string
}): Promise<number | undefined> {
  const live = await createReleaseReader(deps.feedsDir).live()
  if (!live) return undefined
  const { run, publisher } = live.manifest
  return await deps.store.transaction(async (db) => {
    if (!(await knowsReleasesOf(db, publisher.ref))) return undefined
    return (await adoptPublishedRun(db, publishedRunOf(live))) ? run : undefined
  })
}

/** The run that made a release, from what its manifest tells. */
export function publishedRunOf({ id, manifest }: ReadableRelease) {
  return { id: manifest.run, releaseId: id, at: new Date(manifest.generated), held: manifest.held.count }
}
