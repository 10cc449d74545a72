import { ServiceError } from '../../kernel/errors.js'
import { moveHeldToReleases, releaseFolder, removeLiveLink, runOfRelease } from '../folder/release-folder.js'
import type { OperateDeps } from '../publication.js'
import { releaseRow, type Sample } from '../read/manifest.js'
import { identifiersOf } from '../read/release-contents.js'
import { createReleaseReader, findHeldRelease, type ReadableRelease } from '../read/release-reader.js'
import { loadCarried, missingFromCarried, recordCarriedIdentifiers } from '../sql/published-identifiers.js'
import { byHand, underPublishingLock } from '../sql/publishing-lock.js'
import {
  findRelease,
  findStandingRollback,
  forgetRollback,
  recordLiveRelease,
  recordReleaseEvent,
} from '../sql/releases.js'
import { pruneReleases } from './prune-releases.js'
import { recordPublisherOfRelease, refuseOthersRelease } from './publisher-of-store.js'
import { makeLive, recoverLiveRelease } from './recover.js'

/** By whom releases are operated: the configured identifier of the publisher, undefined for a trial. */
type ByHandDeps = OperateDeps & { readonly publisherRef?: string | undefined }

/**
 * Makes a held release live exactly as it was built. Throws `not-found` for one that is not held, `release-refused` when
 * a newer release is live, or when published identifiers would vanish and `acceptLoss` is false; otherwise they are given
 * up for ever. Throws as `refuseOthersRelease` does.
 */
export async function approveRelease(
  deps: ByHandDeps,
  id: string,
  { acceptLoss }: { readonly acceptLoss: boolean },
): Promise<{ release: string; previous: string | undefined; withdrawn: number }> {
  const folder = releaseFolder(deps.feedsDir)
  return await underPublishingLock(deps.store, byHand, async (confirmLock) => {
    const { live } = await recoverLiveRelease(deps)
    const held = await findHeldRelease(deps.feedsDir, id)
    // An approval that was interrupted between moving the release and switching to it is continued.
    const moved = held ? undefined : await findMoved(deps, id)
    const release = held ?? moved
    if (!release) throw new ServiceError('not-found', `no release ${id} is held: see giving releases list`)
    await refuseOthersRelease(deps, release, deps.publisherRef)
    const newest = await newestPublished(deps, live)
    if (newest > release.manifest.run) {
      throw new ServiceError(
        'release-refused',
        `release ${id} is of run ${release.manifest.run}, but run ${newest} has published since: publish again instead`,
      )
    }
    const at = deps.clock()
    const missing = await deps.store.transaction(async (db) => {
      await loadCarried(db, identifiersOf(release))
      const found = await missingFromCarried(db)
      if (found.count > 0 && !acceptLoss) throw wouldVanish(id, found)
      // Before the switch, so that after a crash the identifiers of either release are recorded.
      await recordCarriedIdentifiers(db, id, at)
      return found
    })
    await confirmLock()
    if (held) await moveHeldToReleases(folder, id)
    await makeLive(deps, id)
    const row = releaseRow(release.manifest)
    await deps.store.transaction((db) => recordLiveRelease(db, row, { event: 'approved', at }))
    await recordPublisherOfRelease(deps)
    await pruneReleases(deps)
    return { release: id, previous: live?.id, withdrawn: missing.count }
  })
}

/**
 * Makes an earlier release live that is still kept. It stays live until a run has content that differs from the release
 * that was taken down. Throws `not-found`, `release-refused` when it is live already, or as `refuseOthersRelease` does.
 */
export async function rollbackRelease(
  deps: ByHandDeps,
  id: string,
): Promise<{ release: string; from: string; missing: Sample }> {
  return await underPublishingLock(deps.store, byHand, async (confirmLock) => {
    const { live, rolledBackFrom } = await recoverLiveRelease(deps)
    const target = await createReleaseReader(deps.feedsDir).byId(id)
    const row = await findRelease(deps.store.db, id)
    if (!target || !row || row.state === 'held') {
      throw new ServiceError('not-found', `release ${id} is not kept, or never was live: see giving releases list`)
    }
    if (!live || live.id === id) throw new ServiceError('release-refused', `release ${id} is live already`)
    await refuseOthersRelease(deps, target, deps.publisherRef)
    // After a second rollback the content not to be published again is still that of the newest release.
    const from = rolledBackFrom !== undefined && rolledBackFrom !== id ? rolledBackFrom : live.id
    const missing = await deps.store.transaction(async (db) => {
      await loadCarried(db, identifiersOf(target))
      return await missingFromCarried(db)
    })
    await confirmLock()
    const at = deps.clock()
    // Recorded before the switch: after a crash the next run finishes the rollback instead of undoing it.
    await recordReleaseEvent(deps.store.db, { releaseId: id, event: 'rolled-back', otherId: from, at })
    try {
      await makeLive(deps, id)
    } catch (error) {
      await forgetRollback(deps.store.db, id)
      throw error
    }
    await recoverLiveRelease(deps)
    return { release: id, from: live.id, missing }
  })
}

/** Takes the live release down, so that nothing is published until the next one. Its files stay as those of a superseded one. */
export async function withdrawLiveRelease({
  store,
  feedsDir,
  shared,
}: Pick<OperateDeps, 'store' | 'feedsDir' | 'shared'>): Promise<void> {
  await underPublishingLock(store, byHand, async (confirmLock) => {
    await shared?.releases.pull()
    await confirmLock()
    await shared?.releases.push(null)
    await removeLiveLink(releaseFolder(feedsDir))
  })
}

async function findMoved(deps: OperateDeps, id: string): Promise<ReadableRelease | undefined> {
  const row = await findRelease(deps.store.db, id)
  return row?.state === 'held' ? await createReleaseReader(deps.feedsDir).byId(id) : undefined
}

async function newestPublished(deps: OperateDeps, live: ReadableRelease | undefined): Promise<number> {
  const rollback = await findStandingRollback(deps.store.db)
  return Math.max(live?.manifest.run ?? 0, rollback ? runOfRelease(rollback.otherId) : 0)
}

function wouldVanish(id: string, { count, sample }: Sample): ServiceError {
  const named = `${sample.join(', ')}${count > sample.length ? ', ...' : ''}`
  return new ServiceError(
    'release-refused',
    `release ${id} lacks ${count} published ${count === 1 ? 'identifier' : 'identifiers'} (${named}): give them up for ever with --accept-loss`,
  )
}
