import type { Db } from '../../platform/database/connection.js'

/** Columns of a table that may be emptied. */
export type ClearedColumns = {
  readonly table: 'organisation' | 'project' | 'theme'
  readonly columns: readonly string[]
}

/** Empties columns of these rows; returns the ids of the rows that this has changed. */
export async function clearColumns(
  db: Db,
  { table, columns }: ClearedColumns,
  ids: readonly (number | string)[],
): Promise<(number | string)[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ id: number | string }>(
    `update ${table} set ${columns.map((column) => `${column} = null`).join(', ')}
      where id = any ($1::${table === 'theme' ? 'text' : 'bigint'}[])
        and (${columns.map((column) => `${column} is not null`).join(' or ')})
      returning id`,
    [ids],
  )
  return rows.map(({ id }) => id)
}
