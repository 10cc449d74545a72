import { hash } from 'node:crypto'
import { reportFields } from '../../kernel/nouns/report.js'
import type { ReportRecord } from '../../kernel/record.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { upsert } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns } from './field-columns.js'

/** A mirrored report's number: the end of its address, else one made of the address, from 1,000,000,000,000 on. */
export function reportIdOf(url: string): number {
  const stated = Number(/[=/](\d{1,12})\/?$/.exec(url)?.[1] ?? 0)
  if (stated > 0) return stated
  return 1_000_000_000_000 + hash('sha256', url, 'buffer').readUIntBE(0, 5)
}

export type MirroredReports = { readonly projectId: number; readonly reports: readonly ReportRecord[] }

/** The columns of a report that a record states. */
export const statedReportColumns = columnsOf(reportFields, 'record').filter(
  (column) => column !== 'id' && column !== 'project_id',
)

const toColumns = createToColumns(reportFields, 'record')

/** The values of these columns. */
export function statedColumns(report: ReportRecord): Readonly<Record<string, unknown>> {
  const { id: _id, project_id: _project, ...values } = toColumns(report)
  return values
}

const upsertReports = upsert({
  table: 'progress_report',
  key: ['id'],
  columns: ['project_id', ...statedReportColumns, 'source'],
  where: `t.source = 'upstream' and t.project_id = excluded.project_id`,
})

/**
 * Makes the mirrored reports of these projects what the upstream has now, set-based: only what differs is written, those
 * that are gone upstream are removed. A report whose number another project or source has gets one made of its address.
 * Returns how many were written or removed.
 */
export async function replaceReports(db: Db, projects: readonly MirroredReports[]): Promise<number> {
  if (projects.length === 0) return 0
  const projectIds = projects.map(({ projectId }) => projectId)
  const numbered = await numberReports(db, projects)
  const removed = await db.query(
    `delete from progress_report
     where project_id = any (${asSubselect('$1::bigint[]')}::bigint[]) and source = 'upstream' and id <> all ($2::bigint[])`,
    [projectIds, numbered.map(({ id }) => id)],
  )
  const rows = numbered.map(({ id, projectId, report }) => ({
    id,
    project_id: projectId,
    ...statedColumns(report),
    source: 'upstream',
  }))
  const written = await db.query(upsertReports, [JSON.stringify(rows)])
  await replaceImages(db, numbered, 'upstream')
  return removed.rowCount + written.rowCount
}

type NumberedReport = { readonly id: number; readonly projectId: number; readonly report: ReportRecord }

/** Gives every report its number; the last of two equal reports counts. */
async function numberReports(db: Db, projects: readonly MirroredReports[]): Promise<NumberedReport[]> {
  const byUrl = projects.flatMap(({ projectId, reports }) =>
    [...new Map(reports.map((report) => [report.url, report])).values()].map((report) => ({
      id: reportIdOf(report.url),
      projectId,
      report,
    })),
  )
  const { rows } = await db.query<{ id: number; projectId: number }>(
    `select r.id, w.project_id from unnest($1::bigint[], $2::bigint[]) w (id, project_id)
       join progress_report r on r.id = w.id and (r.project_id <> w.project_id or r.source <> 'upstream')`,
    [byUrl.map(({ id }) => id), byUrl.map(({ projectId }) => projectId)],
  )
  const foreign = new Set(rows.map((row) => `${row.id} ${row.projectId}`))
  const used = new Set<number>()
  return byUrl.map((entry) => {
    const isTaken = foreign.has(`${entry.id} ${entry.projectId}`) || used.has(entry.id)
    const id = isTaken ? reportIdOf(`${entry.projectId} ${entry.report.url} again`) : entry.id
    used.add(id)
    return { ...entry, id }
  })
}

/** Makes the pictures of reports of a source what their records say; returns the ids of reports whose pictures changed. */
export async function replaceImages(
  db: Db,
  reports: readonly { readonly id: number; readonly report: ReportRecord }[],
  source: string,
): Promise<ReadonlySet<number>> {
  const images = reports.flatMap(({ id, report }) =>
    report.images.map(({ url, mediaType }, position) => ({ report_id: id, position, url, media_type: mediaType })),
  )
  const json = JSON.stringify(images)
  const wanted = 'json_populate_recordset(null::report_image, $1::json)'
  const removed = await db.query<{ id: number }>(
    `delete from report_image t using progress_report r
     where r.id = t.report_id and r.id = any (${asSubselect('$2::bigint[]')}::bigint[]) and r.source = $3 and not exists (
       select from ${wanted} w where (w.report_id, w.position, w.url) = (t.report_id, t.position, t.url)
         and w.media_type is not distinct from t.media_type) returning t.report_id as id`,
    [json, reports.map(({ id }) => id), source],
  )
  if (images.length === 0) return new Set(removed.rows.map(({ id }) => id))
  const added = await db.query<{ id: number }>(
    `insert into report_image (report_id, position, url, media_type)
     select w.report_id, w.position, w.url, w.media_type from ${wanted} w
       join progress_report r on r.id = w.report_id and r.source = $2
     order by w.report_id, w.position
     on conflict (report_id, position) do nothing returning report_id as id`,
    [json, source],
  )
  return new Set([...removed.rows, ...added.rows].map(({ id }) => id))
}
