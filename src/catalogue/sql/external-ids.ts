import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'

/** Tables whose rows a platform may name by ids of its own. */
export type NumberedTable = 'project' | 'organisation' | 'progress_report'

/** The numbers of the rows that have these ids of a platform. */
export async function findNumbers(
  db: Db,
  table: NumberedTable,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (externalIds.length === 0) return new Map()
  const { rows } = await db.query<{ externalId: string; id: number }>(
    `select external_id, id from ${table} where external_id = any (${asSubselect('$1::text[]')}::text[])`,
    [[...new Set(externalIds)]],
  )
  return new Map(rows.map(({ externalId, id }) => [externalId, id]))
}

/** What a platform calls the row itself; undefined: nothing else than its number. */
export async function findExternalId(db: Db, table: NumberedTable, id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ externalId: string | undefined }>(
    `select external_id from ${table} where id = $1`,
    [id],
  )
  return rows[0]?.externalId
}

/** The numbers of the rows that have these ids of a platform, with a new number for each id that no row has. */
export async function giveNumbers(
  db: Db,
  table: NumberedTable,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const known = await findNumbers(db, table, externalIds)
  const unknown = [...new Set(externalIds)].filter((one) => !known.has(one))
  if (unknown.length === 0) return known
  const { rows } = await db.query<{ externalId: string; id: number }>(
    `select external_id, new_number('${table}') as id from unnest($1::text[]) with ordinality w (external_id, place) order by place`,
    [unknown],
  )
  return new Map([...known, ...rows.map(({ externalId, id }) => [externalId, id] as const)])
}

/** Writes the ids of these rows where they differ; returns the numbers of the rows that this has changed. */
export async function saveExternalIds(
  db: Db,
  table: NumberedTable,
  wanted: readonly { readonly id: number; readonly externalId: string }[],
): Promise<number[]> {
  if (wanted.length === 0) return []
  const { rows } = await db.query<{ id: number }>(
    `update ${table} t set external_id = w.external_id
      from unnest($1::bigint[], $2::text[]) w (id, external_id)
      where t.id = w.id and t.external_id is distinct from w.external_id returning t.id`,
    [wanted.map(({ id }) => id), wanted.map(({ externalId }) => externalId)],
  )
  return rows.map(({ id }) => id)
}
