import type { Db } from '../../platform/database/connection.js'

const kindsOfFlows = ['in', 'partners', 'expenditure', 'budget'] as const

/** Decimal amounts by kind of money and currency. */
type Flows = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The activities of one file, as a release tells of them. */
export type Segment = {
  readonly segment: number
  readonly activities: number
  readonly bytes: number
  /** Changes when any activity of the segment does. */
  readonly fingerprint: string
  readonly warnings: number
  readonly infos: number
  readonly noticeCounts: Readonly<Record<string, number>>
  /** What the activities report as incoming, decimal by currency. */
  readonly incoming: Readonly<Record<string, string>>
  /** Sums of what stands in the activities, their own and moved money, by kind and currency. */
  readonly flows: Flows
  /** For each table how many rows of it the activities have, and a hash of them. */
  readonly rows: readonly { readonly count: number; readonly hash: string }[]
}

/** The rows of an activity: their version, of how many tables, and how many bytes of `activity_rows.hashes` each has. */
export type RowsFormat = { readonly version: number; readonly tables: number; readonly hashBytes: number }

/** A published text without the rows that a release needs. */
export type TextWithoutRows = { readonly projectId: number; readonly contentHash: string; readonly text: string }

// PostgreSQL keeps what it reads of so many in memory.
const segmentsAtOnce = 8

// Raise it with every change of what a summary says of the same activities.
const summaryFormat = 2

/**
 * Computes the summaries of segments that changed, in the caller's transaction. Returns the segments with an activity whose rows
 * are missing, of another content or of another version: they have no summary, and keep a mark. Changes that are not seen yet
 * have marks of their own, which stay. The caller holds the publishing lock. Segments are read over the connection `beside` too,
 * since PostgreSQL puts rows in an order without help of other processes: so what is summarized must be committed.
 */
export async function summarizeSegments(db: Db, beside: Db, format: RowsFormat): Promise<number[]> {
  const version = versionOf(format)
  const { rows } = await db.query<{ segment: number }>(
    `with gone as (delete from segment_change returning segment)
      select segment from gone union select segment from segment_summary where version <> $1`,
    [version],
  )
  if (rows.length === 0) return []
  const changed = rows.map(({ segment }) => segment)
  await db.query('delete from segment_summary where segment = any ($1::integer[])', [changed])
  const made: { segment: number; summary: unknown; lacking: number }[] = []
  const left = [...changed]
  const atOnce = Math.min(segmentsAtOnce, Math.ceil(left.length / 2))
  const summarize = async (by: Db) => {
    while (left.length > 0) {
      const { rows } = await by.query<(typeof made)[0]>(summaries(format, '$1::integer[]'), [left.splice(0, atOnce)])
      made.push(...rows)
    }
  }
  await Promise.all([summarize(db), summarize(beside)])
  const whole = made.filter(({ lacking }) => lacking === 0)
  await db.query(
    `insert into segment_summary (segment, version, summary)
      select segment, $3, summary from unnest($1::integer[], $2::jsonb[]) as t (segment, summary)`,
    [whole.map(({ segment }) => segment), whole.map(({ summary }) => JSON.stringify(summary)), version],
  )
  const incomplete = made.flatMap(({ segment, lacking }) => (lacking > 0 ? [segment] : []))
  if (incomplete.length > 0) await db.query('insert into segment_change select unnest($1::integer[])', [incomplete])
  return incomplete
}

/** All segments that hold a publishable activity, by number; what changed after `summarizeSegments` is included. */
export async function listSegments(db: Db, format: RowsFormat): Promise<Segment[]> {
  const { rows: marks } = await db.query<{ segment: number }>('select distinct segment from segment_change')
  const changed = marks.map(({ segment }) => segment)
  const { rows } = await db.query<{ segment: number; summary: Segment }>(
    `select segment, summary from segment_summary where segment <> all ($1::integer[])
      ${changed.length === 0 ? '' : `union all select segment, summary from (${summaries(format, '$1::integer[]')}) as s`}
      order by segment`,
    [changed],
  )
  return rows.map(({ summary }) => {
    // A jsonb has its keys in another order.
    const noticeCounts = Object.entries(summary.noticeCounts).sort(([one], [other]) => (one < other ? -1 : 1))
    return { ...summary, noticeCounts: Object.fromEntries(noticeCounts) }
  })
}

/** Activities of a segment whose rows are missing, of another content or of another version, up to `limit`, by project. */
export async function textsWithoutRows(
  db: Db,
  segment: number,
  format: RowsFormat,
  limit: number,
): Promise<TextWithoutRows[]> {
  const { rows } = await db.query<TextWithoutRows>(
    `select project_id, content_hash, text from rendering r
      where segment = $1 and text is not null and not coalesce((
        select t.version = $2 and t.content_hash = r.content_hash from activity_rows t where t.project_id = r.project_id
      ), false) order by project_id limit $3`,
    [segment, format.version, limit],
  )
  return rows
}

/** What all publishable activities report as incoming, decimal by currency. */
export async function incomingMoney(db: Db, segments: readonly Segment[]): Promise<Record<string, string>> {
  const amounts = segments.flatMap(({ incoming }) => Object.entries(incoming))
  const { rows } = await db.query<{ currency: string; amount: string }>(
    `select currency, sum(amount)::text as amount from unnest($1::text[], $2::numeric[]) as t (currency, amount)
      group by currency order by currency collate "C"`,
    [amounts.map(([currency]) => currency), amounts.map(([, amount]) => amount)],
  )
  return Object.fromEntries(rows.map((row) => [row.currency, row.amount]))
}

/** The sums of all publishable activities by kind and currency. */
export async function sumOfFlows(db: Db, segments: readonly Segment[]): Promise<Flows> {
  const { rows } = await db.query<{ kind: string; amounts: Readonly<Record<string, string>> }>(
    `select kind, jsonb_object_agg(currency, amount::text order by currency collate "C") as amounts from (
        select kind, currency, sum(amount::numeric) as amount
          from unnest($1::jsonb[]) flows, jsonb_each(flows) k (kind, amounts), jsonb_each_text(amounts) c (currency, amount)
          group by kind, currency) sums
      where amount <> 0 group by kind order by kind`,
    [segments.map(({ flows }) => JSON.stringify(flows))],
  )
  return Object.fromEntries(rows.map(({ kind, amounts }) => [kind, amounts]))
}

function versionOf({ version }: RowsFormat): string {
  return `${summaryFormat} ${version}`
}

/** SQL of the summaries of the segments in an array, and of how many activities of each lack rows. */
function summaries({ version, tables, hashBytes }: RowsFormat, segments: string): string {
  const rowsOf = Array.from({ length: tables }, (_, table) => {
    const hash = `substring(hashes from ${table * hashBytes + 1} for ${hashBytes})`
    return `jsonb_build_object('count', coalesce(sum(counts[${table + 1}]), 0),
      'hash', md5(string_agg(${hash}, ''::bytea order by project_id)))`
  })
  const sums = kindsOfFlows.map((kind) => `sum((sums ->> '${kind}')::numeric) as "${kind}"`)
  const amounts = kindsOfFlows.map((kind) => `('${kind}', "${kind}")`)
  return `
    with activity as materialized (
      select segment, project_id, rendering.content_hash, last_updated_at, bytes, verdict, warnings, infos, notice_counts,
          money, counts, hashes, flows,
          coalesce(version = ${version} and activity_rows.content_hash = rendering.content_hash, false) as has_rows
        from rendering left join activity_rows using (project_id)
        where text is not null and segment = any (${segments})
    )
    select segment, jsonb_build_object(
        'segment', segment, 'activities', activities, 'bytes', bytes, 'fingerprint', fingerprint, 'warnings', warnings,
        'infos', infos, 'noticeCounts', coalesce(counts, '{}'), 'incoming', coalesce(amounts, '{}'),
        'flows', coalesce(flows, '{}'), 'rows', rows) as summary, lacking
      from (
        select segment, count(*) as activities, sum(bytes) as bytes,
            md5(string_agg(project_id || ' ' || content_hash || ' ' || extract(epoch from last_updated_at), E'\\n'
              order by project_id)) as fingerprint,
            sum(warnings) as warnings, sum(infos) as infos, jsonb_build_array(${rowsOf}) as rows,
            (count(*) filter (where not has_rows))::integer as lacking
          from activity group by segment
      ) as whole left join (
        select segment, jsonb_object_agg(code, count) as counts from (
          select segment, code, sum(value::integer) as count
            from activity, jsonb_each_text(notice_counts) as t (code, value)
            where verdict = 'valid' group by segment, code
        ) as notices group by segment
      ) as notices using (segment) left join (
        select segment, jsonb_object_agg(currency, amount::text) as amounts from (
          select segment, currency, sum((value ->> 'in')::numeric) as amount
            from activity, jsonb_each(money) as t (currency, value) group by segment, currency
        ) as money group by segment
      ) as money using (segment) left join (
        select segment, jsonb_object_agg(kind, amounts) as flows from (
          select segment, kind, jsonb_object_agg(currency, amount::text) as amounts from (
            select segment, currency, ${sums}
              from activity, jsonb_each(flows) as m (currency, sums) group by segment, currency
          ) as sums, lateral (values ${amounts}) as of_kind (kind, amount)
            where amount is not null group by segment, kind
        ) as kinds group by segment
      ) as flows using (segment)`
}
