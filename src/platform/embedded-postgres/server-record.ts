import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { draftName } from './binaries.js'
import { unavailable } from './failures.js'
import { isRoot } from './system-user.js'

/** What a data directory stores about its database, in a file that only its owner can read (0600). */
export type ServerRecord = {
  /** The data directory when this was written; it differs from the actual one after a move or a copy. */
  readonly dataDir: string
  readonly clusterDir: string
  /** The TCP port last used, on 127.0.0.1. */
  readonly port: number
  /** The password of the service's role, `giving`. */
  readonly password: string
  /** The password of the administrator's role, `giving_admin`; absent where the service's role is still a superuser. */
  readonly adminPassword?: string | undefined
}

/** The launcher's own folder in a data directory, and what is in it. */
export type LauncherFolder = {
  /** The data directory itself, absolute, symbolic links resolved. */
  readonly dataDir: string
  readonly dir: string
  readonly recordFile: string
  readonly lockDir: string
  readonly leaseDir: string
}

/** Creates (when missing) and returns the launcher's folder, `<dataDir>/postgres-launcher`. */
export async function openLauncherFolder(dataDir: string): Promise<LauncherFolder> {
  await mkdir(resolve(dataDir), { recursive: true })
  const folder = toLauncherFolder(await realpath(dataDir))
  for (const dir of [folder.dir, folder.lockDir, folder.leaseDir]) {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await giveToOwner(folder, dir)
  }
  return folder
}

/** Names the parts of the launcher's folder of a data directory, which must be given as its real path. */
export function toLauncherFolder(dataDir: string): LauncherFolder {
  const dir = join(dataDir, 'postgres-launcher')
  return {
    dataDir,
    dir,
    recordFile: join(dir, 'server.json'),
    lockDir: join(dir, 'lock'),
    leaseDir: join(dir, 'leases'),
  }
}

/** A new random password of a role; it needs no quoting in SQL or in a URL. */
export function makePassword(): string {
  return randomBytes(24).toString('base64url')
}

/** The record of a data directory; undefined before its first database. Throws `database-unavailable` when damaged. */
export async function findRecord(folder: LauncherFolder): Promise<ServerRecord | undefined> {
  const text = await ifThere(readFile(folder.recordFile, 'utf8'))
  if (text === undefined) return undefined
  const record = parseRecord(text)
  if (record === undefined) {
    throw unavailable(
      `${folder.recordFile} is damaged: restore it from a backup, or remove it to start again (a database in ${join(folder.dataDir, 'postgres')} is kept)`,
    )
  }
  return record
}

function parseRecord(text: string): ServerRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { dataDir, clusterDir, port, password, adminPassword } = value as Partial<Record<keyof ServerRecord, unknown>>
    if (
      typeof dataDir !== 'string' ||
      typeof clusterDir !== 'string' ||
      typeof port !== 'number' ||
      typeof password !== 'string'
    )
      return undefined
    return { dataDir, clusterDir, port, password, ...(typeof adminPassword === 'string' && { adminPassword }) }
  } catch {
    return undefined
  }
}

/** Writes the record whole or not at all. Call it inside the lock. */
export async function saveRecord(folder: LauncherFolder, record: ServerRecord): Promise<void> {
  const draft = await draftName(folder.recordFile)
  try {
    await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
    await giveToOwner(folder, draft)
    await rename(draft, folder.recordFile)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Gives what root makes in a user's data directory to that user, who could not use it otherwise. */
async function giveToOwner(folder: LauncherFolder, path: string): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = await stat(folder.dataDir)
  await chown(path, uid, gid)
}
