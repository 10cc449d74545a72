import { isoInstantOf } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'
import { findFact, recordFact } from '../../platform/database/facts.js'
import { adoptPublishedRun, knowsReleasesOf } from '../../work/sql/run-sequence.js'
import type { FolderDeps } from '../publication.js'
import { createReleaseReader, type ReadableRelease } from '../read/release-reader.js'

/**
 * Records the run of the live release in a database that was restored from an older backup, so that the next run has a
 * higher number; called before a process starts to work. A database that never published under this publisher does not
 * belong to the folder and is left alone: publishing refuses it. Returns the run's number when it was not known.
 */
export async function adoptLiveRun(deps: FolderDeps): Promise<number | undefined> {
  const live = await createReleaseReader(deps.feedsDir).live()
  if (!live) return undefined
  const { run, publisher } = live.manifest
  return await deps.store.transaction(async (db) => {
    if (!(await knowsReleasesOf(db, publisher.ref))) return undefined
    return (await adoptOlder(db, live, deps.clock())) ? run : undefined
  })
}

/** Enters the run of the live release where the database does not know it, and notes that somebody must see to that. */
export async function adoptOlder(db: Db, live: ReadableRelease, at: Date): Promise<boolean> {
  if (!(await adoptPublishedRun(db, publishedRunOf(live)))) return false
  const behind: RestoredBehind = { release: live.id, at: isoInstantOf(at) }
  await recordFact(db, 'restored-behind', JSON.stringify(behind), at)
  return true
}

/** What a database lacks that is older than the published files: whatever was entered until this release. */
type RestoredBehind = { readonly release: string; readonly at: string }

/** That the database was older than the published files, and what to do; undefined where it was not, or that was accepted. */
export async function restoredProblem(db: Db): Promise<string | undefined> {
  const text = await findFact(db, 'restored-behind')
  if (text === undefined) return undefined
  const { release, at } = JSON.parse(text) as RestoredBehind
  return `the database was restored from before release ${release}, as was found at ${at}. What was entered between is missing: import it again, enter donations from their charges (giving books reconcile), then giving database accept`
}

/** The run that made a release, from its manifest. */
function publishedRunOf({ id, manifest }: ReadableRelease) {
  return { id: manifest.run, releaseId: id, at: new Date(manifest.generated), held: manifest.held.count }
}
