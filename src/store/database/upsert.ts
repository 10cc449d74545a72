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
