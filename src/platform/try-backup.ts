import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Restored, type Restoring, restoreBackup } from './database/restore.js'
import { openStore } from './database/store.js'
import { openEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js'

/**
 * Restores a backup into a server that is made for it and removed: it is whole and fits the schema. Throws what
 * `restoreBackup` throws, and `database-unavailable` where no server can be started.
 */
export async function tryBackup(file: string, restoring: Restoring): Promise<Restored> {
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
