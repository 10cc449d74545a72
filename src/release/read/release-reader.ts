import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, releaseChainPath } from '../../iati/addresses.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere, isErrno } from '../../kernel/system-errors.js'
import { Body } from '../folder/body.js'
import { readParts } from '../folder/joined-file.js'
import { isReleaseId, liveReleaseId, releaseFolder } from '../folder/release-folder.js'
import { type ServedFile, toServedFile } from '../folder/served-file.js'
import { toStorageError } from '../folder/storage-errors.js'
import { findPackedFeed, packPath } from './feed-pack.js'
import type { Manifest, ManifestFile } from './manifest.js'
import { NewestKept } from './newest-kept.js'

/** An immutable release on disk. */
export type ReadableRelease = {
  readonly id: string
  readonly manifest: Manifest
  /** The file at a path of the manifest, the manifest itself, or a project's feed; undefined when there is none. */
  find(path: string): Promise<ServedFile | undefined>
}

export type ReleaseReader = {
  /** The live release; undefined before the first. */
  live(): Promise<ReadableRelease | undefined>
  /** A kept release by id; undefined when it is unknown or was removed. */
  byId(id: string): Promise<ReadableRelease | undefined>
  /** What the publisher signs after each run, `checked.json`; undefined when there is no such file. */
  checked(): Promise<ServedFile | undefined>
}

const jsonMediaType = 'application/json; charset=utf-8'
const atomMediaType = 'application/atom+xml; charset=utf-8'
const projectFeedPattern = /^\/feeds\/projects\/([1-9]\d{0,15})\/reports\.atom$/
// Manifests kept in memory; releases are immutable, so an entry is never stale.
const cachedReleases = 8

/** Reads releases from the folder of published files. Throws `release-corrupt` when a release has no manifest. */
export function createReleaseReader(feedsDir: string): ReleaseReader {
  const folder = releaseFolder(feedsDir)
  const cache = new NewestKept<ReadableRelease>(cachedReleases)

  const opened = async (id: string): Promise<ReadableRelease | undefined> => {
    const directory = join(folder.releases, id)
    try {
      return await ifThere(cache.get(id, () => openRelease(directory, id)))
    } catch (error) {
      throw toStorageError(error, directory, 'read')
    }
  }

  const byId = async (id: string): Promise<ReadableRelease | undefined> => {
    if (!isReleaseId(id)) return undefined
    // It may have been removed since it was opened.
    if (cache.has(id) && !(await isReleaseThere(join(folder.releases, id)))) return undefined
    return await opened(id)
  }

  return {
    byId,
    checked: () => jsonFile(folder.checked),
    live: async () => {
      const id = await liveReleaseId(folder)
      if (id === undefined) return undefined
      // The live release is not removed: what was opened is not looked for again.
      const release = await opened(id)
      if (!release) throw new ServiceError('release-corrupt', `release ${id} is live but has no manifest`)
      return release
    },
  }
}

/** Whether the directory has a release: its manifest is there. */
export async function isReleaseThere(directory: string): Promise<boolean> {
  try {
    await stat(join(directory, 'manifest.json'))
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** The held release with this id; undefined when there is none. */
export async function findHeldRelease(feedsDir: string, id: string): Promise<ReadableRelease | undefined> {
  const directory = join(releaseFolder(feedsDir).held, id)
  return isReleaseId(id) && (await isReleaseThere(directory)) ? await openRelease(directory, id) : undefined
}

async function openRelease(directory: string, id: string): Promise<ReadableRelease> {
  const file = join(directory, 'manifest.json')
  const text = await readFile(file)
  const manifest = JSON.parse(text.toString('utf8')) as Manifest
  const files = new Map(manifest.files.map((file) => [file.path, file]))
  const manifestFile: ServedFile = {
    mediaType: jsonMediaType,
    sha256: hash('sha256', text),
    lastModified: new Date(manifest.generated),
    identity: new Body([{ path: file, offset: 0, length: text.length }]),
  }
  const { joined } = await readParts(directory)
  const chainFile = await jsonFile(join(directory, releaseChainPath), manifestFile.lastModified)
  // A joined file has a place on the disk for each of its parts, and every page asks for some.
  const served = new Map<string, ServedFile>()
  const servedAt = (path: string, file: ManifestFile) => {
    const known = served.get(path) ?? toServedFile(directory, path, file, joined[path])
    served.set(path, known)
    return known
  }
  return {
    id,
    manifest,
    find: async (path) => {
      if (path === manifestPath) return manifestFile
      if (path === releaseChainPath) return chainFile
      const file = files.get(path)
      if (file) return servedAt(path, file)
      const projectId = projectFeedPattern.exec(path)?.[1]
      if (projectId === undefined || manifest.projectFeeds.count === 0) return undefined
      const entry = await findPackedFeed(directory, Number(projectId))
      return (
        entry && {
          mediaType: atomMediaType,
          sha256: entry.sha256,
          lastModified: entry.lastModified,
          identity: new Body([{ path: join(directory, packPath), offset: entry.offset, length: entry.length }]),
        }
      )
    },
  }
}

/** A small JSON file that no manifest names; undefined when there is none. */
async function jsonFile(file: string, lastModified?: Date): Promise<ServedFile | undefined> {
  const text = await ifThere(readFile(file))
  const modified = lastModified ?? (await ifThere(stat(file)))?.mtime
  if (text === undefined || modified === undefined) return undefined
  return {
    mediaType: jsonMediaType,
    sha256: hash('sha256', text),
    lastModified: modified,
    identity: new Body([{ path: file, offset: 0, length: text.length }]),
  }
}
