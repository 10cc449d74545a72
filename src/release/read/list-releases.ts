import { ServiceError } from '../../kernel/errors.js'
import { listReleaseIds, releaseFolder, runOfRelease } from '../folder/release-folder.js'
import type { FolderDeps } from '../publication.js'
import { findReleases, listReleaseEvents, type ReleaseEvent } from '../sql/releases.js'
import { ActivityIndex } from './activity-index.js'
import type { IndexedRelease } from './changed-elements.js'
import { createReleaseReader, findHeldRelease, type ReadableRelease } from './release-reader.js'

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

/** The same with its index, where it has one. Throws `not-found`. */
export async function openIndexedRelease(feedsDir: string, id: string): Promise<IndexedRelease> {
  const release = await openAnyRelease(feedsDir, id)
  return { release, index: await ActivityIndex.read(release) }
}

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

function unknownRelease(id: string): ServiceError {
  return new ServiceError('not-found', `there is no release ${id.slice(0, 64)}: see giving releases list`)
}
