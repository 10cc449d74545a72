import type { Db } from './connection.js'

/** What an upsert writes. */
export type Upsert = {
  readonly table: string
  /** The columns of the primary key. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
  /** Columns that only a new row takes. */
  readonly insertOnly?: readonly string[]
  /** SQL condition on the stored row `t`: other rows stay as they are. */
  readonly where?: string
  /** SQL for values that depend on the stored row `t`, by column. */
  readonly values?: Readonly<Record<string, string>>
}

/**
 * SQL that inserts the rows of $1 (JSON with the columns' names), or updates the stored ones that differ. Rows are taken
 * in the order of the key, so that two writers cannot deadlock.
 */
export function upsert({ table, key, columns, insertOnly = [], where = 'true', values = {} }: Upsert): string {
  const all = [...key, ...columns, ...insertOnly].join(', ')
  const stored = columns.map((column) => `t.${column}`).join(', ')
  const wanted = columns.map((column) => values[column] ?? `excluded.${column}`).join(', ')
  return `
    insert into ${table} as t (${all})
    select ${all} from json_populate_recordset(null::${table}, $1::json) order by ${key.join(', ')}
    on conflict (${key.join(', ')}) do update set (${columns.join(', ')}) = row (${wanted})
    where ${where} and row (${stored}) is distinct from row (${wanted})`
}

/** What an upsert made of one row. */
export type RowChange = 'created' | 'changed' | 'unchanged'

/** Upserts rows with different keys and returns what became of each; rows that `where` excludes are unchanged. */
export async function upsertRows(
  db: Db,
  statement: Upsert,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<RowChange[]> {
  if (rows.length === 0) return []
  const { key } = statement
  const written = await db.query<{ key: string; created: boolean }>(
    `${upsert(statement)}
    returning concat_ws(chr(31), ${key.map((column) => `t.${column}`).join(', ')}) as key, t.xmax = 0 as created`,
    [JSON.stringify(rows)],
  )
  const created = new Map(written.rows.map((row) => [row.key, row.created]))
  return rows.map((row) => {
    const isCreated = created.get(key.map((column) => String(row[column])).join('\u001f'))
    return isCreated === undefined ? 'unchanged' : isCreated ? 'created' : 'changed'
  })
}
