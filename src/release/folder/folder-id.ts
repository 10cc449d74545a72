import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { prepareFolder, type ReleaseFolder, syncToDisk } from './release-folder.js'
import { toStorageError } from './storage-errors.js'

/** The file that says which folder this is; it moves, is copied and is restored with the releases. */
export const folderIdFile = 'folder-id'

/** Undefined where the folder was never published into, or the file is gone. */
export async function readFolderId({ root }: ReleaseFolder): Promise<string | undefined> {
  const file = path.join(root, folderIdFile)
  try {
    return (await ifThere(readFile(file, 'utf8')))?.trim() || undefined
  } catch (error) {
    throw toStorageError(error, file)
  }
}

/** Gives the folder an id, on disk when this returns. Throws `storage-failed`. */
export async function makeFolderId(folder: ReleaseFolder): Promise<string> {
  await prepareFolder(folder)
  const id = randomUUID()
  const file = path.join(folder.root, folderIdFile)
  try {
    await writeFile(`${file}.tmp`, `${id}\n`, { flush: true })
    await rename(`${file}.tmp`, file)
    await syncToDisk(folder.root)
  } catch (error) {
    throw toStorageError(error, file)
  }
  return id
}
