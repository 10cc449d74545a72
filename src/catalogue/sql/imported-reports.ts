import type { IsoDate } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import type { RowSource } from '../../kernel/project.js'
import type { ReportRecord } from '../../kernel/record.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsertRows } from '../../platform/database/upsert.js'
import { replaceImages, reportIdOf, statedColumns, statedReportColumns } from './mirrored-reports.js'

/** A report from a file; `contentHtml` is sanitised. */
export type ImportedReport = ReportRecord & {
  readonly projectId: number
  readonly id: number | undefined
  readonly externalId?: string | undefined
}

/** The projects of which one of these addresses is the page, or the page of its reports. */
export async function projectsOfLinks(db: Db, links: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const wanted = [...new Set(links)]
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ link: string; id: number }>(
    // Each link is looked up: a join with either of two columns compares every link with every project.
    `select link, min(id) as id from (
        select project_link as link, id from project where project_link = any (${asSubselect('$1::text[]')}::text[])
        union select progress_report_link, id from project where progress_report_link = any (${asSubselect('$1::text[]')}::text[])) p
      group by link having count(*) = 1`,
    [wanted],
  )
  return new Map(rows.map(({ link, id }) => [link, id]))
}

type KnownReport = { readonly id: number; readonly projectId: number; readonly url: string; readonly source: string }

const statement = {
  table: 'progress_report',
  key: ['id'],
  columns: [...statedReportColumns, 'external_id'],
  insertOnly: ['project_id', 'source'],
  values: { external_id: 'coalesce(excluded.external_id, t.external_id)' },
}

/** Writes reports of different addresses, each of a stored project; a report of another project or source stays. */
export async function saveReports(
  db: Db,
  reports: readonly ImportedReport[],
  source: string,
): Promise<(RowChange | FieldProblem)[]> {
  const numbered = await numberReports(db, reports, source)
  const own = numbered.flatMap((one) => ('id' in one ? [one] : []))
  const changes = await upsertRows(
    db,
    statement,
    own.map(({ id, report }) => ({
      id,
      project_id: report.projectId,
      ...statedColumns(report),
      external_id: report.externalId,
      source,
    })),
  )
  const withNewImages = await replaceImages(db, own, source)
  const outcomes = new Map<object, RowChange>(
    own.map(({ id, report }, index) => {
      const change = changes[index] ?? 'unchanged'
      return [report, change === 'unchanged' && withNewImages.has(id) ? 'changed' : change]
    }),
  )
  return numbered.map((one) => ('id' in one ? (outcomes.get(one.report) ?? 'unchanged') : one.problem))
}

type Numbered = { readonly id: number; readonly report: ImportedReport } | { readonly problem: FieldProblem }

/** Gives each report its number: the stated one, the stored one of its address, else one made of its address. */
async function numberReports(db: Db, reports: readonly ImportedReport[], source: string): Promise<Numbered[]> {
  const candidates = reports.map(({ id, url, projectId }) => [
    id ?? reportIdOf(url),
    reportIdOf(`${projectId} ${url} again`),
  ])
  const { rows } = await db.query<KnownReport>(
    `select id, project_id, url, source from progress_report
      where id = any (${asSubselect('$1::bigint[]')}::bigint[]) or url = any (${asSubselect('$2::text[]')}::text[]) order by id for no key update`,
    [candidates.flat(), reports.map(({ url }) => url)],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return reports.map((report, index): Numbered => {
    const [first = 0, second = 0] = candidates[index] ?? []
    const { projectId, url } = report
    const same = rows.find((row) => row.url === url && row.projectId === projectId)
    // A number that another report has is taken only where the file states it.
    const free = byId.has(first) && report.id === undefined ? second : first
    const id = report.id ?? same?.id ?? free
    const stored = byId.get(id)
    const isOwn = !stored || (stored.projectId === projectId && stored.source === source)
    if (same && same.id !== id) return { problem: taken('url', 'an address that no other report has', same) }
    if (!isOwn && stored) return { problem: taken('id', `an id that is new or from ${source}`, stored) }
    byId.set(id, { id, projectId, url, source })
    return { id, report }
  })
}

function taken(field: string, expected: string, { id, projectId: project, source }: KnownReport): FieldProblem {
  return { field, expected, got: `report ${id} of project ${project}, which is ${source}` }
}

/** What people are shown of a report. */
export type StoredReport = {
  readonly id: number
  readonly externalId?: string
  readonly project: number
  readonly title: string
  readonly author?: string
  readonly published: Date
  readonly updated: Date
  readonly url: string
  readonly source: RowSource
}

/** The report of this number, or of this id of the platform. */
export async function findReport(db: Db, id: string): Promise<StoredReport | undefined> {
  const { rows } = await db.query<StoredReport>(
    `select id, external_id, project_id as project, title, author_name as author, published_at as published,
        updated_at as updated, url, source
      from progress_report where external_id = $1 or id::text = $1 order by external_id is null limit 1`,
    [id],
  )
  return rows[0]
}

export type ReportCorrections = {
  readonly title?: string
  readonly author?: string
  readonly published?: IsoDate
}

/** Gives a report other values; one that was published later than it was changed is changed then. */
export async function correctReport(
  db: Db,
  id: number,
  { title, author, published }: ReportCorrections,
): Promise<void> {
  await db.query(
    `update progress_report set title = coalesce($2, title), author_name = coalesce($3, author_name),
        published_at = coalesce($4::date at time zone 'UTC', published_at),
        updated_at = greatest(updated_at, $4::date at time zone 'UTC') where id = $1`,
    [id, title ?? null, author ?? null, published ?? null],
  )
}

/** Removes a report with its pictures; its place in the archives is for ever. */
export async function removeReport(db: Db, id: number): Promise<void> {
  await db.query('delete from progress_report where id = $1', [id])
}
