import type { RowSource } from '../../kernel/project.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'

/** Sources of those of these projects that the store has, by id; the projects stay locked until the transaction ends. */
export async function lockProjectSources(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, RowSource>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; source: RowSource }>(
    `select id, source from project where id = any (${asSubselect('$1::bigint[]')}::bigint[]) order by id for no key update`,
    [[...new Set(ids)]],
  )
  return new Map(rows.map((row) => [row.id, row.source]))
}

/** Computes what is still to be raised from goal and funding. */
export async function deriveRemaining(db: Db, ids: readonly number[]): Promise<void> {
  await db.query(
    `update project p set remaining = w.remaining
      from (select id, case when goal is not null then greatest(goal - funding, 0) end as remaining
        from project where id = any (${asSubselect('$1::bigint[]')}::bigint[])) w
      where p.id = w.id and p.remaining is distinct from w.remaining`,
    [ids],
  )
}
