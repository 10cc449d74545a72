import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import type { WrittenFile } from '../../release/bytes/file-writer.js'
import { type FolderParts, readParts } from '../../release/folder/joined-file.js'
import {
  listReleaseIds,
  liveReleaseId,
  type ReleaseFolder,
  releaseFolder,
} from '../../release/folder/release-folder.js'
import { toServedFile } from '../../release/folder/served-file.js'
import type { BulkFileName } from './sql/bulk-texts.js'

/** The bulk files of one day. Their addresses contain the token, which nobody can guess. */
export type BulkSet = {
  readonly id: string
  readonly token: string
  readonly files: readonly BulkFile[]
  /** The IATI identifier of the publisher whose run built it. */
  readonly publisher?: string
}

export type BulkFile = WrittenFile & {
  readonly name: BulkFileName
  readonly records: number
  /** Names the records: equal fingerprints mean the same bytes. */
  readonly fingerprint: string
  /** When these bytes were first written. */
  readonly lastModified: string
}

/** Folder of the bulk files: sets of files, laid out as releases are. */
export function bulkFolder(feedsDir: string): ReleaseFolder {
  return releaseFolder(join(feedsDir, 'bulk'))
}

/** Inside a set's directory. */
export function pathInSet(name: BulkFileName): string {
  return `/${name}.xml`
}

/** Public path of a file of a set. */
export function bulkPath(set: BulkSet, name: BulkFileName): string {
  return `/feeds/bulk/${set.token}${pathInSet(name)}`
}

/** Finds the published bulk files on disk. */
export function createBulkReader(feedsDir: string) {
  const folder = bulkFolder(feedsDir)
  // A set never changes, and what it says of its blocks takes milliseconds to read.
  let known: { readonly directory: string; readonly parts: Promise<FolderParts> } | undefined
  const partsOf = async (directory: string) => {
    if (known?.directory !== directory) known = { directory, parts: readParts(directory) }
    return await known.parts
  }
  return {
    /** The newest set; undefined before the first. */
    current: async () => await currentBulkSet(folder),
    /** A file of a kept set by its path; undefined when there is none. */
    find: async (token: string, fileName: string) => {
      for (const id of await listReleaseIds(folder.releases)) {
        const set = await readSet(folder, id)
        if (set?.token !== token) continue
        const file = set.files.find(({ name }) => `${name}.xml` === fileName)
        if (!file) return undefined
        const directory = join(folder.releases, id)
        const path = pathInSet(file.name)
        const { joined } = await partsOf(directory)
        return { set: id, file: toServedFile(directory, path, { ...file, mediaType: 'application/xml' }, joined[path]) }
      }
      return undefined
    },
  }
}

/** The newest set of a folder; undefined before the first. */
export async function currentBulkSet(folder: ReleaseFolder): Promise<BulkSet | undefined> {
  const id = await liveReleaseId(folder)
  return id === undefined ? undefined : await readSet(folder, id)
}

async function readSet(folder: ReleaseFolder, id: string): Promise<BulkSet | undefined> {
  // It may have been removed since it was listed.
  const text = await ifThere(readFile(join(folder.releases, id, 'manifest.json'), 'utf8'))
  return text === undefined ? undefined : (JSON.parse(text) as BulkSet)
}
