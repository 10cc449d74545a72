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
