import { chmod, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { ifThere, isErrno } from '../../kernel/system-errors.js'
import { toStorageError } from './storage-errors.js'

/**
 * Where releases live. The rename of the link `current` is the one commit point (architecture.md 2.3):
 *
 *     releases/{id}/manifest.json, iati/..., feeds/...   immutable
 *     current -> releases/{id}                           the live release
 *     drafts/{id}/                                       being written; drafts of dead writers are removed
 *     held/{id}/                                         complete, waiting for the operator
 *     checked.json                                       the signed word that the live release is up to date
 *     folder-id                                          which folder this is (docs/reference/files.md)
 *     followed.json                                      when a copy of a bucket's folder was compared with it
 *     database-seen                                      the newest primary that processes of this folder have seen
 */
export type ReleaseFolder = {
  readonly root: string
  readonly releases: string
  readonly drafts: string
  readonly held: string
  readonly current: string
  readonly checked: string
  readonly followed: string
}

export function releaseFolder(feedsDir: string): ReleaseFolder {
  return {
    root: feedsDir,
    releases: path.join(feedsDir, 'releases'),
    drafts: path.join(feedsDir, 'drafts'),
    held: path.join(feedsDir, 'held'),
    current: path.join(feedsDir, 'current'),
    checked: path.join(feedsDir, 'checked.json'),
    followed: path.join(feedsDir, 'followed.json'),
  }
}

const releaseIdPattern = /^\d{8}T\d{6}Z-\d+$/

/** Text from outside is checked by this before it becomes part of a path. */
export function isReleaseId(text: string): boolean {
  return releaseIdPattern.test(text)
}

/** `20261121T020000Z-17`: the run's time and number. */
export function newReleaseId(run: { readonly id: number; readonly startedAt: Date }): string {
  return `${run.startedAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${run.id}`
}

/** The id of the live release; undefined before the first. */
export async function liveReleaseId(folder: ReleaseFolder): Promise<string | undefined> {
  try {
    const id = path.basename((await ifThere(readlink(folder.current))) ?? '')
    return isReleaseId(id) ? id : undefined
  } catch (error) {
    throw toStorageError(error, folder.current)
  }
}

/** When a folder was last compared with the bucket that it is a copy of; undefined where it never was. */
export async function lastFollowed({ followed }: ReleaseFolder): Promise<Date | undefined> {
  const text = await ifThere(readFile(followed, 'utf8'))
  return text === undefined ? undefined : new Date((JSON.parse(text) as { at: string }).at)
}

/** The run that made a release. Releases are ordered by it, not by time: a clock may have been set back. */
export function runOfRelease(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1))
}

/** Makes a complete, synced release the live one by one rename. Throws `storage-failed`. */
export async function switchLiveRelease(folder: ReleaseFolder, id: string): Promise<void> {
  const link = `${folder.current}.${process.pid}.tmp`
  try {
    await rm(link, { force: true })
    await symlink(path.join('releases', id), link)
    await rename(link, folder.current)
    await syncToDisk(folder.root)
  } catch (error) {
    throw toStorageError(error, folder.current)
  }
}

/** Leaves the folder without a live release. Throws `storage-failed`. */
export async function removeLiveLink(folder: ReleaseFolder): Promise<void> {
  try {
    await rm(folder.current, { force: true })
    await rm(folder.checked, { force: true })
    await syncToDisk(folder.root)
  } catch (error) {
    throw toStorageError(error, folder.current)
  }
}

/** Creates the folders; only their owner may enter those of unpublished releases. Throws `storage-failed`. */
export async function prepareFolder(folder: ReleaseFolder): Promise<void> {
  try {
    await makeDirectory(folder.releases)
    for (const directory of [folder.drafts, folder.held]) {
      await makeDirectory(directory)
      // The files in them keep their modes, since they become public with their release, and may be hard links to its files.
      await chmod(directory, 0o700)
    }
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

/** Makes a directory and its parents. Node's recursive mkdir reports ENOENT on a read-only file system. */
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

/** The ids of the releases in a directory, newest run first. */
export async function listReleaseIds(directory: string): Promise<string[]> {
  try {
    const ids = ((await ifThere(readdir(directory))) ?? []).filter(isReleaseId)
    return ids.sort((a, b) => runOfRelease(b) - runOfRelease(a))
  } catch (error) {
    throw toStorageError(error, directory)
  }
}

/** Moves a held release to the releases, ready to be made live. Throws `storage-failed`. */
export async function moveHeldToReleases(folder: ReleaseFolder, id: string): Promise<void> {
  try {
    await rename(path.join(folder.held, id), path.join(folder.releases, id))
    await syncToDisk(folder.releases)
    await syncToDisk(folder.held)
  } catch (error) {
    throw toStorageError(error, folder.releases)
  }
}

/** Syncs a file's content, or a directory's entries, to disk. */
export async function syncToDisk(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
