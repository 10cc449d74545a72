import type { Db } from '../../platform/database/connection.js'

/** Which of these projects are demo data, in order; a project of the demo's ids that is not in the store was removed with it. */
export async function inventedProjects(
  db: Db,
  ids: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select i.id from unnest($1::bigint[]) as i(id) left join project p on p.id = i.id
      where p.source = 'demo' or p.id is null and i.id between $2 and $3 order by i.id`,
    [ids, from, to],
  )
  return rows.map(({ id }) => id)
}
