import { mkdir, open, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { ServiceError } from '../../domain/errors.js'

/**
 * Where releases live. The rename of the link `current` is the one commit point (architecture.md 2.3):
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

/** The run that made a release: the number at the end of its id, which orders releases whatever the clocks said. */
export function runOfRelease(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1))
}

/**
 * Makes a complete, synced release directory the live one: one rename, then the directory entry is synced. Throws
 * `storage-failed`.
 */
export async function switchLiveRelease(folder: ReleaseFolder, id: string): Promise<void> {
  const link = `${folder.current}.${process.pid}.tmp`
  try {
    await rm(link, { force: true })
    await symlink(path.join('releases', id), link)
    await rename(link, folder.current)
    await syncDirectory(folder.root)
  } catch (error) {
    throw toStorageError(error, folder.current)
  }
}

/** Creates the folders; throws `storage-failed` with the reason when that is not possible. */
export async function prepareFolder(folder: ReleaseFolder): Promise<void> {
  try {
    for (const directory of [folder.releases, folder.drafts, folder.held]) await makeDirectory(directory)
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

/** Makes a directory and its parents. Node's own recursive way says ENOENT where the file system is read-only. */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return
    if (!isErrno(error, 'ENOENT') || path.dirname(directory) === directory) throw error
    await makeDirectory(path.dirname(directory))
    await makeDirectory(directory)
  }
}

// How long a release stays readable after it was superseded, and a held one after a newer release went live.
const graceMs = 48 * 3_600_000
// Held releases that are kept for a look; older ones have been overtaken by them.
const maxHeld = 3

/** What the sweep must leave: `keep` newest releases, and these by name. */
export type SweepOptions = { readonly keep: number; readonly now: Date; readonly needed: readonly string[] }

/**
 * Removes what nobody needs any more, as docs/operations.md states: drafts (the caller holds the publishing lock, so
 * their writers are dead), superseded releases, held releases that were overtaken. Returns the ids of removed releases.
 */
export async function sweep(
  folder: ReleaseFolder,
  options: SweepOptions,
): Promise<{ released: string[]; held: string[] }> {
  try {
    for (const draft of await readdir(folder.drafts)) {
      await rm(path.join(folder.drafts, draft), { recursive: true, force: true })
    }
    for (const name of await readdir(folder.root)) {
      // A link that was made but not renamed.
      if (/^current\.\d+\.tmp$/.test(name)) await rm(path.join(folder.root, name), { force: true })
    }
    const live = await liveReleaseId(folder)
    const released = await removableReleases(folder, options, live)
    for (const id of released) await rm(path.join(folder.releases, id), { recursive: true, force: true })
    const held = await removableHeld(folder, options.now, live)
    for (const id of held) await rm(path.join(folder.held, id), { recursive: true, force: true })
    return { released, held }
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

async function removableReleases(folder: ReleaseFolder, options: SweepOptions, live?: string): Promise<string[]> {
  const releases = await listReleaseIds(folder.releases)
  const removable: string[] = []
  for (const [index, id] of releases.entries()) {
    const successor = releases[index - 1]
    if (index < options.keep || id === live || options.needed.includes(id) || !successor) continue
    if (options.now.getTime() - (await madeAt(folder.releases, successor)) > graceMs) removable.push(id)
  }
  return removable
}

async function removableHeld(folder: ReleaseFolder, now: Date, live?: string): Promise<string[]> {
  const held = await listReleaseIds(folder.held)
  if (live === undefined) return held.slice(maxHeld)
  const liveSince = now.getTime() - (await madeAt(folder.releases, live))
  return held.filter((id, index) => index >= maxHeld || (runOfRelease(id) < runOfRelease(live) && liveSince > graceMs))
}

/** The releases in a directory, newest first: by run, since a clock may have been set back. */
export async function listReleaseIds(directory: string): Promise<string[]> {
  try {
    const ids = (await readdir(directory)).filter(isReleaseId)
    return ids.sort((a, b) => runOfRelease(b) - runOfRelease(a))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw toStorageError(error, directory)
  }
}

/** Epoch milliseconds; 0 for a directory whose removal was broken off. */
async function madeAt(directory: string, id: string): Promise<number> {
  try {
    return (await stat(path.join(directory, id, 'manifest.json'))).mtimeMs
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0
    throw error
  }
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
  ENOTDIR: 'something that is not a folder is in the way',
  EMFILE: 'too many files are open',
}

/** One clear sentence for a file system failure, as `storage-failed`; other errors are returned as they are. */
export function toStorageError(error: unknown, where: string): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError || !('code' in error)) return error
  const reason = storageReasons[String(error.code)]
  if (!reason) return error
  return new ServiceError('storage-failed', `cannot write to ${where}: ${reason}`, { cause: error })
}
