import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'

/** A table of what belongs to projects or organisations. */
export type OwnedRows = {
  readonly table: string
  readonly owner: 'project_id' | 'organisation_id'
  /** All columns that are stated. */
  readonly columns: readonly string[]
}

/** Makes the rows of these owners what is stated; rows that are there keep their other columns. */
export async function replaceRows(
  db: Db,
  { table, owner, columns }: OwnedRows,
  owners: readonly number[],
  rows: readonly object[],
): Promise<void> {
  const stated = `json_populate_recordset(null::${table}, $1::json)`
  const same = columns.map((name) => `w.${name} is not distinct from t.${name}`).join(' and ')
  await db.query(
    `delete from ${table} t where t.${owner} = any (${asSubselect('$2::bigint[]')}::bigint[]) and not exists (
       select from ${stated} w where w.${owner} = t.${owner} and ${same})`,
    [JSON.stringify(rows), owners],
  )
  if (rows.length === 0) return
  const all = [owner, ...columns].join(', ')
  await db.query(`insert into ${table} (${all}) select ${all} from ${stated} on conflict do nothing`, [
    JSON.stringify(rows),
  ])
}
