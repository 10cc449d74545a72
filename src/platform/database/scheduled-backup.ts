import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Clock, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { type LastBackup, writeBackup } from './backup.js'
import type { Db } from './connection.js'
import { findFact, forgetFact, recordFact } from './facts.js'
import type { Store } from './store.js'

/** Where backups are kept, and how many. */
export type BackupSettings = { readonly directory: string; readonly keep: number }

const hourMs = 3_600_000
// Asked every hour, this makes one a day at about the same time.
const dueAfterMs = 23.5 * hourMs
const oldAfterMs = 48 * hourMs
const triedAfterMs = 7 * 24 * hourMs
const untriedTooLongMs = 14 * 24 * hourMs
const named = /^giving-\d{8}T\d{6}Z\.sql\.gz$/
const halfNamed = /^giving-\d{8}T\d{6}Z\.sql\.gz\.part$/

function nameAt(at: Date): string {
  return `giving-${isoInstantOf(at).replace(/[-:]/g, '')}.sql.gz`
}

type Deps = { readonly clock: Clock; readonly signal: AbortSignal }

/** Writes a backup if the last one is a day old, and removes all but the newest ones. Returns what it did in a sentence. */
export async function backUpIfDue(store: Store, { directory, keep }: BackupSettings, deps: Deps): Promise<string> {
  const now = deps.clock()
  const last = await findLastBackup(store.db)
  if (last && path.dirname(last.file) === directory && now.getTime() - Date.parse(last.at) < dueAfterMs)
    return 'not due'
  const name = nameAt(now)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const { rows, bytes } = await writeBackup(store, path.join(directory, name), deps)
    const names = (await readdir(directory)).sort()
    const whole = names.filter((one) => named.test(one))
    const old = whole.slice(0, Math.max(whole.length - keep, 0))
    // Of processes that died while they wrote; another one may write now.
    const halves = names.filter((one) => halfNamed.test(one) && one < nameAt(new Date(now.getTime() - dueAfterMs)))
    for (const one of [...old, ...halves]) await rm(path.join(directory, one), { force: true })
    await forgetFact(store.db, 'failed-backup')
    return `${name}: ${rows} rows, ${bytes} bytes; ${old.length} older ones removed`
  } catch (error) {
    const isOfFiles = error instanceof Error && 'syscall' in error
    const failure = isOfFiles
      ? new ServiceError('storage-failed', `BACKUP_DIR ${directory}: ${error.message}`, { cause: error })
      : error
    if (failure instanceof ServiceError && failure.code === 'storage-failed') {
      const failed: FailedBackup = { at: isoInstantOf(now), problem: failure.message }
      await recordFact(store.db, 'failed-backup', JSON.stringify(failed), now)
    }
    throw failure
  }
}

type FailedBackup = { readonly at: string; readonly problem: string }

/** A backup that was restored on trial; `problem` says why it cannot be. */
type TriedBackup = {
  readonly at: string
  readonly file: string
  readonly problem?: string
  /** Why it could not be tried, and since when none could. */
  readonly untried?: string
  readonly since?: string
}

/** Tries the newest backup if none was restored for a week. Returns what it did in a sentence; undefined: it was not due. */
export async function tryLastIfDue(
  store: Store,
  { clock, signal }: Deps,
  tryIt: (file: string) => Promise<unknown>,
): Promise<string | undefined> {
  const [last, tried] = [await findLastBackup(store.db), await findTried(store.db)]
  const at = clock()
  const isGood = tried && !tried.problem && !tried.untried
  if (!last || (isGood && at.getTime() - Date.parse(tried.at) < triedAfterMs)) return undefined
  let outcome: Pick<TriedBackup, 'problem' | 'untried' | 'since'> = {}
  try {
    await tryIt(last.file)
  } catch (error) {
    if (signal.aborted) throw error
    const { code, message } = toServiceError(error)
    const since = tried?.untried === undefined ? isoInstantOf(at) : (tried.since ?? tried.at)
    outcome = code === 'input-unusable' ? { problem: message } : { untried: message, since }
  }
  const now: TriedBackup = { at: isoInstantOf(at), file: last.file, ...outcome }
  await recordFact(store.db, 'tried-backup', JSON.stringify(now), at)
  return describeTried(now)
}

async function findTried(db: Db): Promise<TriedBackup | undefined> {
  const fact = await findFact(db, 'tried-backup')
  return fact === undefined ? undefined : (JSON.parse(fact) as TriedBackup)
}

function describeTried({ at, file, problem, untried, since = at }: TriedBackup): string {
  if (problem !== undefined) return `${file} cannot be restored, as was tried at ${at}: ${problem}`
  if (untried !== undefined) return `${file} could not be tried at ${at}, nor any since ${since}: ${untried}`
  return `${file} was restored on trial at ${at}`
}

async function findLastBackup(db: Db): Promise<LastBackup | undefined> {
  const fact = await findFact(db, 'last-backup')
  return fact === undefined ? undefined : (JSON.parse(fact) as LastBackup)
}

/** What the store's backups are: in order, or what a person must see to; the first one may be still to come. */
export async function backupState(
  db: Db,
  now: Date,
): Promise<{ readonly last: LastBackup | undefined; readonly needs: readonly string[]; readonly tried: string }> {
  const [last, tried, failed] = [await findLastBackup(db), await findTried(db), await findFact(db, 'failed-backup')]
  const { at, problem } = failed === undefined ? {} : (JSON.parse(failed) as Partial<FailedBackup>)
  const isUntried = tried?.since !== undefined && now.getTime() - Date.parse(tried.since) >= untriedTooLongMs
  const isOld = last !== undefined && now.getTime() - Date.parse(last.at) >= oldAfterMs
  return {
    last,
    needs: [
      ...(problem === undefined ? [] : [`no backup could be written at ${at}: ${problem}`]),
      ...(isOld ? [`the last backup is of ${last.at}, more than two days ago: giving backup FILE`] : []),
      ...(tried && (tried.problem !== undefined || isUntried) ? [describeTried(tried)] : []),
    ],
    tried: tried ? describeTried(tried) : 'none was tried: giving backup --verify FILE',
  }
}
