import type { IsoDate } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'
import type { IdRange } from '../../work/run.js'

/** Which renderings count as stale (architecture.md 2.2): dirty, made under another key, or overtaken by time. */
export type StaleCriteria = {
  readonly inputKey: string
  readonly day: IsoDate
  readonly force: boolean
  readonly publisherRef: string
}

const staleIds = `
  select project_id from project_version where dirty or $3
  union
  select project_id from rendering where input_key <> $1 or valid_until <= $2::date`

/** Cuts the stale projects into ranges of about `size` stale projects each, in id order; [] when nothing is stale. */
export async function planStaleRanges(db: Db, stale: StaleCriteria, size: number): Promise<IdRange[]> {
  const { rows } = await db.query<IdRange>(
    `select min(project_id) as from_id, max(project_id) as to_id
      from (select project_id, (row_number() over (order by project_id) - 1) / $4::integer as range
        from (${staleIds}) as stale) as numbered
      group by range order by range`,
    [stale.inputKey, stale.day, stale.force, size],
  )
  return rows
}

/** What is known of a stale project before it is mapped again. */
export type StaleProject = {
  readonly projectId: number
  /** The identifier that it was first published under, if it ever was. */
  readonly identifier: string | undefined
  /** Another project that has the identifier which this one would get by default. */
  readonly defaultTakenBy: number | undefined
  readonly contentHash: string | undefined
  readonly lastUpdatedAt: Date | undefined
  /** False where an import of an export brought hash and date without the text, which is made again from the project. */
  readonly hasText: boolean
  readonly feedHash: string | undefined
  /** As `hasText`, for the feed. */
  readonly hasFeed: boolean
}

/** Up to `limit` stale projects of the range with ids above `after`, in id order. */
export async function staleProjects(
  db: Db,
  stale: StaleCriteria,
  range: IdRange,
  after: number,
  limit: number,
): Promise<StaleProject[]> {
  const { rows } = await db.query<StaleProject>(
    `select v.project_id, i.identifier, case when i.identifier is null then (
          select o.id from project o
            where o.iati_identifier = $8::text || '-' || v.project_id and o.id <> v.project_id
          union all select o.project_id from published_identifier o
            where o.identifier = $8::text || '-' || v.project_id and o.project_id <> v.project_id
          limit 1
        ) end as default_taken_by, r.content_hash,
        r.last_updated_at, r.text is not null as has_text, f.content_hash as feed_hash,
        coalesce(f.bytes > 0, false) as has_feed
      from project_version v
        left join rendering r using (project_id)
        left join published_identifier i using (project_id)
        left join report_feed f using (project_id)
      where v.project_id > $4 and v.project_id between $5 and $6
        and (v.dirty or $3 or r.input_key <> $1 or r.valid_until <= $2::date)
      order by v.project_id limit $7`,
    [stale.inputKey, stale.day, stale.force, after, range.fromId, range.toId, limit, stale.publisherRef],
  )
  return rows
}

/** Up to `limit` projects with ids above `after`, stale or not, in id order. */
export async function everyProject(
  db: Db,
  publisherRef: string,
  after: number,
  limit: number,
): Promise<StaleProject[]> {
  const all = { inputKey: '', day: '0001-01-01' as IsoDate, force: true, publisherRef }
  return await staleProjects(db, all, { fromId: 1, toId: Number.MAX_SAFE_INTEGER }, after, limit)
}

/** How many stale projects a range holds. */
export async function countStale(db: Db, stale: StaleCriteria, range: IdRange): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from project_version v left join rendering r using (project_id)
      where v.project_id between $4 and $5 and (v.dirty or $3 or r.input_key <> $1 or r.valid_until <= $2::date)`,
    [stale.inputKey, stale.day, stale.force, range.fromId, range.toId],
  )
  return rows[0]?.count ?? 0
}

/** How many renderings were made under another key of the mapping, and `most` of their projects, of all ages. */
export async function madeByOtherRules(
  db: Db,
  key: string,
  most: number,
): Promise<{ readonly count: number; readonly sample: readonly number[] }> {
  const { rows } = await db.query<{ id: number; count: number }>(
    `select project_id as id, count(*) over ()::integer as count from rendering
      where split_part(input_key, '+', 1) <> $1 order by hashint8(project_id), project_id limit $2`,
    [key, most],
  )
  return { count: rows[0]?.count ?? 0, sample: rows.map(({ id }) => id).sort((a, b) => a - b) }
}
