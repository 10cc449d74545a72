import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Account, isRoot, openServerAccount } from './account.js'
import { errnoOf, incompatible, unavailable } from './failures.js'
import { findRecord, type LauncherFolder, makePassword, type ServerRecord, toLauncherFolder } from './record.js'

/**
 * Where root keeps clusters and programs: the server's user must be able to enter, and a data directory may lie in a
 * folder that only root may enter.
 */
export const systemDir = '/var/lib/giving'

/** Where a cluster is (or will be) and as whom its server runs. */
export type ClusterPlace = {
  readonly clusterDir: string
  readonly account: Account | undefined
}

/** The place of a data directory's cluster, and what is known of it. */
export type Place = ClusterPlace & {
  readonly exists: boolean
  /** What the data directory remembers, brought up to date; not yet saved. Port 0: none chosen yet. */
  readonly record: ServerRecord
  /** The cluster exists but its password is unknown: the record was lost. */
  readonly passwordLost: boolean
}

/**
 * Finds the place of a data directory's cluster.
 *
 * - `<dataDir>/postgres` for an ordinary user, and for root when a cluster is there already: the server then runs as
 *   the cluster's owner, so that root and that user can share one server.
 * - `/var/lib/giving/<hash of the data directory>` for root otherwise, as the system user `postgres`.
 *
 * @throws ServiceError when the cluster belongs to another user, to another data directory, or to no PostgreSQL.
 */
export async function findPlace(folder: LauncherFolder): Promise<Place> {
  const record = await findRecord(folder)
  const inside = join(folder.dataDir, 'postgres')
  const root = isRoot()

  if (!root || (await holdsSomething(inside))) {
    if (
      !root &&
      record !== undefined &&
      record.clusterDir.startsWith(`${systemDir}/`) &&
      !(await holdsSomething(inside))
    ) {
      throw unavailable(
        `The database of ${folder.dataDir} was made by root and is in ${record.clusterDir}: run as root, or use another data directory.`,
      )
    }
    const exists = await holdsSomething(inside)
    const account = root ? await ownerOf(inside) : undefined
    return toPlace(folder, inside, account, exists, record)
  }

  const account = await openServerAccount()
  if (record?.clusterDir.startsWith(`${systemDir}/`)) {
    const exists = await holdsSomething(record.clusterDir)
    if (exists && record.dataDir !== folder.dataDir) await refuseCopy(folder, record)
    return toPlace(folder, record.clusterDir, account, exists, record)
  }
  return toPlace(folder, await chooseSystemCluster(folder.dataDir), account, false, record)
}

/**
 * Chooses where root keeps the first cluster of a data directory. A cluster that is there already was made for an
 * earlier directory at the same path, which was removed or moved away: it is left alone.
 */
async function chooseSystemCluster(dataDir: string): Promise<string> {
  const first = join(systemDir, createHash('sha256').update(dataDir).digest('hex').slice(0, 16))
  let chosen = first
  for (let number = 2; await holdsSomething(chosen); number += 1) chosen = `${first}-${number}`
  return chosen
}

function toPlace(
  folder: LauncherFolder,
  clusterDir: string,
  account: Account | undefined,
  exists: boolean,
  known: ServerRecord | undefined,
): Place {
  const record = { port: 0, password: makePassword(), ...known, dataDir: folder.dataDir, clusterDir }
  return { clusterDir, account, exists, record, passwordLost: exists && known === undefined }
}

/** A moved data directory takes its cluster along; a copy of one must not share the original's. */
async function refuseCopy(folder: LauncherFolder, record: ServerRecord): Promise<void> {
  const original = await findRecord(toLauncherFolder(record.dataDir)).catch(() => undefined)
  if (original?.clusterDir !== record.clusterDir) return
  throw unavailable(
    `${folder.dataDir} is a copy of ${record.dataDir}, whose database in ${record.clusterDir} it cannot share: remove ${folder.dir} to start with an empty database.`,
  )
}

async function ownerOf(clusterDir: string): Promise<Account> {
  const { uid, gid } = await stat(clusterDir)
  if (uid === 0) {
    throw unavailable(
      `The database in ${clusterDir} belongs to root, as whom PostgreSQL does not run: give it to an ordinary user (chown -R).`,
    )
  }
  return { uid, gid }
}

/** Creates root's folder for clusters and programs, for every user to enter whatever the umask is. */
export async function openSystemDir(): Promise<void> {
  if ((await mkdir(systemDir, { recursive: true })) !== undefined) await chmod(systemDir, 0o755)
  if ((await lstat(systemDir)).uid !== 0) throw unavailable(`${systemDir} must be a folder that belongs to root.`)
}

/**
 * Checks that an existing cluster can be served by this user with programs of the major version `major`.
 * @throws ServiceError `database-incompatible` for another version, `database-unavailable` otherwise.
 */
export async function checkCluster({ clusterDir, account }: Place, major: string): Promise<void> {
  const { uid, mode } = await lstat(clusterDir)
  const expected = account?.uid ?? process.getuid?.()
  if (expected !== undefined && uid !== expected) {
    throw unavailable(
      `The database in ${clusterDir} belongs to the user with id ${uid}, and this process would serve it as ${expected}: run as its owner.`,
    )
  }
  let version: string
  try {
    version = (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    throw unavailable(
      `${clusterDir} is not empty and not a PostgreSQL database (it has no PG_VERSION): move it away or use another data directory.`,
    )
  }
  if (version !== major) {
    throw incompatible(
      `The database in ${clusterDir} was made by PostgreSQL ${version} and this program brings PostgreSQL ${major}: use the release of this program that made it, or move it away to start anew.`,
    )
  }
  // Copying and unpacking often widen the mode, and the server refuses a folder that others can enter.
  if ((mode & 0o027) !== 0) await chmod(clusterDir, 0o700)
}

async function holdsSomething(dir: string): Promise<boolean> {
  try {
    return (await readdir(dir)).length > 0
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}
