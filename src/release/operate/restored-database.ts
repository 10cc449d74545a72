import type { Store } from '../../platform/database/store.js'
import { adoptPublishedRun, knowsReleasesOf } from '../../work/sql/run-sequence.js'
import { createReleaseReader, type ReadableRelease } from '../read/release-reader.js'

/**
 * Records the run of the live release in a database that was restored from an older backup, so that the next run has a
 * higher number; called before a process starts to work. A database that never published under this publisher does not
 * belong to the folder and is left alone: publishing refuses it. Returns the run's number when it was not known.
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

/** The run that made a release, from its manifest. */
export function publishedRunOf({ id, manifest }: ReadableRelease) {
  return { id: manifest.run, releaseId: id, at: new Date(manifest.generated), held: manifest.held.count }
}
