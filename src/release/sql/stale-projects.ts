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

const stale = `
  select project_id from project_version where dirty or $3
  union
  select project_id from rendering where input_key <> $1 or valid_until <= $2::date`

/** Cuts the stale projects into ranges of about `size` stale projects each, in id order; [] when nothing is stale. */
export async function planStaleRanges(db: Db, criteria: StaleCriteria, size: number): Promise<IdRange[]> {
  const { rows } = await db.query<IdRange>(
    `select min(project_id) as from_id, max(project_id) as to_id
      from (select project_id, (row_number() over (order by project_id) - 1) / $4::integer as range
        from (${stale}) as stale) as numbered
      group by range order by range`,
    [...valuesOf(criteria), size],
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

/** The stale projects of a range, by id. */
export async function staleIds(db: Db, criteria: StaleCriteria, { fromId, toId }: IdRange): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select project_id as id from (${stale}) as stale where project_id between $4 and $5 order by project_id`,
    [...valuesOf(criteria), fromId, toId],
  )
  return rows.map(({ id }) => id)
}

function valuesOf({ inputKey, day, force }: StaleCriteria) {
  return [inputKey, day, force]
}

/** Those of these projects that are still stale, in id order. */
export async function staleProjects(db: Db, criteria: StaleCriteria, ids: readonly number[]): Promise<StaleProject[]> {
  const { rows } = await db.query<StaleProject>(
    `${knownOf('$4')} where v.project_id = any ($5::bigint[])
        and (v.dirty or $3 or r.input_key <> $1 or r.valid_until <= $2::date)
      order by v.project_id`,
    [...valuesOf(criteria), criteria.publisherRef, ids],
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
  const { rows } = await db.query<StaleProject>(
    `${knownOf('$1')} where v.project_id > $2 order by v.project_id limit $3`,
    [publisherRef, after, limit],
  )
  return rows
}

/** SQL of `StaleProject` for a parameter that is the publisher's reference. */
function knownOf(publisherRef: string): string {
  return `select v.project_id, i.identifier, case when i.identifier is null then (
          select o.id from project o
            where o.iati_identifier = ${publisherRef}::text || '-' || v.project_id and o.id <> v.project_id
          union all select o.project_id from published_identifier o
            where o.identifier = ${publisherRef}::text || '-' || v.project_id and o.project_id <> v.project_id
          limit 1
        ) end as default_taken_by, r.content_hash,
        r.last_updated_at, r.text is not null as has_text, f.content_hash as feed_hash,
        coalesce(f.bytes > 0, false) as has_feed
      from project_version v
        left join rendering r using (project_id)
        left join published_identifier i using (project_id)
        left join report_feed f using (project_id)`
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
