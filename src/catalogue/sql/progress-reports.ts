import { reportFields } from '../../kernel/nouns/report.js'
import type { ProgressReport } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'
import { jsonList, selectFields } from './field-columns.js'

/** SQL: the columns of report `r` for `toReport`. */
export const reportColumns = `${selectFields(reportFields, 'r')},
  ${jsonList('select url, media_type as "mediaType" from report_image where report_id = r.id order by position')} as images`

/** Makes a row of `reportColumns` a report, in place; instants are text where the row came as JSON. */
export function toReport(row: ProgressReport): ProgressReport {
  const { publishedAt, updatedAt } = row
  return Object.assign(row, { publishedAt: new Date(publishedAt), updatedAt: new Date(updatedAt) })
}

/** These reports with their pictures, newest first; one that names no language has that of its project. Unknown ids are left out. */
export async function reportsByIds(db: Db, ids: readonly number[]): Promise<ProgressReport[]> {
  const { rows } = await db.query<ProgressReport & { readonly ofProject: string | undefined }>(
    `select ${reportColumns}, p.language as "ofProject"
      from progress_report r join project p on p.id = r.project_id where r.id = any ($1::bigint[])
      order by r.published_at desc, r.id desc`,
    [ids],
  )
  return rows.map(({ ofProject, ...row }) => {
    const report = toReport(row)
    return ofProject === undefined ? report : { ...report, language: report.language ?? ofProject }
  })
}

/** A project's reports, newest first, with what their feed says of the project. */
export type ProjectReports = {
  readonly active: boolean
  readonly id: number
  readonly title: string
  readonly progressReportLink?: string | undefined
  readonly organisationName?: string | undefined
  /** When anything of the project last changed. */
  readonly changedAt: Date
  readonly reports: readonly ProgressReport[]
}

/** Undefined when the project is unknown. */
export async function findProjectReports(db: Db, projectId: number): Promise<ProjectReports | undefined> {
  const { rows } = await db.query<ProjectReports>(
    `select p.active, p.id, p.title, nullif(p.progress_report_link, '') as progress_report_link,
        nullif(o.name, '') as organisation_name, v.changed_at,
        ${jsonList(`select ${reportColumns} from progress_report r where r.project_id = p.id
          order by r.published_at desc, r.id desc`)} as reports
      from project p join project_version v on v.project_id = p.id
        left join organisation o on o.id = p.organisation_id
      where p.id = $1`,
    [projectId],
    'project-reports',
  )
  rows[0]?.reports.forEach(toReport)
  return rows[0]
}
