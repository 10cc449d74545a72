import { asSubselect } from '../../../platform/database/as-subselect.js'
import type { Db } from '../../../platform/database/connection.js'
import {
  changesKnownUntil,
  currentProjectRecord,
  type ProjectTextRow,
  usualLimit,
  type WantedText,
} from './ready-texts.js'

/** Which projects a list is of. */
export type ProjectScope =
  | { readonly of: 'all' }
  | { readonly of: 'country'; readonly code: string }
  | { readonly of: 'theme'; readonly id: string }
  | { readonly of: 'organisation'; readonly id: number }

/** Which projects of a scope are selected; `modifiedSince`: those that changed at that instant or later. */
export type ProjectSelection = {
  readonly scope: ProjectScope
  readonly activeOnly: boolean
  readonly modifiedSince?: Date | undefined
}

/** One page of a list. */
export type ProjectPageRows = {
  /** False when no theme or organisation has the scope's id. */
  readonly scopeKnown: boolean
  /** The records one after another, when all of them were there; else the ids of the page. */
  readonly records: PageTexts | { readonly ids: readonly number[] }
  /** First id of the next page; absent on the last one. */
  readonly nextProjectId?: number | undefined
  /** The number of all projects selected, not of this page; only when asked for. */
  readonly numberFound?: number | undefined
  /** With `modifiedSince`: this page and later ones have every change up to this instant; may be unknown. */
  readonly modifiedUntil?: Date | undefined
}

/** A page's texts, joined by commas in JSON, and ids with versions, which name exactly these texts. */
type PageTexts = { readonly body: string; readonly versions: string }

/**
 * The pages that begin at or after each of `from`, by what they begin at, in one round trip; of a list that is not shared
 * only the first. Records are in id order. Texts are given only when all texts of a page are current. They come joined,
 * because ten rows cost much more than one.
 */
export async function selectProjectPages(
  db: Db,
  page: PageQuery,
  from: readonly number[],
): Promise<ReadonlyMap<number, ProjectPageRows>> {
  const { text, values } = pageStatement(page, from)
  const { rows } = await db.query<PageRow>(text, values, statementName(page))
  return new Map(rows.map((row) => [row.first, toPageRows(row)]))
}

// A column costs as much to describe as to read: those that are not asked for are not selected.
type PageRow = {
  first: number
  scopeKnown?: boolean
  numberFound?: number
  modifiedUntil?: Date | undefined
  nextId: number | undefined
  missing: string | undefined
  versions: string | undefined
  body: string | undefined
}

function toPageRows(row: PageRow): ProjectPageRows {
  return {
    scopeKnown: row.scopeKnown ?? true,
    records: row.missing
      ? { ids: row.missing.split(',').map(Number) }
      : { body: row.body ?? '', versions: row.versions ?? '' },
    nextProjectId: row.nextId,
    numberFound: row.numberFound,
    modifiedUntil: row.modifiedUntil,
  }
}

/** Ids of projects as one text, separated by commas: a million numbers would cost more than their document. */
export type ProjectIds = { readonly ids: string; readonly modifiedUntil?: Date | undefined }

/** All ids selected, ascending. */
export async function selectProjectIds(db: Db, selection: ProjectSelection): Promise<ProjectIds> {
  const values: unknown[] = []
  const { source, key, conditions } = selectionSql(selection, values)
  const { rows } = await db.query<ProjectIds>(
    `select coalesce(string_agg(${key}::text, ',' order by ${key}), '') as ids,
        ${selection.modifiedSince ? changesKnownUntil : 'null::timestamptz'} as modified_until
      from ${source} where ${conditions}`,
    values,
  )
  return rows[0] ? rows[0] : { ids: '' }
}

/** The projects with these ids, by id; unknown ids are left out. */
export async function findProjectRows(
  db: Db,
  ids: readonly number[],
  text: WantedText,
): Promise<ReadonlyMap<number, ProjectTextRow>> {
  const { rows } = await db.query<ProjectTextRow>(
    `select p.id, p.active, r.version, r.text
      from project p left join lateral ${currentProjectRecord(text, '$2')} r on true
      where p.id = any (${asSubselect('$1::bigint[]')}::bigint[])`,
    [ids, text.recordVersion],
    `projects-by-ids-${text.view}-${text.format}`,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** SQL of a selection; adds its parameters to `values`. `p` is the project, `key` its id where an index on the scope has it. */
function selectionSql({ scope, activeOnly, modifiedSince }: ProjectSelection, values: unknown[]) {
  const bind = (value: unknown) => `$${values.push(value)}`
  const conditions = activeOnly ? ['p.active'] : []
  let source = 'project p'
  let key = 'p.id'
  let known: string | undefined
  if (scope.of === 'country') {
    source = 'project_country s join project p on p.id = s.project_id'
    key = 's.project_id'
    conditions.push(`s.country_code = ${bind(scope.code)}`)
  } else if (scope.of === 'theme') {
    source = 'project_theme s join project p on p.id = s.project_id'
    key = 's.project_id'
    const id = bind(scope.id)
    conditions.push(`s.theme_id = ${id}`)
    known = `exists (select from theme where id = ${id})`
  } else if (scope.of === 'organisation') {
    const id = bind(scope.id)
    conditions.push(`p.organisation_id = ${id}`)
    known = `exists (select from organisation where id = ${id})`
  }
  if (modifiedSince) {
    source += ' join project_version changed on changed.project_id = p.id'
    conditions.push(`changed.changed_at >= ${bind(modifiedSince)}`)
  }
  return { source, key, known, conditions: conditions.length === 0 ? 'true' : conditions.join(' and ') }
}

/** Pages of one list; `count`: `numberFound` is wanted too. */
export type PageQuery = ProjectSelection & {
  readonly limit: number
  readonly count: boolean
  readonly text: WantedText
}

/**
 * Whether pages of this list may be read together, by a prepared statement. Other lists are planned for their parameters,
 * one page at a time: a date decides between two ways of reading, and a page size given as a parameter would be planned as
 * a tenth of the table.
 */
export function isShared({ modifiedSince, limit }: PageQuery): boolean {
  return modifiedSince === undefined && limit === usualLimit
}

// Names everything in the text of the statement, its parameters aside.
function statementName(page: PageQuery): string | undefined {
  if (!isShared(page)) return undefined
  const { scope, activeOnly, count, text } = page
  const counted = count ? '-counted' : ''
  return `projects-${scope.of}-${activeOnly ? 'active' : 'any'}-${text.view}-${text.format}${counted}`
}

// Of the row after the page only the id is wanted. Whether to count is not a parameter: PostgreSQL would plan the statement
// anew for each value, which takes twice as long as the page.
function pageStatement(page: PageQuery, from: readonly number[]): { text: string; values: unknown[] } {
  const shared = isShared(page)
  const values: unknown[] = [shared ? from : from[0], page.text.recordVersion]
  const { source, key, known, conditions } = selectionSql(page, values)
  const limit = Math.trunc(page.limit)
  const extra = [
    known && `${known} as scope_known,`,
    page.count && `(select count(*) from ${source} where ${conditions}) as number_found,`,
    page.modifiedSince && `${changesKnownUntil} as modified_until,`,
  ]
  const onPage = `filter (where position <= ${limit})`
  return {
    values,
    text: `
  select f.first, ${extra.filter(Boolean).join(' ')} t.*
  from ${shared ? `unnest(${asSubselect('$1::bigint[]')})` : '(select $1::bigint)'} f (first) cross join lateral (
    select max(id) filter (where position > ${limit}) as next_id,
      case when bool_or(text is null) ${onPage} then string_agg(id::text, ',' order by id) ${onPage} end as missing,
      string_agg(id || ':' || version, ',' order by id) as versions,
      string_agg(text, '${page.text.format === 'json' ? ',' : ''}' order by id) as body
    from (
        select id, row_number() over (order by id) as position
        from (
          select ${key} as id from ${source} where ${key} >= f.first and ${conditions}
          order by ${key} limit ${limit + 1}
        ) page
      ) p
      left join lateral ${currentProjectRecord(page.text, '$2')} r on position <= ${limit}
  ) t`,
  }
}
