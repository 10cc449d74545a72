import { errnoOf } from '../../kernel/system-errors.js'
import { countLiveLeases } from './leases.js'
import { withLock } from './lock.js'
import type { ClusterPlace } from './place.js'
import { findPostmaster } from './postmaster.js'
import { stopServer } from './server.js'

export type StoppableServer = {
  readonly programs: string
  readonly place: ClusterPlace
  readonly folder: { readonly lockDir: string; readonly leaseDir: string }
}

/**
 * Stops a server when no running process has a lease of it; returns whether it did. `release` runs first, inside the lock.
 */
export async function stopUnusedServer(
  { programs, place, folder }: StoppableServer,
  release: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  const stop = async () => {
    if ((await findPostmaster(place.clusterDir)) === undefined) return false
    await stopServer(programs, place)
    return true
  }
  try {
    return await withLock(folder.lockDir, async () => {
      await release()
      return (await countLiveLeases(folder.leaseDir)) === 0 && (await stop())
    })
  } catch (error) {
    // The data directory was removed, and the leases with it.
    if (errnoOf(error) !== 'ENOENT') throw error
    return await stop()
  }
}
