import { hostname } from 'node:os'
import path from 'node:path'
import { isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { findFact, forgetFact, lockFacts, recordFact } from '../../platform/database/facts.js'
import { folderIdFile, makeFolderId, readFolderId } from '../folder/folder-id.js'
import { listReleaseIds, releaseFolder } from '../folder/release-folder.js'
import type { FolderDeps } from '../publication.js'
import { byHand, underPublishingLock } from '../sql/publishing-lock.js'

/** Where a folder of published files is; a container's or mount's own names. */
export type FolderPlace = { readonly host: string; readonly path: string }

/** The folder that the store publishes into: where it was, and when it was first published into from there. */
export type FolderOfStore = FolderPlace & { readonly id: string; readonly since: string }

/** Undefined before the first publication that records it. */
export async function findFolderOfStore(db: Db): Promise<FolderOfStore | undefined> {
  const text = await findFact(db, 'release-folder')
  return text === undefined ? undefined : (JSON.parse(text) as FolderOfStore)
}

/** The place of this process's folder. */
export function placeOfFolder(feedsDir: string): FolderPlace {
  return { host: hostname(), path: path.resolve(feedsDir) }
}

/** `host:/path`. */
export function describePlace({ host, path }: FolderPlace): string {
  return `${host}:${path}`
}

/** Why this process may not publish into its folder; undefined where it is the store's, or the store has none yet. */
export async function folderRefusal({
  store,
  feedsDir,
}: Pick<FolderDeps, 'store' | 'feedsDir'>): Promise<string | undefined> {
  const known = await findFolderOfStore(store.db)
  if (!known) return undefined
  const folder = releaseFolder(feedsDir)
  const id = await readFolderId(folder)
  if (id === known.id) return undefined
  const place = placeOfFolder(feedsDir)
  const here = describePlace(place)
  const begin = `publishing has stopped on ${place.host}: the store publishes into the folder ${describePlace(known)}, since ${known.since}`
  const use = 'giving releases use-folder --confirm'
  if (id !== undefined) {
    return `${begin}, and ${here} is another one: set GIVING_DATA_DIR to that folder, or make this one the store's (${use})`
  }
  if ((await listReleaseIds(folder.releases)).length > 0) {
    return `${begin}, and ${here} has releases but no file ${folderIdFile} that says it is the same: set GIVING_DATA_DIR to that folder, or make this one the store's (${use})`
  }
  const empty = here === describePlace(known) ? 'which is empty now' : `and ${here} is empty`
  return `${begin}, ${empty}: mount, move or restore that folder here; where it is lost, begin again in this one (${use})`
}

/**
 * Makes this folder the store's where the store has none yet, and notes where the store's is now. Throws `folder-differs`
 * when the store has another one.
 */
export async function claimFolder({ store, feedsDir, clock }: FolderDeps): Promise<void> {
  const known = await findFolderOfStore(store.db)
  const refusal = await folderRefusal({ store, feedsDir })
  if (refusal !== undefined) throw new ServiceError('folder-differs', refusal)
  const { host, path } = placeOfFolder(feedsDir)
  if (known?.host === host && known.path === path) return
  await store.transaction(async (db) => {
    // When two processes begin at once, the second finds the folder that the first has recorded.
    await lockFacts(db)
    const now = await findFolderOfStore(db)
    if (now?.id === known?.id) await record(db, { feedsDir, clock })
  })
  // The second process gets the refusal.
  const late = await folderRefusal({ store, feedsDir })
  if (late !== undefined) throw new ServiceError('folder-differs', late)
}

// A process that has another folder records it again every few minutes while it runs.
const refusedMs = 600_000

/** Notes for all processes that one has another folder. */
export async function recordRefusedFolder(db: Db, message: string, at: Date): Promise<void> {
  await recordFact(db, 'refused-folder', JSON.stringify({ message, at: isoInstantOf(at) }), at)
}

/** Why another process may not publish into its folder, as that process recorded within the last minutes. */
export async function findRefusedFolder(db: Db, now: Date): Promise<string | undefined> {
  const text = await findFact(db, 'refused-folder')
  const { message, at } = JSON.parse(text ?? '{}') as { message?: string; at?: string }
  return at !== undefined && now.getTime() - Date.parse(at) < refusedMs ? message : undefined
}

/** Makes this folder the store's, whichever was. Waits for a publication that is running; throws `server-busy`. */
export async function useFolder({ store, feedsDir, clock }: FolderDeps): Promise<void> {
  await underPublishingLock(store, byHand, async (confirmLock) => {
    await confirmLock()
    await store.transaction((db) => record(db, { feedsDir, clock }))
  })
}

async function record(db: Db, { feedsDir, clock }: Pick<FolderDeps, 'feedsDir' | 'clock'>): Promise<void> {
  const folder = releaseFolder(feedsDir)
  const at = clock()
  // A folder that has an id keeps it: it was moved, restored, or the database is older.
  const id = (await readFolderId(folder)) ?? (await makeFolderId(folder))
  const known: FolderOfStore = { id, ...placeOfFolder(feedsDir), since: isoInstantOf(at) }
  await recordFact(db, 'release-folder', JSON.stringify(known), at)
  await forgetFact(db, 'refused-folder')
}
