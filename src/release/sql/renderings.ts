import type { IsoDate } from '../../kernel/dates.js'
import { unusualMinorUnits } from '../../kernel/money.js'
import type { Notice } from '../../kernel/notice.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import { copyRows } from '../../platform/database/copy-rows.js'

/**
 * Assigns every publishable activity without a segment to one, for ever: the last one while it has room, then new ones, in
 * id order. A segment stops taking new projects at `segmentBytes` (iati.md 15.1). `materialized` makes PostgreSQL compute the end of the last segment once, not for every activity.
 */
export async function assignSegments(db: Db, segmentBytes = 12_000_000): Promise<void> {
  await db.query(
    `with last as (
        select coalesce(max(segment), 1) as segment from rendering
      ), room as (
        select segment, (select coalesce(sum(bytes), 0) from rendering r where r.segment = last.segment) as bytes
          from last
      ), base as materialized (
        select case when bytes >= $1 then segment + 1 else segment end as segment,
          case when bytes >= $1 then 0 else bytes end as bytes from room
      ), fresh as (
        select project_id, sum(bytes) over (order by project_id) - bytes as before
          from rendering where segment is null and text is not null
      )
      update rendering r set segment = base.segment + floor((base.bytes + fresh.before) / $1::numeric)::integer
        from fresh, base where r.project_id = fresh.project_id`,
    [segmentBytes],
  )
}

/** A block of a segment's activities, by its number: those of neighbouring ids. */
export type ActivityBlock = { readonly segment: number; readonly number: number; readonly fingerprint: string }

/** How many activities are published, and over how many ids they are spread. */
export async function spreadOfActivities(db: Db): Promise<{ readonly count: number; readonly ids: number }> {
  const { rows } = await db.query<{ count: number; ids: number }>(
    `select count(*) as count, coalesce(max(project_id) - min(project_id) + 1, 0) as ids
      from rendering where text is not null`,
  )
  return rows[0] ?? { count: 0, ids: 0 }
}

/** Blocks of these segments in their order, each of `ids` ids; a fingerprint names exactly these versions of its activities. */
export async function activityBlocks(
  db: Db,
  segments: readonly number[],
  ids: number,
): Promise<readonly ActivityBlock[]> {
  const { rows } = await db.query<ActivityBlock>(
    `select segment, project_id / $2 as number,
        left(md5(string_agg(project_id || ' ' || content_hash || ' ' || extract(epoch from last_updated_at), E'\\n'
          order by project_id)), 24) as fingerprint
      from rendering where segment = any ($1::integer[]) and text is not null group by 1, 2 order by 1, 2`,
    [segments, ids],
  )
  return rows
}

/** COPY of segment (integer), number of the block (bigint) and text of these blocks' activities, in their order. */
export function copyBlocks(
  client: Connection,
  ids: number,
  blocks: readonly ActivityBlock[],
): AsyncGenerator<Buffer[][]> {
  const numbers = [...new Set(blocks.map(({ number }) => number))]
  const segments = [...new Set(blocks.map(({ segment }) => segment))]
  if (![ids, ...numbers, ...segments].every(Number.isSafeInteger)) throw new TypeError('blocks have whole numbers')
  return copyRows(
    client,
    `copy (select segment, project_id / ${ids}::bigint, text from rendering
      where segment = any ('{${segments}}'::integer[]) and project_id / ${ids}::bigint = any ('{${numbers}}'::bigint[])
        and text is not null
      order by segment, project_id) to stdout (format binary)`,
  )
}

/** Columns: project id, text, entries, changed (epoch seconds). */
export function copyReportFeeds(client: Connection): AsyncGenerator<Buffer[][]> {
  return copyRows(
    client,
    `copy (select project_id, text, entries, extract(epoch from date_trunc('second', changed_at))::bigint
      from report_feed order by project_id) to stdout (format binary)`,
  )
}

/** The project and the beginning of each feed, with its title. */
export function copyFeedHeads(client: Connection): AsyncGenerator<Buffer[][]> {
  return copyRows(
    client,
    `copy (select project_id, left(text, 8000) from report_feed order by project_id) to stdout (format binary)`,
  )
}

/** Number of project feeds and a fingerprint of them all. */
export async function reportFeedsFingerprint(db: Db): Promise<{ count: number; entries: number; fingerprint: string }> {
  const { rows } = await db.query<{ count: number; entries: number; fingerprint: string }>(
    `select count(*)::integer as count, coalesce(sum(entries), 0)::integer as entries,
        coalesce(md5(string_agg(project_id || ' ' || content_hash, E'\\n' order by project_id)), '') as fingerprint
      from report_feed`,
  )
  return rows[0] ?? { count: 0, entries: 0, fingerprint: '' }
}

/**
 * Activities rendered after the run `sinceRun` whose reported money differs, in any currency, from `donation_month` and
 * `disbursement` up to `day`: how many, and the first `limit` in words. Projects that have changed since are left out: they
 * are rendered again.
 */
export async function unbalancedRenderings(
  db: Db,
  { sinceRun, day }: { readonly sinceRun: number; readonly day: IsoDate },
  limit: number,
): Promise<{ count: number; sample: string[] }> {
  // Most often they are few: no plan reads the books of all.
  const ofChecked = 'array(select project_id from checked)'
  const { rows } = await db.query<{ identifier: string; reported: string; books: string; count: number }>(
    `with checked as (
        select r.project_id, r.identifier, r.money
          from rendering r
          where r.run_id > $1 and r.verdict = 'valid' and r.text is not null
            and (r.valid_until is null or r.valid_until > $2)
            and (select not dirty from project_version v where v.project_id = r.project_id)
      ), entries as (
        select project_id, currency, case when kind = 'fee' then 'out' else 'in' end as side, amount
          from donation_month where project_id = any (${ofChecked}) and last_on <= $2
        union all
        select project_id, currency, 'out', amount
          from disbursement where project_id = any (${ofChecked}) and disbursed_on <= $2
        union all
        select project_id, currency, side, - amount::numeric
          from checked, jsonb_each(money) as c (currency, sides), jsonb_each_text(sides) as s (side, amount)
      ), differences as (
        select project_id, currency, side, sum(round(amount, coalesce(($3::jsonb ->> currency)::integer, 2))) as amount
          from entries group by project_id, currency, side
      )
      select identifier, currency || ' ' || side as reported, amount::text as books, (count(*) over ())::integer as count
        from (
          select distinct on (project_id) project_id, currency, side, amount from differences where amount <> 0
            order by project_id, currency collate "C", side collate "C"
        ) first join checked using (project_id)
        order by project_id limit $4`,
    [sinceRun, day, JSON.stringify(unusualMinorUnits), limit],
  )
  return {
    count: rows[0]?.count ?? 0,
    sample: rows.map(({ identifier, reported, books }) => `${identifier} (${reported}: the books have ${books} more)`),
  }
}

/** An activity whose newest mapping is invalid. */
export type HeldRow = {
  readonly projectId: number
  readonly identifier: string
  readonly stillPublished: boolean
  /** Undefined for an activity that an earlier version held. */
  readonly since?: Date
  readonly notices: readonly Notice[]
  /** Where what was published before the move came from. */
  readonly file?: string
  readonly line?: number
}

/** The held activity of a project; undefined when it is not held. */
export async function findHeldRendering(db: Db, projectId: number): Promise<HeldRow | undefined> {
  const { rows } = await db.query<HeldRow>(`${selectHeld} and project_id = $1`, [projectId])
  return rows[0]
}

const selectHeld = `select project_id, identifier, r.text is not null as still_published, held_since as since,
    notices, k.file, k.line from rendering r left join kept_activity k using (project_id) where verdict = 'held'`

/** Which held activities: all, those that break a rule, those of projects after one, those with a published text. */
export type HeldFilter = {
  readonly rule?: string | undefined
  readonly after?: number | undefined
  readonly isPublished?: boolean
}

/** How many activities are held, and the first `limit` of those that a filter asks for, by id. */
export async function heldRenderings(
  db: Db,
  limit: number,
  { rule, after, isPublished = false }: HeldFilter = {},
): Promise<{ count: number; sample: HeldRow[] }> {
  const count = await db.query<{ count: number }>(
    `select count(*)::integer as count from rendering where verdict = 'held'`,
  )
  const { rows } = await db.query<HeldRow>(
    `${selectHeld} and ($2::text is null or notices @> jsonb_build_array(jsonb_build_object('code', $2::text, 'severity', 'error')))
        and ($3::bigint is null or project_id > $3) and (not $4 or r.text is not null) order by project_id limit $1`,
    [limit, rule ?? null, after ?? null, isPublished],
  )
  return { count: count.rows[0]?.count ?? 0, sample: rows }
}

/** What the published activities cover. */
export type Coverage = {
  /** The day of the first release. */
  readonly issued?: IsoDate
  /** The year in which the earliest project was approved. */
  readonly since?: string
  /** Where the projects are (ISO 3166-1 alpha-2), in the order of the codes. */
  readonly countries: readonly string[]
}

/** What the published activities cover, and since which day there are any; absent before the first release. */
export async function publishedCoverage(db: Db): Promise<Coverage> {
  const { rows } = await db.query<Coverage>(
    `select (select to_char(min(first_published_at) at time zone 'UTC', 'YYYY-MM-DD') from published_identifier) as issued,
        (select to_char(approved_date at time zone 'UTC', 'YYYY') from project p where exists (
          select from rendering where project_id = p.id and verdict = 'valid'
        ) order by approved_date limit 1) as since,
        array(select code from country where (
          select true from project_country c where country_code = code
            and (select verdict = 'valid' from rendering r where r.project_id = c.project_id) limit 1
        ) order by 1) as countries`,
  )
  return { countries: [], ...(rows[0] ?? {}) }
}

/** The projects among these that are held and were never published. */
export async function neverPublishable(db: Db, projectIds: readonly number[]): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ id: number }>(
    `select project_id as id from rendering where project_id = any ($1::bigint[]) and verdict = 'held' and text is null`,
    [projectIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** How many activities each rule holds, the most first. */
export async function heldRules(db: Db): Promise<{ readonly code: string; readonly count: number }[]> {
  const { rows } = await db.query<{ code: string; count: number }>(
    `select notice ->> 'code' as code, count(distinct project_id)::integer as count
      from rendering cross join jsonb_array_elements(notices) notice
      where verdict = 'held' and notice ->> 'severity' = 'error' group by 1 order by 2 desc, 1`,
  )
  return rows
}
