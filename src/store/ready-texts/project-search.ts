import type { Db } from '../database/connection.js'
import { currentProjectRecord, type WantedText } from './ready-texts.js'

/** What is searched for among active projects; without `words` everything that the filters let through. */
export type ProjectSearch = {
  readonly words?: string | undefined
  /** One of these themes and one of these countries; an empty list lets all through. */
  readonly themeIds: readonly string[]
  readonly countryCodes: readonly string[]
}

/** All hits of a search, as one statement saw them. */
export type ProjectHits = {
  /** The ids, best first, eight bytes each: many small numbers, which the driver would read one by one. */
  readonly ids: Buffer
  /** What the statement saw; `selectHits` tells whether the hits are still these. */
  readonly snapshot: string
}

const idBytes = 8

/**
 * All hits, best first and ties by id. Words are read as people type them into search engines (`"exact phrase"`, `or`,
 * `-not`); nothing in them is an error.
 */
export async function findProjectHits(db: Db, { words, themeIds, countryCodes }: ProjectSearch): Promise<ProjectHits> {
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  // Only active projects have a row.
  const from =
    words === undefined
      ? 'project_search s'
      : `websearch_to_tsquery('english', ${bind(words)}) query join project_search s on s.document @@ query`
  const filters = [
    ...(themeIds.length === 0
      ? []
      : [`s.project_id in (select project_id from project_theme where theme_id = any (${bind(themeIds)}::text[]))`]),
    ...(countryCodes.length === 0
      ? []
      : [
          `s.project_id in (
            select project_id from project_country where country_code = any (${bind(countryCodes)}::text[]))`,
        ]),
  ]
  const { rows } = await db.query<ProjectHits>(
    `select coalesce(string_agg(int8send(id), ''), '') as ids, pg_current_snapshot()::text as snapshot
      from (
        select s.project_id as id
        from ${from}
        where ${filters.length === 0 ? 'true' : filters.join(' and ')}
        order by ${words === undefined ? '' : 'ts_rank(s.document, query) desc,'} s.project_id
      ) hit`,
    values,
  )
  return rows[0] ?? { ids: Buffer.alloc(0), snapshot: '' }
}

/** The number of all hits. */
export function numberOfHits({ ids }: ProjectHits): number {
  return ids.length / idBytes
}

/** The ids of `limit` hits from number `start` on. */
export function hitsFrom({ ids }: ProjectHits, start: number, limit: number): number[] {
  const end = Math.min(start + limit, ids.length / idBytes)
  return Array.from({ length: Math.max(0, end - start) }, (_, index) =>
    Number(ids.readBigInt64BE((start + index) * idBytes)),
  )
}

/** Records of hits, in the order of their ids. */
export type HitRows = {
  /** Whether something changed since `snapshot` that decides who is found and in which order. */
  readonly changed: boolean
  /** The records one after another, joined by commas in JSON; undefined when one is missing or stale. */
  readonly body: string | undefined
}

/** The records with these ids, and whether the list that they are from still holds, in one round trip. */
export async function selectHits(db: Db, ids: readonly number[], snapshot: string, text: WantedText): Promise<HitRows> {
  const { rows } = await db.query<{ changed: boolean; body: string | null }>(
    `select
        exists (
          select from search_change
          where xid >= pg_snapshot_xmin($3::pg_snapshot) and not pg_visible_in_snapshot(xid, $3::pg_snapshot)
        ) as changed,
        case when coalesce(bool_and(r.text is not null), true)
          then coalesce(string_agg(r.text, '${text.format === 'json' ? ',' : ''}' order by p.position), '') end as body
      from unnest((select $1::bigint[])) with ordinality p (id, position)
        left join lateral ${currentProjectRecord(text, '$2')} r on true`,
    [ids, text.recordVersion, snapshot],
    `hits-${text.view}-${text.format}`,
  )
  const [row] = rows
  return { changed: row?.changed ?? true, body: row?.body ?? undefined }
}
