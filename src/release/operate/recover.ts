import path from 'node:path'
import { liveReleaseId, releaseFolder, runOfRelease, switchLiveRelease } from '../folder/release-folder.js'
import type { FolderDeps } from '../publication.js'
import { releaseRow } from '../read/manifest.js'
import { createReleaseReader, isReleaseThere, type ReadableRelease } from '../read/release-reader.js'
import { findLiveRelease, findStandingRollback, recordLiveRelease } from '../sql/releases.js'
import { adoptOlder } from './restored-database.js'

/** The live release, and the rollback that stands, if one does. */
export type LiveState = {
  readonly live: ReadableRelease | undefined
  /** Id of the release that a rollback took down; a run with the same content does not publish it again. */
  readonly rolledBackFrom: string | undefined
}

/**
 * Makes the database follow the folder: it records a switch that it does not know. In two cases the folder follows the
 * database: an interrupted rollback is finished, and an older release that a writer switched to after it was cut off
 * gives way to the newer one. The caller holds the publishing lock.
 */
export async function recoverLiveRelease(deps: FolderDeps): Promise<LiveState> {
  const { store, feedsDir, clock, shared } = deps
  await shared?.releases.pull()
  const folder = releaseFolder(feedsDir)
  const rollback = await findStandingRollback(store.db)
  const wanted = rollback?.releaseId ?? (await findLiveRelease(store.db))?.id
  const current = await liveReleaseId(folder)
  if (wanted !== undefined && current !== undefined && wanted !== current) {
    const interrupted = rollback?.otherId === current
    const overtaken = runOfRelease(wanted) > runOfRelease(current)
    if ((interrupted || overtaken) && (await isReleaseThere(path.join(folder.releases, wanted)))) {
      await makeLive(deps, wanted)
    }
  }
  const live = await createReleaseReader(feedsDir).live()
  if (!live) return { live, rolledBackFrom: undefined }
  await store.transaction(async (db) => {
    await adoptOlder(db, live, clock())
    await recordLiveRelease(db, releaseRow(live.manifest), { event: 'published', at: clock() })
  })
  return { live, rolledBackFrom: rollback?.releaseId === live.id ? rollback.otherId : undefined }
}

/** Makes a complete, synced release of the folder the live one, for every machine. The caller holds the publishing lock. */
export async function makeLive(
  { feedsDir, shared }: Pick<FolderDeps, 'feedsDir' | 'shared'>,
  id: string,
): Promise<void> {
  await shared?.releases.push(id)
  await switchLiveRelease(releaseFolder(feedsDir), id)
}
