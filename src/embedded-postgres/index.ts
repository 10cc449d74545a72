import { basename, dirname } from 'node:path'
import { Client } from 'pg'
import { isRoot } from './account.js'
import { getServerPackage, openServerPrograms, removeLeftovers } from './binaries.js'
import { createCluster, databaseName, resetPassword } from './cluster.js'
import { errnoOf, incompatible, toOpenError, unavailable } from './failures.js'
import { guardServer } from './guard.js'
import { countLiveLeases, dropLease, takeLease } from './leases.js'
import { withLock } from './lock.js'
import { checkCluster, findPlace, openSystemDir, type Place, systemDir } from './place.js'
import { findPostmaster } from './postmaster.js'
import { type LauncherFolder, openLauncherFolder, saveRecord } from './record.js'
import { openServer, stopServer } from './server.js'
import { stopUnusedServer } from './unused-server.js'

/** A PostgreSQL server of our own that is ready for connections, and this process's share in it. */
export type EmbeddedPostgres = {
  /** `postgres://giving:<password>@127.0.0.1:<port>/giving`; a secret. */
  readonly url: string
  /** Where the cluster is; the server's own log is `server.log` in it. */
  readonly clusterDir: string
  /** Whether this process joined a server that another process had started. */
  readonly joined: boolean
  /**
   * Gives this process's share back; the last one out stops the server and waits until it is down. Calling it again
   * does nothing more. When a process ends without it, a guard stops the server a few seconds later if it was the last.
   */
  release(): Promise<void>
}

/**
 * Opens the PostgreSQL server of a data directory: joins it when it runs (also when all who used it were killed),
 * otherwise starts it, and makes it at the first time. Any number of processes of one machine may do this at once.
 *
 * A data directory belongs to one machine (and, in containers, to one at a time): processes find each other by
 * process id.
 *
 * @throws ServiceError `database-unavailable` when it cannot be started or reached, `database-incompatible` when its
 * data was made by another major version of PostgreSQL or is not UTF-8.
 */
export async function openEmbeddedPostgres(options: {
  readonly dataDir: string
  readonly log?: (message: string) => void
}): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined)
  try {
    const folder = await openLauncherFolder(options.dataDir)
    return await withLock(folder.lockDir, () => openInsideLock(folder, log))
  } catch (error) {
    throw toOpenError(error, options.dataDir)
  }
}

async function openInsideLock(folder: LauncherFolder, log: (message: string) => void): Promise<EmbeddedPostgres> {
  const from = await getServerPackage()
  const place = await findPlace(folder)
  if (isRoot()) await openSystemDir()
  const programs = await openServerPrograms(from, isRoot() ? systemDir : folder.dir, isRoot())

  await removeLeftovers(dirname(place.clusterDir), basename(place.clusterDir))
  if (place.exists) {
    await checkCluster(place, from.major)
    if (place.passwordLost) {
      await stopServer(programs, place)
      await resetPassword(programs, place)
    }
    await saveRecord(folder, place.record)
  } else {
    log(`making a new database in ${place.clusterDir}`)
    // The record first: a cluster without its password would be of no use.
    await saveRecord(folder, place.record)
    await createCluster(programs, place)
  }

  const others = await countLiveLeases(folder.leaseDir)
  const endGuard = guardServer({ programs, place, folder })
  try {
    const { port, joined, url } = await connectServer(programs, place)
    if (port !== place.record.port) await saveRecord(folder, { ...place.record, port })
    const lease = await takeLease(folder.leaseDir)
    log(`${joined ? 'joined' : 'started'} PostgreSQL ${from.major} on 127.0.0.1:${port}, data in ${place.clusterDir}`)
    let released: Promise<void> | undefined
    return {
      url,
      clusterDir: place.clusterDir,
      joined,
      release: () => {
        released ??= releaseLease(folder, lease, programs, place, log).finally(endGuard)
        return released
      },
    }
  } catch (error) {
    endGuard()
    if (others === 0) await stopServer(programs, place)
    throw error
  }
}

/** Opens the server and tries it; a server that was killed at that very moment is opened once more. */
async function connectServer(programs: string, place: Place) {
  for (let attempt = 1; ; attempt += 1) {
    const { port, joined } = await openServer(programs, place)
    const url = `postgres://${databaseName}:${place.record.password}@127.0.0.1:${port}/${databaseName}`
    const tried = await findPostmaster(place.clusterDir)
    try {
      await checkConnection(url, place.clusterDir)
      return { port, joined, url }
    } catch (error) {
      const now = await findPostmaster(place.clusterDir)
      if (attempt === 3 || (now !== undefined && now.pid === tried?.pid)) throw error
    }
  }
}

async function checkConnection(url: string, clusterDir: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 15_000,
    application_name: 'giving launcher',
  })
  // A connection that breaks later than the answer is of no interest here.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
    const encoding = rows[0]?.server_encoding
    if (encoding !== 'UTF8') throw incompatible(`The database in ${clusterDir} has the encoding ${encoding}, not UTF8.`)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw unavailable(`The PostgreSQL server of ${clusterDir} runs but refuses us: ${reason}.`, error)
  } finally {
    await client.end()
  }
}

async function releaseLease(
  folder: LauncherFolder,
  lease: string,
  programs: string,
  place: Place,
  log: (message: string) => void,
): Promise<void> {
  try {
    const stopped = await stopUnusedServer({ programs, place, folder }, () => dropLease(lease))
    if (stopped) log(`stopped PostgreSQL, data in ${place.clusterDir}`)
  } catch (error) {
    throw toOpenError(error, folder.dataDir)
  }
}
