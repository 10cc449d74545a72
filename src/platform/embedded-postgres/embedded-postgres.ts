import { basename, dirname } from 'node:path'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import { errnoOf, messageOf } from '../../kernel/system-errors.js'
import { getServerPackage, openServerPrograms, removeLeftovers } from './binaries.js'
import { createCluster, databaseName, repairRoles, serviceRole } from './cluster.js'
import { incompatible, toOpenError, unavailable } from './failures.js'
import { countLiveLeases, dropLease, takeLease } from './leases.js'
import { withLock } from './lock.js'
import { checkCluster, findPlace, openSystemDir, type Place, systemDir } from './place.js'
import { findPostmaster } from './postmaster.js'
import { openServer, stopServer } from './server.js'
import { guardServer } from './server-guard.js'
import { type LauncherFolder, makePassword, openLauncherFolder, saveRecord } from './server-record.js'
import { isRoot } from './system-user.js'
import { stopUnusedServer } from './unused-server.js'

/** A PostgreSQL server of our own, ready for connections, which this process uses. */
export type EmbeddedPostgres = {
  /** `postgres://giving:<password>@127.0.0.1:<port>/giving`; a secret. */
  readonly url: string
  /** The folder of the cluster; the server logs to `server.log` in it. */
  readonly clusterDir: string
  /** Whether this process joined a server that another process had started. */
  readonly joined: boolean
  /**
   * Ends this process's use of the server; the last process stops it and waits until it is down. Calling it again does
   * nothing. When the last process ends without it, a guard stops the server a few seconds later.
   */
  release(): Promise<void>
}

/**
 * Opens the PostgreSQL server of a data directory: joins it when it runs (also when all processes that used it were
 * killed), otherwise starts it, and makes its cluster the first time. Any number of processes of one machine may do this at
 * once. Processes find each other by process id, so a data directory belongs to one machine, or one container at a time.
 *
 * Throws `aborted` by the signal, `database-unavailable` when it cannot be started or reached, `database-incompatible` when its
 * data was made by another major version of PostgreSQL or is not UTF-8.
 */
export async function openEmbeddedPostgres(options: {
  readonly dataDir: string
  readonly log?: (message: string) => void
  /** Is called when this process begins to wait for programs of PostgreSQL. */
  readonly waits?: () => void
  readonly signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const { log = () => undefined, waits = () => undefined, signal } = options
  try {
    const folder = await openLauncherFolder(options.dataDir)
    return await withLock(folder.lockDir, () => openInsideLock(folder, log, waits, signal))
  } catch (error) {
    throw toOpenError(error, options.dataDir)
  }
}

async function openInsideLock(
  folder: LauncherFolder,
  log: (message: string) => void,
  waits: () => void,
  signal: AbortSignal | undefined,
): Promise<EmbeddedPostgres> {
  refuseAborted(signal, 'the start')
  const from = await getServerPackage()
  const found = await findPlace(folder)
  const others = await countLiveLeases(folder.leaseDir)
  const { adminPassword = makePassword() } = found.record
  // Roles are repaired while the server is down, so not while other processes use it.
  const repaired = found.exists && (found.passwordLost || (found.record.adminPassword === undefined && others === 0))
  const place = repaired || !found.exists ? { ...found, record: { ...found.record, adminPassword } } : found
  if (isRoot()) await openSystemDir()
  const programs = await openServerPrograms(from, isRoot() ? systemDir : folder.dir, isRoot())

  await removeLeftovers(dirname(place.clusterDir), basename(place.clusterDir))
  if (place.exists) {
    await checkCluster(place, from.major)
    if (repaired) {
      // A server that was killed must recover before it can run without clients.
      await openServer(programs, place)
      await stopServer(programs, place)
      await repairRoles(programs, place, adminPassword)
    }
    await saveRecord(folder, place.record)
  } else {
    log(`making a new database in ${place.clusterDir}`)
    // The record first: nobody could use a cluster without its password.
    await saveRecord(folder, place.record)
    const creating = createCluster(programs, place, adminPassword, signal)
    waits()
    await creating
  }
  refuseAborted(signal, 'the start')

  const endGuard = guardServer({ programs, place, folder })
  try {
    const connecting = connectServer(programs, place)
    waits()
    const { port, joined, url } = await connecting
    if (port !== place.record.port) await saveRecord(folder, { ...place.record, port })
    const lease = await takeLease(folder.leaseDir)
    log(
      `${joined ? 'joined the running' : 'started'} PostgreSQL ${from.major} on 127.0.0.1:${port}, data in ${place.clusterDir}`,
    )
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

/** Opens the server and connects to it; opens it again when it was killed in between. */
async function connectServer(programs: string, place: Place) {
  for (let attempt = 1; ; attempt++) {
    const { port, joined } = await openServer(programs, place)
    const url = `postgres://${serviceRole}:${place.record.password}@127.0.0.1:${port}/${databaseName}`
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
  // Loaded here: a first start makes its cluster meanwhile.
  const { Client } = await import('pg')
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 15_000,
    application_name: 'giving launcher',
  })
  // A connection that breaks after the answer does not matter here.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
    const encoding = rows[0]?.server_encoding
    if (encoding !== 'UTF8') throw incompatible(`the database in ${clusterDir} has the encoding ${encoding}, not UTF8`)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    const reason = messageOf(error)
    throw unavailable(`the PostgreSQL server of ${clusterDir} runs but refuses the connection: ${reason}`, error)
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
