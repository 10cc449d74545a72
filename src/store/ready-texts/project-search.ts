import type { Db } from '../database/connection.js'
import { withoutNulls } from '../database/without-nulls.js'
import { currentProjectText, type TextRow, usualLimit, type WantedText } from './ready-texts.js'

/** A search among active projects; without `words` it finds all that the filters let through. */
export type ProjectSearch = {
  readonly words?: string | undefined
  /** One of these themes and one of these countries; an empty list lets all through. */
  readonly themeIds: readonly string[]
  readonly countryCodes: readonly string[]
  readonly start: number
  readonly limit: number
  readonly text: WantedText
}

/**
 * One page of hits, best first and ties by id, with the number of all hits, in one round trip. Words are read as people
 * type them into search engines (`"exact phrase"`, `or`, `-not`); nothing in them is an error.
 */
export async function searchProjects(
  db: Db,
  search: ProjectSearch,
): Promise<{ readonly rows: readonly TextRow[]; readonly numberFound: number }> {
  const { words, themeIds, countryCodes, start, text } = search
  const values: unknown[] = [text.recordVersion, start]
  const bind = (value: unknown) => `$${values.push(value)}`
  const limit = Math.trunc(search.limit)
  const ranked = words !== undefined
  const from = ranked
    ? `websearch_to_tsquery('english', ${bind(words)}) query join project_search s on s.document @@ query`
    : '(select id as project_id from project where active) s'
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
  // The left join gives the number also for an empty page: one row without an id.
  const { rows } = await db.query<Partial<TextRow> & { readonly numberFound: number }>(
    `with hit as ${ranked ? 'materialized' : 'not materialized'} (
        select s.project_id as id, ${ranked ? 'ts_rank(s.document, query)' : '0'} as rank
        from ${from}
        where ${filters.length === 0 ? 'true' : filters.join(' and ')}
      )
      select c."numberFound", p.id, ${currentProjectText(text, '$1')} as text
      from (select count(*) as "numberFound" from hit) c
        left join (
          select id, row_number() over () as position
          from (select id from hit order by ${ranked ? 'rank desc, id' : 'id'} limit ${limit} offset $2) page
        ) p on true
      order by p.position`,
    values,
    limit === usualLimit
      ? `search-${ranked ? 'words' : 'all'}-${themeIds.length > 0}-${countryCodes.length > 0}-${text.view}-${text.format}`
      : undefined,
  )
  return {
    numberFound: rows[0]?.numberFound ?? 0,
    rows: rows.map(withoutNulls).flatMap(({ id, text }) => (id === undefined ? [] : { id, text })),
  }
}
