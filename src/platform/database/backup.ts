import path from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { to as copyTo } from 'pg-copy-streams'
import { type Clock, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type WholeFile, writeWhole } from '../files/whole-file.js'
import { type Connection, type Db, toStoreError } from './connection.js'
import { recordFact } from './facts.js'
import type { Store } from './store.js'

/** The first words of a backup, and what follows them as JSON. */
export const firstWords = '-- giving backup 1 '
/** The first words of the line before the rows of a table, and of the last line. */
export const tableWords = '-- table '
export const lastWords = '-- end '

export type BackupHeader = {
  readonly created: string
  /** The highest migration. */
  readonly schema: number
  /** The keys of `DONOR_KEYS` that donors are encrypted with: the backup holds none of them. */
  readonly donorKeys: readonly string[]
  /** The room that the store takes in its database; backups of older versions do not say it. */
  readonly storeBytes?: number
}

export type BackupTable = { readonly name: string; readonly columns: readonly string[] }

export type BackupEnd = {
  readonly rows: Readonly<Record<string, number>>
  /** The last number of each sequence, and whether it was given. */
  readonly sequences: Readonly<Record<string, readonly [last: string, given: boolean]>>
}

export type Backup = WholeFile & { readonly file: string; readonly header: BackupHeader; readonly rows: number }

/**
 * Writes the whole store as gzipped SQL, as one snapshot has it, while others go on writing; memory does not grow with it.
 * `giving restore` reads it, and so does psql, into the empty schema of the same version. The file can be read by its owner
 * only, and appears once it is complete. Throws `storage-failed` and `aborted`.
 */
export async function writeBackup(
  store: Store,
  file: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Backup> {
  const created = clock()
  const backup = await store.snapshot(async (db, client) => {
    const header = await readHeader(db, created)
    const counts = new Map<string, number>()
    const gzip = createGzip()
    pipeline(Readable.from(backupTexts(db, client, header, counts, signal)), gzip, () => undefined)
    const written = await writeWhole(file, gzip, { isPrivate: true })
    return { ...written, file, header, rows: [...counts.values()].reduce((sum, count) => sum + count, 0) }
  })
  const last: LastBackup = { at: isoInstantOf(created), file: path.resolve(file), bytes: backup.bytes }
  await recordFact(store.db, 'last-backup', JSON.stringify(last), created)
  return backup
}

/** The newest backup that this store was written to. */
export type LastBackup = { readonly at: string; readonly file: string; readonly bytes: number }

async function readHeader(db: Db, created: Date): Promise<BackupHeader> {
  const { rows } = await db.query<{ schema: number; keys: string[]; bytes: number }>(
    `select (select max(version) from schema_migration) as schema,
      array(select distinct key_id from donor where key_id is not null order by 1) as keys,
      pg_database_size(current_database()) as bytes`,
  )
  const { schema = 0, keys = [], bytes = 0 } = rows[0] ?? {}
  return { created: isoInstantOf(created), schema, donorKeys: keys, storeBytes: bytes }
}

async function* backupTexts(
  db: Db,
  client: Connection,
  header: BackupHeader,
  counts: Map<string, number>,
  signal: AbortSignal,
): AsyncGenerator<string | Buffer> {
  const tables = await tablesInOrder(db)
  const names = tables.map(({ name }) => quotedName(name))
  yield `${firstWords}${JSON.stringify(header)}\n`
  yield "set client_encoding = 'UTF8';\nset datestyle = 'ISO, YMD';\nset intervalstyle = 'postgres';\nset extra_float_digits = 1;\nbegin;\n"
  for (const name of names) yield `alter table ${name} disable trigger user;\n`
  yield `truncate ${names.join(', ')};\n`
  for (const { name, columns } of tables) {
    yield `${tableWords}${JSON.stringify({ name, columns })}\n`
    const of = `${quotedName(name)} (${columns.map(quotedName).join(', ')})`
    yield `copy ${of} from stdin;\n`
    let rows = 0
    for await (const chunk of copied(client, `copy ${of} to stdout`)) {
      if (signal.aborted) throw new ServiceError('aborted', 'the backup was interrupted')
      rows += lineEndsOf(chunk)
      yield chunk
    }
    counts.set(name, rows)
    yield '\\.\n'
  }
  // A sequence is in no snapshot: read last, it is not behind the rows.
  const sequences = await lastNumbers(db)
  for (const [name, [last, given]] of Object.entries(sequences)) {
    yield `select setval('${quotedName(name)}', ${last}, ${given});\n`
  }
  for (const name of names) yield `alter table ${name} enable trigger user;\n`
  yield 'commit;\n'
  const end: BackupEnd = { rows: Object.fromEntries(counts), sequences }
  yield `${lastWords}${JSON.stringify(end)}\n`
}

async function* copied(client: Connection, sql: string): AsyncGenerator<Buffer> {
  const copy = client.query(copyTo(sql))
  copy.on('error', () => undefined)
  let over = false
  try {
    for await (const chunk of copy as AsyncIterable<Buffer>) yield chunk
    over = true
  } catch (error) {
    throw toStoreError(error)
  } finally {
    // The server would go on sending, and the next statement would wait behind it for ever.
    if (!over) client.connection.stream.destroy()
  }
}

const lineFeed = 0x0a

function lineEndsOf(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) count++
  return count
}

/** A name as SQL writes it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The tables with the columns that are written, each after those that it refers to. The list of migrations is left out: it is
 * of the schema, not of what is in it.
 */
export async function tablesInOrder(db: Db): Promise<BackupTable[]> {
  const { rows } = await db.query<{ name: string; columns: string[]; needs: string[] }>(
    `select c.relname as name,
        array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
        array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
          where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as needs
      from pg_class c
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'schema_migration'
      order by c.relname collate "C"`,
  )
  const placed = new Set<string>()
  const ordered: BackupTable[] = []
  for (let left = rows; left.length > 0; ) {
    const free = left.filter(({ needs }) => needs.every((name) => placed.has(name)))
    if (free.length === 0) throw new Error(`the tables ${left.map(({ name }) => name).join(', ')} refer to each other`)
    for (const { name, columns } of free) {
      placed.add(name)
      ordered.push({ name, columns })
    }
    left = left.filter(({ name }) => !placed.has(name))
  }
  return ordered
}

async function lastNumbers(db: Db): Promise<BackupEnd['sequences']> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace
      order by relname collate "C"`,
  )
  const numbers: Record<string, readonly [string, boolean]> = {}
  for (const { name } of rows) {
    const found = await db.query<{ last: string; given: boolean }>(
      `select last_value::text as last, is_called as given from ${quotedName(name)}`,
    )
    const { last = '1', given = false } = found.rows[0] ?? {}
    numbers[name] = [last, given]
  }
  return numbers
}
