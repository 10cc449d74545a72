import { mkdir, open, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { ServiceError } from '../domain/errors.js'

/**
 * Where releases live. The rename of the link `current` is the one commit point (architecture 2.3):
 *
 *     releases/{id}/manifest.json, iati/..., feeds/...   immutable
 *     current -> releases/{id}                           the live release
 *     drafts/{id}/                                       being written; a dead writer's draft is swept away
 *     held/{id}/                                         complete, waiting for the operator
 */
export type ReleaseFolder = {
  readonly root: string
  readonly releases: string
  readonly drafts: string
  readonly held: string
  readonly current: string
}

export function releaseFolder(feedsDir: string): ReleaseFolder {
  return {
    root: feedsDir,
    releases: path.join(feedsDir, 'releases'),
    drafts: path.join(feedsDir, 'drafts'),
    held: path.join(feedsDir, 'held'),
    current: path.join(feedsDir, 'current'),
  }
}

const releaseIdPattern = /^\d{8}T\d{6}Z-\d+$/

/** True for text that can be a release id; anything else never reaches the file system. */
export function isReleaseId(text: string): boolean {
  return releaseIdPattern.test(text)
}

/** `20261121T020000Z-17`: the run's time and number. */
export function newReleaseId(run: { readonly id: number; readonly startedAt: Date }): string {
  return `${run.startedAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${run.id}`
}

/** The id of the live release; undefined before the first one. */
export async function liveReleaseId(folder: ReleaseFolder): Promise<string | undefined> {
  try {
    const id = path.basename(await readlink(folder.current))
    return isReleaseId(id) ? id : undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw toStorageError(error, folder.current)
  }
}

/** Makes a complete, synced release directory the live one: one rename, then the directory entry is synced. */
export async function switchLiveRelease(folder: ReleaseFolder, id: string): Promise<void> {
  const link = `${folder.current}.${process.pid}.tmp`
  await rm(link, { force: true })
  await symlink(path.join('releases', id), link)
  await rename(link, folder.current)
  await syncDirectory(folder.root)
}

/** Creates the folders; throws `storage-failed` with the reason when that is not possible. */
export async function prepareFolder(folder: ReleaseFolder): Promise<void> {
  try {
    for (const directory of [folder.releases, folder.drafts, folder.held]) await mkdir(directory, { recursive: true })
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

/**
 * Removes drafts (the caller holds the publishing lock, so their writers are dead) and releases that are neither among
 * the newest `keep` nor younger than 48 hours nor live. Returns the ids removed.
 */
export async function sweep(folder: ReleaseFolder, keep: number, now: Date): Promise<string[]> {
  for (const draft of await readdir(folder.drafts)) await rm(path.join(folder.drafts, draft), { recursive: true })
  const live = await liveReleaseId(folder)
  const ids = (await readdir(folder.releases)).filter(isReleaseId)
  const ages = await Promise.all(
    ids.map(async (id) => ({ id, madeAt: (await stat(path.join(folder.releases, id, 'manifest.json'))).mtimeMs })),
  )
  ages.sort((a, b) => b.madeAt - a.madeAt)
  const removable = ages.slice(keep).filter(({ id, madeAt }) => id !== live && now.getTime() - madeAt > 48 * 3_600_000)
  for (const { id } of removable) await rm(path.join(folder.releases, id), { recursive: true })
  return removable.map(({ id }) => id)
}

/** Flushes a directory's entries to the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** True when the error is that errno. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

const storageReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EIO: 'the disk reports an input/output error',
  EMFILE: 'too many files are open',
}

/** One clear sentence for a file system failure, as `storage-failed`; other errors are returned as they are. */
export function toStorageError(error: unknown, where: string): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError || !('code' in error)) return error
  const reason = storageReasons[String(error.code)]
  if (!reason) return error
  return new ServiceError('storage-failed', `cannot write to ${where}: ${reason}`, { cause: error })
}
