import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Clock, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type LastBackup, writeBackup } from './backup.js'
import type { Db } from './connection.js'
import { findFact } from './facts.js'
import type { Store } from './store.js'

/** Where backups are kept, and how many. */
export type BackupSettings = { readonly directory: string; readonly keep: number }

const hourMs = 3_600_000
// Asked every hour, this makes one a day at about the same time.
const dueAfterMs = 23.5 * hourMs
const oldAfterMs = 48 * hourMs
const named = /^giving-\d{8}T\d{6}Z\.sql\.gz$/

/** Writes a backup if the last one is a day old, and removes all but the newest ones. Returns what it did in a sentence. */
export async function backUpIfDue(
  store: Store,
  { directory, keep }: BackupSettings,
  deps: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string> {
  const now = deps.clock()
  const last = await findLastBackup(store.db)
  if (last && path.dirname(last.file) === directory && now.getTime() - Date.parse(last.at) < dueAfterMs)
    return 'not due'
  const name = `giving-${isoInstantOf(now).replace(/[-:]/g, '')}.sql.gz`
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const { rows, bytes } = await writeBackup(store, path.join(directory, name), deps)
    const names = (await readdir(directory)).filter((one) => named.test(one)).sort()
    const old = names.slice(0, Math.max(names.length - keep, 0))
    for (const one of old) await rm(path.join(directory, one), { force: true })
    return `${name}: ${rows} rows, ${bytes} bytes; ${old.length} older ones removed`
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ServiceError('storage-failed', `BACKUP_DIR ${directory}: ${error.message}`, { cause: error })
  }
}

export async function findLastBackup(db: Db): Promise<LastBackup | undefined> {
  const fact = await findFact(db, 'last-backup')
  return fact === undefined ? undefined : (JSON.parse(fact) as LastBackup)
}

/** Says that the last backup is old; empty: it is not, or the first one is still to come. */
export function oldBackup(last: LastBackup | undefined, now: Date): string[] {
  if (last === undefined || now.getTime() - Date.parse(last.at) < oldAfterMs) return []
  return [`the last backup is of ${last.at}, more than two days ago: giving backup FILE`]
}
