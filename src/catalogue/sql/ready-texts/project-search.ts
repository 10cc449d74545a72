import type { Db } from '../../../platform/database/connection.js'
import { type ProjectHits, readIds, readRanks, replaceHits } from './project-hits.js'
import { currentProjectRecord, type WantedText } from './ready-texts.js'

/** What is searched for among active projects; without `words` everything that the filters let through. */
export type ProjectSearch = {
  readonly words?: string | undefined
  /** One of these themes and one of these countries; an empty list lets all through. */
  readonly themeIds: readonly string[]
  readonly countryCodes: readonly string[]
}

/**
 * All hits, best first and ties by id. Words are read as people type them into search engines (`"exact phrase"`, `or`,
 * `-not`), without accents; nothing in them is an error.
 */
export async function findProjectHits(db: Db, search: ProjectSearch): Promise<ProjectHits> {
  return toHits(await selectProjectHits(db, search))
}

// With more changes the whole search is repeated.
const mostChanged = 1_000

/**
 * The current hits, made from earlier hits and the projects that changed since; undefined when too many have changed.
 */
export async function updateProjectHits(
  db: Db,
  search: ProjectSearch,
  hits: ProjectHits,
): Promise<ProjectHits | undefined> {
  const row = await selectProjectHits(db, search, hits.snapshot)
  if (row?.changed == null) return undefined
  return replaceHits(hits, new Set(readIds(row.changed)), toHits(row))
}

type HitsRow = {
  readonly ids: Buffer
  readonly ranks: Buffer
  readonly snapshot: string
  /** With `since`: ids of what changed; null when those are too many. */
  readonly changed?: Buffer | undefined
}

function toHits(row: HitsRow | undefined): ProjectHits {
  if (!row) throw new Error('a statement without a condition has no row')
  return { ids: readIds(row.ids), ranks: readRanks(row.ranks), snapshot: row.snapshot }
}

/** The hits; with `since` those among the projects that changed since that snapshot. */
async function selectProjectHits(
  db: Db,
  { words, themeIds, countryCodes }: ProjectSearch,
  since?: string,
): Promise<HitsRow | undefined> {
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  const changed =
    since === undefined
      ? { with: '', column: '', from: '' }
      : {
          with: `with changed as materialized (
            select distinct project_id from search_change where ${isMarkedSince(bind(since))} limit ${mostChanged + 1})`,
          column: `,
        (select case when bool_and(project_id is not null) and count(*) <= ${mostChanged}
          then string_agg(int8send(project_id), '') end from changed) as changed`,
          from: 'changed join ',
        }
  // Only active projects have a row.
  const from = `${changed.from}project_search s${changed.from && ' using (project_id)'}`
  const filters = [
    ...(words === undefined ? [] : ['s.document @@ query']),
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
  const ranked = words !== undefined
  const { rows } = await db.query<HitsRow>(
    `${changed.with}
      select coalesce(string_agg(int8send(id), ''), '') as ids, coalesce(string_agg(float4send(rank), ''), '') as ranks,
        pg_current_snapshot()::text as snapshot${changed.column}
      from (
        select s.project_id as id, ${ranked ? 'ts_rank(s.document, query)' : '0::real'} as rank
        from ${from}${ranked ? ` cross join search_query(${bind(words)}) query` : ''}
        where ${filters.length === 0 ? 'true' : filters.join(' and ')}
        order by ${ranked ? 'rank desc,' : ''} s.project_id
      ) hit`,
    values,
  )
  return rows[0]
}

// Texts of so many projects are read at once.
const refreshedTogether = 200

/** Makes documents of searches that an earlier version made again, some at a time. Returns how many. */
export async function refreshSearchDocuments(db: Db): Promise<number> {
  for (let count = 0; ; ) {
    const { rows } = await db.query<{ id: number }>(
      'select project_id as id from project_search where not folded limit $1',
      [refreshedTogether],
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return count
    await db.query('select refresh_search($1)', [ids])
    count += ids.length
  }
}

/** SQL: whether a row of `search_change` became visible after this snapshot. */
function isMarkedSince(snapshot: string): string {
  return `xid >= pg_snapshot_xmin(${snapshot}::pg_snapshot) and not pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot)`
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
  const { rows } = await db.query<{ changed: boolean; body: string | undefined }>(
    `select
        exists (select from search_change where ${isMarkedSince('$3')}) as changed,
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
