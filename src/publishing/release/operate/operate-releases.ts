import { ServiceError } from '../../../domain/errors.js'
import {
  loadCarried,
  missingFromCarried,
  recordCarriedIdentifiers,
} from '../../../store/publication/published-identifiers.js'
import {
  findRelease,
  findReleases,
  findStandingRollback,
  forgetRollback,
  listReleaseEvents,
  type ReleaseEvent,
  recordLiveRelease,
  recordReleaseEvent,
} from '../../../store/publication/releases.js'
import { underPublishingLock } from '../../folder/publishing-lock.js'
import {
  listReleaseIds,
  moveHeldToReleases,
  releaseFolder,
  runOfRelease,
  switchLiveRelease,
} from '../../folder/release-folder.js'
import type { FolderDeps, OperateDeps } from '../../publication.js'
import { identifiersOf } from '../read/release-contents.js'
import { createReleaseReader, findHeldRelease, type ReadableRelease } from '../read/release-reader.js'
import { tidy } from './housekeeping.js'
import { reconcile } from './reconcile.js'

/** A release on disk, as lists show it. */
export type KnownRelease = {
  readonly id: string
  /** `unfinished`: written, but its run was interrupted before it went live. */
  readonly state: 'live' | 'superseded' | 'held' | 'unfinished'
  readonly generated: string
  readonly activities: number
  readonly bytes: number
  /** Activities held in it. */
  readonly held: number
  /** Why the release is or was held. */
  readonly reason?: string
}

/** All releases on disk, newest first. */
export async function listReleases(deps: FolderDeps): Promise<KnownRelease[]> {
  const folder = releaseFolder(deps.feedsDir)
  const reader = createReleaseReader(deps.feedsDir)
  const live = (await reader.live())?.id
  const kept = await listReleaseIds(folder.releases)
  const held = await listReleaseIds(folder.held)
  const rows = new Map((await findReleases(deps.store.db, [...kept, ...held])).map((row) => [row.id, row]))
  const known: KnownRelease[] = []
  for (const id of [...kept, ...held]) {
    const release = (await reader.byId(id)) ?? (await findHeldRelease(deps.feedsDir, id))
    if (!release) continue
    const row = rows.get(id)
    const state = held.includes(id) ? 'held' : id === live ? 'live' : row ? 'superseded' : 'unfinished'
    known.push({ ...describe(release), state, ...(row?.reason !== undefined && { reason: row.reason }) })
  }
  return known.sort((a, b) => runOfRelease(b.id) - runOfRelease(a.id))
}

/** A release on disk with its manifest and history. Throws `not-found`. */
export async function getRelease(
  deps: FolderDeps,
  id: string,
): Promise<{ release: ReadableRelease; known: KnownRelease; events: ReleaseEvent[] }> {
  const release = await findOnDisk(deps.feedsDir, id)
  const known = (await listReleases(deps)).find((one) => one.id === id)
  if (!release || !known) throw unknownRelease(id)
  return { release, known, events: await listReleaseEvents(deps.store.db, id) }
}

/** The release, held or not. Throws `not-found`. */
export async function openAnyRelease(feedsDir: string, id: string): Promise<ReadableRelease> {
  const release = await findOnDisk(feedsDir, id)
  if (!release) throw unknownRelease(id)
  return release
}

/** Identifiers that were published before and that a release lacks. */
export type Missing = { readonly count: number; readonly sample: readonly string[] }

/**
 * Makes a held release live exactly as it was built. Throws `not-found` for one that is not held, `release-refused` when
 * a newer release is live, or when published identifiers would vanish and `acceptLoss` is false; with it they are given
 * up for ever.
 */
export async function approveRelease(
  deps: OperateDeps,
  id: string,
  { acceptLoss }: { readonly acceptLoss: boolean },
): Promise<{ release: string; previous: string | undefined; withdrawn: number }> {
  const folder = releaseFolder(deps.feedsDir)
  return await underPublishingLock(deps.store, byHand, async (confirmLock) => {
    const { live } = await reconcile(deps)
    const held = await findHeldRelease(deps.feedsDir, id)
    // An approval that was interrupted between moving the release and switching to it is taken up again.
    const moved = held ? undefined : await findMoved(deps, id)
    const release = held ?? moved
    if (!release) throw new ServiceError('not-found', `no release ${id} is held: see giving releases list`)
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
      // Before the switch: a crash in between can only promise too much, or give up what is about to go.
      await recordCarriedIdentifiers(db, id, at)
      return found
    })
    await confirmLock()
    if (held) await moveHeldToReleases(folder, id)
    await switchLiveRelease(folder, id)
    const { manifest } = release
    const row = { id, runId: manifest.run, generatedAt: new Date(manifest.generated), manifest }
    await deps.store.transaction((db) => recordLiveRelease(db, row, { event: 'approved', at }))
    await tidy(deps)
    return { release: id, previous: live?.id, withdrawn: missing.count }
  })
}

/**
 * Puts an earlier release, which is still kept, in the place of the live one. It stays until a run has content that the
 * release taken down did not have. Throws `not-found`, or `release-refused` when it is live already.
 */
export async function rollbackRelease(
  deps: OperateDeps,
  id: string,
): Promise<{ release: string; from: string; missing: Missing }> {
  const folder = releaseFolder(deps.feedsDir)
  return await underPublishingLock(deps.store, byHand, async (confirmLock) => {
    const { live, rolledBackFrom } = await reconcile(deps)
    const target = await createReleaseReader(deps.feedsDir).byId(id)
    const row = await findRelease(deps.store.db, id)
    if (!target || !row || row.state === 'held') {
      throw new ServiceError('not-found', `release ${id} is not kept, or never was live: see giving releases list`)
    }
    if (!live || live.id === id) throw new ServiceError('release-refused', `release ${id} is live already`)
    // Rolled back twice: what counts is the content that was taken down first, the newest.
    const from = rolledBackFrom !== undefined && rolledBackFrom !== id ? rolledBackFrom : live.id
    const missing = await deps.store.transaction(async (db) => {
      await loadCarried(db, identifiersOf(target))
      return await missingFromCarried(db)
    })
    await confirmLock()
    const at = deps.clock()
    // Noted first: a run that comes after a crash finishes the rollback instead of undoing it.
    await recordReleaseEvent(deps.store.db, { releaseId: id, event: 'rolled-back', otherId: from, at })
    try {
      await switchLiveRelease(folder, id)
    } catch (error) {
      await forgetRollback(deps.store.db, id)
      throw error
    }
    await reconcile(deps)
    return { release: id, from: live.id, missing }
  })
}

// A person waits at the terminal: no longer than this for a publication that is going on.
const byHand = { patienceMs: 60_000, onTimeout: 'refuse' } as const

function describe({ id, manifest }: ReadableRelease): Omit<KnownRelease, 'state'> {
  return {
    id,
    generated: manifest.generated,
    activities: manifest.totals.activities,
    bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    held: manifest.held.count,
  }
}

async function findOnDisk(feedsDir: string, id: string): Promise<ReadableRelease | undefined> {
  return (await createReleaseReader(feedsDir).byId(id)) ?? (await findHeldRelease(feedsDir, id))
}

async function findMoved(deps: OperateDeps, id: string): Promise<ReadableRelease | undefined> {
  const row = await findRelease(deps.store.db, id)
  return row?.state === 'held' ? await createReleaseReader(deps.feedsDir).byId(id) : undefined
}

async function newestPublished(deps: OperateDeps, live: ReadableRelease | undefined): Promise<number> {
  const rollback = await findStandingRollback(deps.store.db)
  return Math.max(live?.manifest.run ?? 0, rollback ? runOfRelease(rollback.otherId) : 0)
}

function unknownRelease(id: string): ServiceError {
  return new ServiceError('not-found', `there is no release ${id.slice(0, 64)}: see giving releases list`)
}

function wouldVanish(id: string, { count, sample }: Missing): ServiceError {
  const named = `${sample.join(', ')}${count > sample.length ? ', ...' : ''}`
  return new ServiceError(
    'release-refused',
    `release ${id} lacks ${count} published ${count === 1 ? 'identifier' : 'identifiers'} (${named}): give them up for ever with --accept-loss`,
  )
}
