import type { Operator } from '../../accounts/sql/audit-events.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { quotedName } from '../../platform/database/backup.js'
import { type Db, isDataError } from '../../platform/database/connection.js'
import type { ImportReceipt } from './receipts.js'

type ImportCounts = {
  readonly records: number
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly refused: number
  readonly kept: number
}

/** A file of an import: its content's hash when it was read to its end, and what became of its records. */
export type ImportedFile = ImportCounts & {
  readonly name: string
  readonly kind?: string
  readonly sha256?: string
  /** Of a file all of whose records are in the store as they came. */
  readonly mark?: FileMark
}

/** How a file was read, and what moves when stored records change, as it was when the file was opened. */
export type FileMark = { readonly reading: string; readonly version: number }

/** The files that were read whole with this mark, by the hashes of their contents, with the numbers of their records. */
export async function filesWithMark(db: Db, mark: FileMark): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ sha256: string; records: number }>(
    `select f ->> 'sha256' as sha256, (f ->> 'records')::bigint as records
      from import i cross join jsonb_array_elements(i.files) f where i.files @> $1 and f @> $2`,
    [JSON.stringify([{ mark }]), JSON.stringify({ mark })],
  )
  return new Map(rows.map(({ sha256, records }) => [sha256, records]))
}

type KeptProblem = FieldProblem & { readonly file: string; readonly line?: number; readonly recordId?: string }

export type ImportEnd = ImportCounts &
  MovedTable & {
    readonly files: readonly ImportedFile[]
    readonly problemCount: number
    readonly problems: readonly KeptProblem[]
    /** What the import answers for, once it ended. */
    readonly receipt?: ImportReceipt | undefined
  }

/** What became of the elements of IATI files, by name, and what is held of their records. */
export type MovedTable = {
  readonly elements?: Readonly<Record<string, ElementSummary>>
  readonly moved?: MovedSummary
}

/** What became of the elements of a name. */
export type ElementSummary = {
  readonly taken: number
  readonly kept: number
  readonly leftOut: number
  readonly held: number
  /** The field that the store takes them into. */
  readonly field?: string
  /** Why parts were left out, and the rules for which some are held. */
  readonly why?: readonly string[]
}

/** What will be published of the records of IATI files, and what is held for an error, by rule, the most frequent first. */
type MovedSummary = {
  readonly activities: { readonly publishable: number; readonly held: number }
  /** Of organisations only the elements with errors are held. */
  readonly organisations: { readonly publishable: number; readonly heldInPart: number }
  readonly rules: readonly MovedRule[]
}

/** A rule by which something is held. */
export type MovedRule = {
  readonly code: string
  /** The rule in plain English, as `docs/reference/notices.md` has it. */
  readonly rule: string
  /** How many elements break it. */
  readonly count: number
  /** The first places. */
  readonly examples: readonly {
    readonly file: string
    readonly line?: number
    readonly recordId?: string
    readonly path: string
    readonly detail: string
  }[]
}

/** One import; `running` without an end for long is one whose process died. */
export type ImportRow = ImportCounts & {
  readonly id: number
  readonly actor: string
  readonly origin: string
  readonly state: 'running' | 'done' | 'undone'
  readonly startedAt: Date
  readonly finishedAt?: Date
  readonly undoneAt?: Date
  readonly undoneBy?: string
  readonly files: readonly ImportedFile[]
  readonly problemCount: number
  /** As the import wrote it; absent: of an earlier version. */
  readonly receipt?: ImportReceipt
}

/** An import with the first of its problems, and how many rows it would give back. */
export type ImportDetails = ImportRow &
  MovedTable & { readonly problems: readonly KeptProblem[]; readonly remembered: number }

/** Enters an import; returns its number. */
export async function beginImport(db: Db, { actor, origin }: Operator, at: Date): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    'insert into import (actor, origin, started_at) values ($1, $2, $3) returning id',
    [actor, origin, at],
  )
  return rows[0]?.id ?? 0
}

/** Makes the transaction a part of the import, to be taken back with it. Throws `aborted` once that was taken back. */
export async function writeAsImport(db: Db, id: number): Promise<void> {
  await db.query('select pg_advisory_xact_lock_shared($1)', [undoLock])
  const { rowCount } = await db.query(
    `select set_config('giving.import', id::text, true) from import where id = $1 and state = 'running' for key share`,
    [id],
  )
  if (rowCount === 0) throw new ServiceError('aborted', `import ${id} was taken back while it ran`)
}

// An import that writes while another is taken back may remember rows that refer to what is just removed.
const undoLock = 7_241_032_604

/** Enters what an import has done so far, or with `at` its end. */
export async function recordImport(db: Db, id: number, end: ImportEnd, at?: Date): Promise<void> {
  const {
    files,
    records,
    created,
    changed,
    unchanged,
    refused,
    kept,
    problemCount,
    problems,
    elements,
    moved,
    receipt,
  } = end
  await db.query(
    `update import set files = $2, records = $3, created = $4, changed = $5, unchanged = $6, refused = $7, kept = $8,
        problem_count = $9, problems = $10, finished_at = $11, moved = $12, receipt = $13, state = case when $11::timestamptz is null then state else 'done' end
      where id = $1 and state = 'running'`,
    [
      id,
      ...[toJson(files), records, created, changed, unchanged, refused, kept, problemCount],
      toJson(problems.slice(0, mostProblems)),
      at ?? null,
      moved ? toJson({ elements, moved }) : null,
      receipt === undefined ? null : toJson(receipt),
    ],
  )
}

const mostProblems = 100

/** JSON that the database takes: what came from a file may have U+0000 and halves of characters. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'string' ? Buffer.from(part.replaceAll('\0', '\uFFFD')).toString() : part,
  )
}

const columns = `id, actor, origin, state, started_at, finished_at, undone_at,
  undone_by, files, receipt, records, created, changed, unchanged, refused, kept, problem_count`

/** Imports, the newest first; only those before a number. */
export async function listImports(
  db: Db,
  { before, limit }: { readonly before?: number; readonly limit: number },
): Promise<ImportRow[]> {
  const { rows } = await db.query<ImportRow>(
    `select ${columns} from import where id < coalesce($1, 9223372036854775807) order by id desc limit $2`,
    [before ?? null, limit],
  )
  return rows
}

export async function findImport(db: Db, id: number): Promise<ImportDetails | undefined> {
  const { rows } = await db.query<ImportDetails>(
    `select ${columns}, problems, moved -> 'elements' as elements, moved -> 'moved' as moved, (select count(*) from import_change where import_id = import.id) as remembered
      from import where id = $1`,
    [id],
  )
  return rows[0]
}

/** What stands against taking an import back: a row that it wrote and that was changed since, or one that others refer to. */
export type Obstacle = {
  readonly what: string
  readonly key: Readonly<Record<string, unknown>>
  /** A row that refers to it. */
  readonly needs?: { readonly what: string; readonly key: Readonly<Record<string, unknown>>; readonly rows: number }
  /** The later import that wrote it. */
  readonly byImport?: number
  /** Why the database refuses what would be brought back; `key` is then that of the row that it collides with, if any. */
  readonly refused?: string
}

/** What taking an import back does, by table. */
export type Undone = {
  readonly removed: Readonly<Record<string, number>>
  readonly returned: Readonly<Record<string, number>>
  readonly restored: Readonly<Record<string, number>>
  /** Projects that stay, closed, since they are published. */
  readonly closed: readonly number[]
}

type OutcomeRow = {
  readonly outcome: 'changed' | 'needed' | 'closed' | 'removed' | 'returned' | 'restored'
  readonly what: string
  readonly key: Readonly<Record<string, unknown>> | undefined
  readonly other: string | undefined
  readonly otherKey: Readonly<Record<string, unknown>> | undefined
  readonly byImport: number | undefined
  readonly rows: number
}

/**
 * Takes an import back: what it created goes, what it changed returns. Call it in a transaction; when it returns obstacles,
 * roll back. Imports that run beside it wait. Throws `not-found`, and `import-needed` for one that was taken back before.
 */
export async function undoImport(
  db: Db,
  id: number,
  { actor }: Operator,
  at: Date,
): Promise<Undone | { readonly obstacles: readonly Obstacle[] }> {
  await db.query('select pg_advisory_xact_lock($1)', [undoLock])
  const found = await db.query<{ state: string; forgotten: boolean }>(
    `select state, created + changed > 0 and not exists (select from import_change where import_id = import.id) as forgotten
      from import where id = $1 for update`,
    [id],
  )
  const [one] = found.rows
  if (!one) throw new ServiceError('not-found', `there is no import ${id}: see giving imports list`)
  if (one.state === 'undone') throw new ServiceError('import-needed', `import ${id} was taken back before`)
  if (one.forgotten) throw new ServiceError('import-needed', `what import ${id} changed is no longer remembered`)
  const recalled = await db.query<OutcomeRow>(
    `select 'needed' as outcome, what, key, other, other_key, by_import, rows
      from import_recalled($1)`,
    [id],
  )
  if (recalled.rows.length > 0) return { obstacles: recalled.rows.map(toObstacle) }
  await db.query('savepoint undoing')
  let rows: OutcomeRow[]
  try {
    ;({ rows } = await db.query<OutcomeRow>(
      `select outcome, what, key, other, other_key, by_import, rows from undo_import($1)`,
      [id],
    ))
  } catch (error) {
    if (!isDataError(error)) throw error
    await db.query('rollback to undoing')
    return { obstacles: [await refusedBy(db, id, error as RefusedByDatabase)] }
  }
  const obstacles = rows.filter(({ outcome }) => outcome === 'changed' || outcome === 'needed')
  if (obstacles.length > 0) return { obstacles: obstacles.map(toObstacle) }
  await db.query(`update import set state = 'undone', undone_at = $2, undone_by = $3 where id = $1`, [id, at, actor])
  const counts = (wanted: OutcomeRow['outcome']) =>
    Object.fromEntries(rows.flatMap(({ outcome, what, rows }) => (outcome === wanted ? [[what, rows]] : [])))
  return {
    removed: counts('removed'),
    returned: counts('returned'),
    restored: counts('restored'),
    closed: rows.flatMap(({ outcome, key }) => (outcome === 'closed' ? [Number(key?.id)] : [])),
  }
}

type RefusedByDatabase = Error & { readonly table?: string; readonly detail?: string }

/** Why the database refuses what an import would bring back; of a value that another row has since, which row that is. */
async function refusedBy(db: Db, id: number, { table, detail, message }: RefusedByDatabase): Promise<Obstacle> {
  const refused = detail ?? message
  const [, column, value] = /^Key \((\w+)\)=\((.*)\) already exists\.$/s.exec(detail ?? '') ?? []
  const { rows } = await db.query<{ keys: string }>('select keys from import_tables() where name = $1', [table ?? ''])
  if (table === undefined || rows[0] === undefined || column === undefined)
    return { what: table ?? 'store', key: {}, refused }
  const found = await db.query<{ key: Obstacle['key']; byImport: number | undefined }>(
    `select k.key, (select max(c.import_id) from import_change c
        where c.table_name = $1 and c.key = k.key and c.import_id <> $2) as by_import
      from (select (to_jsonb(t) - import_columns($1, $3)) as key from ${quotedName(table)} t where to_jsonb(t) ->> $4 = $5 limit 1) k`,
    [table, id, rows[0].keys, column, value],
  )
  const { key = {}, byImport } = found.rows[0] ?? {}
  return { what: table, key, refused, ...(byImport !== undefined && { byImport }) }
}

function toObstacle({ what, key, other, otherKey, byImport, rows }: OutcomeRow): Obstacle {
  return {
    what,
    key: key ?? {},
    ...(other !== undefined && { needs: { what: other, key: otherKey ?? {}, rows } }),
    ...(byImport !== undefined && { byImport }),
  }
}
