import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServiceError } from '../kernel/errors.js'
import { type Restored, type Restoring, readBackupHeader, restoreBackup } from './database/restore.js'
import { openStore } from './database/store.js'
import { openEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js'

/**
 * Restores a backup into a server that is made for it and removed: it is whole and fits the schema. Throws what
 * `restoreBackup` throws, `storage-failed` where there is no room for the store, and `database-unavailable` where no server
 * can be started.
 */
export async function tryBackup(file: string, restoring: Restoring): Promise<Restored> {
  await needRoom((await readBackupHeader(file)).storeBytes ?? 0)
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-verify-'))
  try {
    const server = await openEmbeddedPostgres({ dataDir })
    try {
      await using store = openStore({ url: server.url, max: 2, applicationName: 'giving verify' })
      return await restoreBackup(store, file, restoring)
    } finally {
      await server.release()
      await rm(server.clusterDir, { recursive: true, force: true })
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

const megabyte = 1024 * 1024

/** A full folder for temporary files would be in the way of everybody who writes there. */
async function needRoom(bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir())
  if (bavail * bsize >= bytes) return
  const [needed, free] = [Math.ceil(bytes / megabyte), Math.floor((bavail * bsize) / megabyte)]
  throw new ServiceError(
    'storage-failed',
    `the store needs ${needed} MB in ${tmpdir()}, which has ${free} MB free: make room, or set TMPDIR to another folder`,
  )
}
