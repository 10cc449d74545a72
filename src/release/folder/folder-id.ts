import { randomUUID } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { prepareFolder, type ReleaseFolder, syncDirectory } from './release-folder.js'
import { isErrno, toStorageError } from './storage-errors.js'

/** The file that says which folder this is; it moves, is copied and is restored with the releases. */
export const folderIdFile = 'folder-id'

/** Undefined where the folder was never published into, or the file is gone. */
export async function readFolderId({ root }: ReleaseFolder): Promise<string | undefined> {
  const file = path.join(root, folderIdFile)
  try {
    return (await readFile(file, 'utf8')).trim() || undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw toStorageError(error, file)
  }
}

/** Gives the folder an id, on disk when this returns. Throws `storage-failed`. */
export async function makeFolderId(folder: ReleaseFolder): Promise<string> {
  await prepareFolder(folder)
  const id = randomUUID()
  const file = path.join(folder.root, folderIdFile)
  try {
    const handle = await open(`${file}.tmp`, 'w')
    try {
      await handle.writeFile(`${id}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(`${file}.tmp`, file)
    await syncDirectory(folder.root)
  } catch (error) {
    throw toStorageError(error, file)
  }
  return id
}
