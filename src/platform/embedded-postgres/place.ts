import { hash } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { incompatible, unavailable } from './failures.js'
import { findRecord, type LauncherFolder, makePassword, type ServerRecord, toLauncherFolder } from './server-record.js'
import { isRoot, openSystemUser, type SystemUser } from './system-user.js'

/**
 * Where root keeps clusters and programs: the server's user must be able to enter, and a data directory may lie in a
 * folder that only root may enter.
 */
export const systemDir = '/var/lib/giving'

/** Where a cluster is or will be, and the user of its server (undefined: the user of this process). */
export type ClusterPlace = {
  readonly clusterDir: string
  readonly user: SystemUser | undefined
}

/** The place of a data directory's cluster, and what is known of it. */
export type Place = ClusterPlace & {
  readonly exists: boolean
  /** The record of the data directory, brought up to date but not yet saved. Port 0: none chosen yet. */
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
 * Throws when the cluster belongs to another user, to another data directory, or to no PostgreSQL.
 */
export async function findPlace(folder: LauncherFolder): Promise<Place> {
  const record = await findRecord(folder)
  const inside = join(folder.dataDir, 'postgres')
  const root = isRoot()

  if (!root || (await isFilled(inside))) {
    if (!root && record !== undefined && record.clusterDir.startsWith(`${systemDir}/`) && !(await isFilled(inside))) {
      throw unavailable(
        `the database of ${folder.dataDir} was made by root and is in ${record.clusterDir}: run as root, or use another data directory`,
      )
    }
    const exists = await isFilled(inside)
    const user = root ? await ownerOf(inside) : undefined
    return toPlace(folder, inside, user, exists, record)
  }

  const user = await openSystemUser()
  if (record?.clusterDir.startsWith(`${systemDir}/`)) {
    const exists = await isFilled(record.clusterDir)
    if (exists && record.dataDir !== folder.dataDir) await refuseCopy(folder, record)
    return toPlace(folder, record.clusterDir, user, exists, record)
  }
  return toPlace(folder, await chooseSystemCluster(folder.dataDir), user, false, record)
}

/**
 * Chooses where root keeps the first cluster of a data directory. A cluster that is already there belongs to an earlier
 * directory of the same path, which was removed or moved away: it stays untouched.
 */
async function chooseSystemCluster(dataDir: string): Promise<string> {
  const first = join(systemDir, hash('sha256', dataDir).slice(0, 16))
  let chosen = first
  for (let number = 2; await isFilled(chosen); number++) chosen = `${first}-${number}`
  return chosen
}

function toPlace(
  folder: LauncherFolder,
  clusterDir: string,
  user: SystemUser | undefined,
  exists: boolean,
  known: ServerRecord | undefined,
): Place {
  const record = { port: 0, password: makePassword(), ...known, dataDir: folder.dataDir, clusterDir }
  return { clusterDir, user, exists, record, passwordLost: exists && known === undefined }
}

/** A data directory that was moved keeps its cluster; a copy must not share the cluster of the original. */
async function refuseCopy(folder: LauncherFolder, record: ServerRecord): Promise<void> {
  const original = await findRecord(toLauncherFolder(record.dataDir)).catch(() => undefined)
  if (original?.clusterDir !== record.clusterDir) return
  throw unavailable(
    `${folder.dataDir} is a copy of ${record.dataDir}, whose database in ${record.clusterDir} it cannot share: remove ${folder.dir} to start with an empty database`,
  )
}

async function ownerOf(clusterDir: string): Promise<SystemUser> {
  const { uid, gid } = await stat(clusterDir)
  if (uid === 0) {
    throw unavailable(
      `the database in ${clusterDir} belongs to root, as whom PostgreSQL does not run: give it to an ordinary user (chown -R)`,
    )
  }
  return { uid, gid }
}

/** Creates root's folder for clusters and programs, which every user may enter whatever the umask is. */
export async function openSystemDir(): Promise<void> {
  if ((await mkdir(systemDir, { recursive: true })) !== undefined) await chmod(systemDir, 0o755)
  if ((await lstat(systemDir)).uid !== 0) throw unavailable(`${systemDir} must be a folder that belongs to root`)
}

/**
 * Checks that an existing cluster can be served by this user with programs of the major version `major`.
 * Throws `database-incompatible` for another version, `database-unavailable` otherwise.
 */
export async function checkCluster({ clusterDir, user }: Place, major: string): Promise<void> {
  const { uid, mode } = await lstat(clusterDir)
  const expected = user?.uid ?? process.getuid?.()
  if (expected !== undefined && uid !== expected) {
    throw unavailable(
      `the database in ${clusterDir} belongs to the user with id ${uid}, and this process would serve it as ${expected}: run as its owner`,
    )
  }
  const version = (await ifThere(readFile(join(clusterDir, 'PG_VERSION'), 'utf8')))?.trim()
  if (version === undefined) {
    throw unavailable(
      `${clusterDir} is not empty and not a PostgreSQL database (it has no PG_VERSION): move it away or use another data directory`,
    )
  }
  if (version !== major) {
    throw incompatible(
      `the database in ${clusterDir} was made by PostgreSQL ${version} and this program brings PostgreSQL ${major}: use the release that made it, or move it away to start again`,
    )
  }
  // The server refuses a folder that others can enter, and copying or unpacking often widens the mode.
  if ((mode & 0o027) !== 0) await chmod(clusterDir, 0o700)
}

async function isFilled(dir: string): Promise<boolean> {
  return ((await ifThere(readdir(dir))) ?? []).length > 0
}
