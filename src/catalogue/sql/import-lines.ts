import { columnOf, fileFieldsOf, fileNameOf, type NamedField, type Noun } from '../../kernel/nouns/field.js'
import type { Db } from '../../platform/database/connection.js'

/** Where a record of a kind stands, by what its file calls it. */
export type ImportLine = { readonly key: string; readonly file: string; readonly line: number }

/** The same with the import that has created or changed the record there. */
export type ImportOrigin = ImportLine & {
  readonly import: number
  readonly kind: string
  readonly at: Date
  readonly actor: string
}

/** Remembers the lines for the import that the transaction belongs to; for none, nothing. */
export async function recordImportLines(db: Db, kind: string, lines: readonly ImportLine[]): Promise<void> {
  if (lines.length === 0) return
  await db.query(
    `insert into import_line as l (import_id, kind, key, file, line)
      select i.id, $1, w.key, w.file, w.line
        from (select nullif(current_setting('giving.import', true), '')::bigint as id) i
          cross join unnest($2::text[], $3::text[], $4::integer[]) w (key, file, line)
        where i.id is not null
      on conflict (kind, key, import_id) do update set file = excluded.file, line = excluded.line`,
    [kind, lines.map(({ key }) => key), lines.map(({ file }) => file), lines.map(({ line }) => line)],
  )
}

/** Where records of these kinds and keys stand, the newest import first; imports that were taken back are left out. */
export async function findImportLines(
  db: Db,
  wanted: readonly { readonly kind: string; readonly key: string }[],
): Promise<ImportOrigin[]> {
  const { rows } = await db.query<ImportOrigin>(
    `select l.import_id as import, l.kind, l.key, l.file, l.line, i.started_at as at, i.actor
      from import_line l join import i on i.id = l.import_id
      where i.state <> 'undone' and (l.kind, l.key) in (select * from unnest($1::text[], $2::text[]))
      order by l.import_id desc, l.kind, l.line`,
    [wanted.map(({ kind }) => kind), wanted.map(({ key }) => key)],
  )
  return rows
}

/** A row that records of a noun are stored in, and the column that finds it. */
export type StoredRow = {
  readonly noun: Noun
  readonly table: 'project' | 'organisation' | 'progress_report'
  readonly by: 'id' | 'url'
  readonly value: number | string
}

type Stored = Readonly<Record<string, unknown>>

// Items of a list that are looked up.
const mostItems = 255

/**
 * The fields, as files name them, that each of these imports was the last to set in a row: it created the row with a value, or
 * changed the value. An import without an entry is not remembered any more.
 */
export async function findSetFields(
  db: Db,
  imports: readonly number[],
  { noun, table, by, value }: StoredRow,
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const set = new Map<number, Set<string>>()
  const found = 'select t.id, to_jsonb(t)::text as row'
  const { rows } = await db.query<{ id: number; row: string }>(
    by === 'id'
      ? `${found} from ${table} t where t.id = $1`
      : `${found} from progress_report t where t.url = $1 order by t.id limit 1`,
    [value],
  )
  const [current] = rows
  if (!current) return set
  const { rows: changes } = await db.query<{ import: number; before: string | undefined }>(
    `select import_id as import, before::text from import_change
      where import_id = any ($1) and table_name = $2 and key = jsonb_build_object('id', $3::bigint) order by turn`,
    [imports, table, current.id],
  )
  const fields = fileFieldsOf(noun)
  const states = [...changes.map(({ before }) => before), current.row].map((text) => JSON.parse(text ?? '{}') as Stored)
  const known = new Set<string>()
  for (const [at, { import: id }] of [...changes.entries()].reverse()) {
    const [old, now] = [states[at], states[at + 1]]
    const own = new Set<string>()
    set.set(id, own)
    for (const field of fields) {
      const values = [valuesIn(old, field), valuesIn(now, field)] as const
      for (const name of new Set(values.flatMap((one) => [...one.keys()]))) {
        if (known.has(name) || values[0].get(name) === values[1].get(name)) continue
        known.add(name)
        own.add(fileNameOf(field))
      }
    }
  }
  for (const field of fields) {
    const { table: items = '', order = [] } = field.list ?? {}
    if (items === '') continue
    const { rows: touched } = await db.query<{ import: number }>(
      `select import_id as import from import_change
        where import_id = any ($1) and table_name = $2
          and key = any (select jsonb_build_object($3::text, $4::bigint, $5::text, n) from generate_series(0, ${mostItems}) n)
          and (before is null or after is null or md5(before::text)::uuid <> after)
        order by import_id desc limit 1`,
      [imports, items, `${table}_id`, current.id, order[0]],
    )
    for (const { import: id } of touched) set.set(id, (set.get(id) ?? new Set()).add(fileNameOf(field)))
  }
  return set
}

/** A field's value and its texts in other languages, as texts that can be compared. */
function valuesIn(row: Stored | undefined, field: NamedField): Map<string, string> {
  const values = new Map<string, string>()
  const value = field.list ? null : (row?.[columnOf(field)] ?? null)
  if (value !== null) values.set(field.field, JSON.stringify(value))
  for (const [name, text] of Object.entries((row?.texts ?? {}) as Stored)) {
    if (name.startsWith(`${field.field}@`)) values.set(name, JSON.stringify(text))
  }
  return values
}
