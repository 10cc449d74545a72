import type { ProgressReport, ReportImage } from '../../domain/project.js'
import type { Db } from '../database/connection.js'

/** A report as `reportColumns` selects it; instants are text where the row came as JSON. */
export type ReportRow = {
  id: number
  project_id: number
  title: string
  author_name: string | null
  published_at: Date | string
  updated_at: Date | string
  content_html: string
  url: string
  images: { url: string; media_type: string | null }[] | null
}

/** SQL: the columns of report `r`, its pictures as JSON. */
export const reportColumns = `r.id, r.project_id, r.title, r.author_name, r.published_at, r.updated_at, r.content_html,
  r.url, (select json_agg(t) from (
    select url, media_type from report_image where report_id = r.id order by position) t) as images`

/** These reports with their pictures, newest first; unknown ids are left out. */
export async function reportsByIds(db: Db, ids: readonly number[]): Promise<ProgressReport[]> {
  const { rows } = await db.query<ReportRow>(
    `select ${reportColumns} from progress_report r where r.id = any ($1::bigint[])
      order by r.published_at desc, r.id desc`,
    [ids],
  )
  return rows.map(toReport)
}

export function toReport(row: ReportRow): ProgressReport {
  return {
    id: row.id,
    projectId: row.project_id,
    title: row.title,
    publishedAt: new Date(row.published_at),
    updatedAt: new Date(row.updated_at),
    contentHtml: row.content_html,
    url: row.url,
    images: (row.images ?? []).map(
      ({ url, media_type }): ReportImage => ({ url, ...(media_type !== null && { mediaType: media_type }) }),
    ),
    ...(row.author_name !== null && { authorName: row.author_name }),
  }
}
