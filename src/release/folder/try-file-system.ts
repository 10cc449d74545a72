import { link, mkdtemp, open, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { syncToDisk } from './release-folder.js'
import { toStorageError } from './storage-errors.js'

type Operation = 'link' | 'symlink' | 'rename' | 'fsync'

/** The operations of publishing that the file system of a directory refuses, each with the failure. Leaves nothing behind. */
export async function findMissingOperations(
  directory: string,
): Promise<readonly { readonly operation: Operation; readonly error: unknown }[]> {
  const folder = await mkdtemp(path.join(directory, 'trial-')).catch((error: unknown) => {
    throw toStorageError(error, directory)
  })
  const at = (name: string) => path.join(folder, name)
  const trials: Readonly<Record<Operation, () => Promise<void>>> = {
    link: () => link(at('file'), at('link')),
    symlink: () => symlink('file', at('symlink')),
    rename: () => rename(at('file'), at('renamed')),
    fsync: async () => {
      const handle = await open(at('synced'), 'w')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
      await syncToDisk(folder)
    },
  }
  const missing: { operation: Operation; error: unknown }[] = []
  try {
    await writeFile(at('file'), '')
    for (const operation of ['link', 'symlink', 'rename', 'fsync'] as const) {
      await trials[operation]().catch((error: unknown) => void missing.push({ operation, error }))
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return missing
}
