import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { from as copyFrom } from 'pg-copy-streams'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import {
  type BackupEnd,
  type BackupHeader,
  type BackupTable,
  firstWords,
  lastWords,
  quotedName,
  tablesInOrder,
  tableWords,
} from './backup.js'
import { type Connection, type Db, isDataError, sqlState } from './connection.js'
import { appliedVersion, listMigrations, migrate } from './migrate.js'
import type { Store } from './store.js'
import { refreshWriterRole } from './writer-role.js'

export type Restored = {
  readonly header: BackupHeader
  readonly rows: Readonly<Record<string, number>>
  /** Migrations that were applied to what was restored. */
  readonly migrated: readonly string[]
}

/** How a backup is restored. */
export type Restoring = {
  /** Names what the store holds; undefined: it is empty. */
  readonly contentsOf: (db: Db) => Promise<string | undefined>
  readonly signal: AbortSignal
  /** Called in the same transaction once everything is written. */
  readonly afterwards?: (db: Db) => Promise<void>
}

/**
 * Puts a backup into an empty store, all of it or nothing, in memory that does not grow with it. An empty database is first
 * brought to the backup's version of the schema, and afterwards to this program's. Throws `input-unusable` when the file is
 * no whole backup, is of a newer version, or the store is not empty.
 */
export async function restoreBackup(
  store: Store,
  file: string,
  { contentsOf, signal, afterwards }: Restoring,
): Promise<Restored> {
  const header = await readBackupHeader(file)
  const found = await appliedVersion(store.db)
  const newest = listMigrations().at(-1)?.version ?? 0
  if (newest < header.schema) {
    throw unusable(
      `the backup is of schema ${header.schema}, this program has ${newest}: install the newer version first`,
    )
  }
  if (found !== undefined && found > header.schema) {
    throw unusable(
      `the backup is of schema ${header.schema}, the store has ${found}: restore into an empty database, which is then brought up to date`,
    )
  }
  if (found !== header.schema) {
    if (found !== undefined) await refuseInUse(store.db, contentsOf)
    await migrate(store, undefined, header.schema)
  }
  const rows = await store.connection(async (db, client) => {
    await db.query('begin')
    try {
      const contents = await contentsOf(db)
      if (contents !== undefined) throw unusable(`the store has ${contents}: a backup is restored into an empty store`)
      const counts = await writeTables(db, client, file, signal)
      await refreshWriterRole(db)
      await afterwards?.(db)
      await db.query('commit')
      return counts
    } catch (error) {
      await db.query('rollback').catch(() => undefined)
      if (!isDataError(error) && sqlState(error) !== notASequence) throw error
      throw unusable(`${file} does not fit the schema: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  const { applied } = await migrate(store)
  await store.db.query('analyze')
  return { header, rows, migrated: applied }
}

/** A restore that was killed may have made a part of the schema; a store of an older version that is in use stays as it is. */
async function refuseInUse(db: Db, contentsOf: Restoring['contentsOf']): Promise<void> {
  let contents: string | undefined
  try {
    contents = await contentsOf(db)
  } catch (error) {
    // Of a table that was not made yet nothing is in use.
    if (sqlState(error) !== '42P01') throw error
  }
  if (contents !== undefined) throw unusable(`the store has ${contents}: a backup is restored into an empty store`)
}

/** What a backup says of itself. Throws `input-unusable` when it is none. */
export async function readBackupHeader(file: string): Promise<BackupHeader> {
  const reader = new BackupReader(file)
  try {
    const line = await reader.line()
    if (!line?.startsWith(firstWords)) throw unusable(`${file} is not of giving backup`)
    return parsedLine<BackupHeader>(
      line,
      firstWords,
      ({ schema, donorKeys }) => Number(schema) > 0 && isTexts(donorKeys) && Number.isSafeInteger(schema),
    )
  } finally {
    reader.close()
  }
}

async function writeTables(
  db: Db,
  client: Connection,
  file: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const tables = await tablesInOrder(db)
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]))
  const all = tables.map(({ name }) => quotedName(name))
  // What triggers make of the rows is in the backup too.
  for (const name of all) await db.query(`alter table ${name} disable trigger user`)
  await db.query(`truncate ${all.join(', ')}`)
  const reader = new BackupReader(file)
  const written: Record<string, number> = {}
  try {
    for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
      if (signal.aborted) throw new ServiceError('aborted', 'the restore was interrupted; nothing was written')
      if (line.startsWith(tableWords)) {
        const { name, columns } = parsedLine<BackupTable>(
          line,
          tableWords,
          (of) => isTexts(of.columns) && isTexts([of.name]),
        )
        const known = columnsOf.get(name)
        const strange = columns.find((column) => !known?.includes(column))
        if (known === undefined || strange !== undefined || name in written) {
          throw unusable(
            `${file} has a table ${name} ${strange ? `with a column ${strange}` : ''} that the schema lacks`,
          )
        }
        await reader.line()
        const copy = client.query(
          copyFrom(`copy ${quotedName(name)} (${columns.map(quotedName).join(', ')}) from stdin`),
        )
        await pipeline(Readable.from(reader.rows()), copy)
        written[name] = copy.rowCount ?? 0
      } else if (line.startsWith(lastWords)) {
        const { rows, sequences } = parsedLine<BackupEnd>(line, lastWords, (of) => {
          return isObject(of.rows) && isObject(of.sequences) && Object.values(of.sequences).every(Array.isArray)
        })
        const missing = Object.entries(rows).find(([name, count]) => written[name] !== count)
        if (missing)
          throw unusable(`${file} has ${written[missing[0]]} rows of ${missing[0]}, its last line says ${missing[1]}`)
        for (const [name, [last, given]] of Object.entries(sequences)) {
          await db.query('select setval(to_regclass($1), $2::bigint, $3)', [quotedName(name), last, given])
        }
        for (const name of all) await db.query(`alter table ${name} enable trigger user`)
        return written
      }
    }
  } finally {
    reader.close()
  }
  throw unusable(`${file} ends before its last line: it is not whole`)
}

const notASequence = '42809'

/** What a line of a backup says. Throws `input-unusable` where `giving backup` writes no such line, whoever made the file. */
function parsedLine<T extends object>(line: string, words: string, isRight: (value: Partial<T>) => boolean): T {
  const value = jsonOf(line.slice(words.length))
  if (isObject(value) && isRight(value as Partial<T>)) return value as T
  throw unusable(`the backup has a line that giving backup does not write: ${line.slice(0, 100)}`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string')

const lineFeed = Buffer.from('\n')
/** What ends the rows of a table, with the end of the row before it. */
const endOfRows = Buffer.from('\n\\.\n')
// The header and the names of columns.
const mostLineBytes = 1_000_000

/** Reads a backup line by line, and the rows of a table as they stand. */
class BackupReader {
  readonly #file: string
  readonly #chunks: AsyncIterator<Buffer>
  readonly #stream: Readable
  #rest = Buffer.alloc(0)

  constructor(file: string) {
    this.#file = file
    const source = createReadStream(file)
    const gunzip = createGunzip()
    source.on('error', (error) => gunzip.destroy(error))
    this.#stream = source.pipe(gunzip)
    this.#chunks = gunzip[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  close(): void {
    this.#stream.destroy()
  }

  /** The next line; undefined at the end. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(lineFeed)
      if (end >= 0) return this.#take(end, 1).toString('utf8')
      if (this.#rest.length > mostLineBytes) throw unusable(`${this.#file} is not of giving backup`)
      if (!(await this.#more())) return undefined
    }
  }

  /** The rows of a table, until the line that ends them. */
  async *rows(): AsyncGenerator<Buffer> {
    // As if a row had ended just before: a table may be empty.
    this.#rest = Buffer.concat([lineFeed, this.#rest])
    let isFirst = true
    const without = (rows: Buffer) => {
      const skipped = isFirst ? rows.subarray(1) : rows
      isFirst = false
      return skipped
    }
    for (;;) {
      const end = this.#rest.indexOf(endOfRows)
      if (end >= 0) {
        const rows = without(this.#take(end + 1, endOfRows.length - 1))
        if (rows.length > 0) yield rows
        return
      }
      // The end may begin in this chunk and go on in the next one.
      const safe = this.#rest.length - endOfRows.length + 1
      if (safe > 1) {
        const rows = without(this.#take(safe, 0))
        if (rows.length > 0) yield rows
      }
      if (!(await this.#more())) throw unusable(`${this.#file} ends within the rows of a table: it is not whole`)
    }
  }

  #take(bytes: number, skipped: number): Buffer {
    const taken = this.#rest.subarray(0, bytes)
    this.#rest = this.#rest.subarray(bytes + skipped)
    return taken
  }

  async #more(): Promise<boolean> {
    try {
      const { done, value } = await this.#chunks.next()
      if (done) return false
      this.#rest = Buffer.concat([this.#rest, value])
      return true
    } catch (error) {
      throw unusable(`${this.#file} cannot be read as a file of giving backup: ${messageOf(error)}`)
    }
  }
}

function unusable(message: string): ServiceError {
  return new ServiceError('input-unusable', message)
}
