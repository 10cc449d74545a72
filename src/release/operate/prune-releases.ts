import { prepareFolder, releaseFolder } from '../folder/release-folder.js'
import { sweep } from '../folder/sweep.js'
import type { OperateDeps } from '../publication.js'
import { ifPublishingLockIsFree } from '../sql/publishing-lock.js'
import { findLiveTimes, forgetHeldReleases } from '../sql/releases.js'
import { recoverLiveRelease } from './recover.js'

/** Removes drafts of dead writers and releases that nobody needs any more, unless a publication is running. */
export async function pruneReleasesWhenIdle(deps: OperateDeps): Promise<void> {
  await prepareFolder(releaseFolder(deps.feedsDir))
  await ifPublishingLockIsFree(deps.store, async () => {
    const { rolledBackFrom } = await recoverLiveRelease(deps)
    await pruneReleases(deps, rolledBackFrom)
  })
}

/** Removes what nobody needs, but not the release that a rollback took down. The caller holds the publishing lock. */
export async function pruneReleases(deps: OperateDeps, rolledBackFrom?: string): Promise<void> {
  const needed = rolledBackFrom === undefined ? [] : [rolledBackFrom]
  const liveTimes = await findLiveTimes(deps.store.db)
  const options = { keep: deps.keepReleases, now: deps.clock(), needed, liveTimes }
  const held = await sweep(releaseFolder(deps.feedsDir), options)
  if (held.length > 0) await deps.store.transaction((db) => forgetHeldReleases(db, held))
  await deps.shared?.releases.push()
}
