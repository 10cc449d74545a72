import { createHash } from 'node:crypto'
import type { ImageRecord } from './catalogue-record.js'
import type { Db } from './connection.js'

/** A progress report as a feed tells it; `contentHtml` is sanitised. */
export type ReportRecord = {
  /** Address of the report's page; it identifies the report. */
  readonly url: string
  readonly title: string
  readonly authorName?: string
  readonly publishedAt: Date
  readonly updatedAt: Date
  readonly contentHtml: string
  readonly images: readonly { readonly url: string; readonly mediaType?: string }[]
}

/**
 * The number a mirrored report has here: the one at the end of its address, else one made of the address, from
 * 1,000,000,000,000 on.
 */
export function reportIdOf(url: string): number {
  const stated = Number(/[=/](\d{1,12})\/?$/.exec(url)?.[1] ?? 0)
  if (stated > 0) return stated
  return 1_000_000_000_000 + createHash('sha256').update(url).digest().readUIntBE(0, 5)
}

/**
 * Makes the mirrored reports of a project what the upstream has now: only what differs is written, those that are gone
 * upstream are removed. A report whose number another project or source has gets one made of its address. Returns how
 * many were written or removed.
 */
export async function replaceReports(db: Db, projectId: number, reports: readonly ReportRecord[]): Promise<number> {
  const byUrl = new Map(reports.map((report) => [report.url, report]))
  const taken = await db.query<{ id: number }>(
    `select id from progress_report where id = any ($1::bigint[]) and (project_id <> $2 or source <> 'upstream')`,
    [[...byUrl.keys()].map(reportIdOf), projectId],
  )
  const foreign = new Set(taken.rows.map(({ id }) => id))
  const used = new Set<number>()
  const rows = [...byUrl.values()].map((report) => {
    const stated = reportIdOf(report.url)
    const id = foreign.has(stated) || used.has(stated) ? reportIdOf(`${report.url}#`) : stated
    used.add(id)
    return {
      id,
      project_id: projectId,
      title: report.title,
      author_name: report.authorName,
      published_at: report.publishedAt,
      updated_at: report.updatedAt,
      content_html: report.contentHtml,
      url: report.url,
      source: 'upstream',
    }
  })
  const removed = await db.query(
    `delete from progress_report where project_id = $1 and source = 'upstream' and id <> all ($2::bigint[])`,
    [projectId, rows.map(({ id }) => id)],
  )
  const written = await db.query(
    `insert into progress_report as t (${reportColumns.join(', ')})
     select ${reportColumns.join(', ')} from json_populate_recordset(null::progress_report, $1::json) order by id
     on conflict (id) do update set (${reportColumns.join(', ')}) =
       row (${reportColumns.map((name) => `excluded.${name}`).join(', ')})
     where t.source = 'upstream' and t.project_id = excluded.project_id
       and row (${reportColumns.map((name) => `t.${name}`).join(', ')})
         is distinct from row (${reportColumns.map((name) => `excluded.${name}`).join(', ')})`,
    [JSON.stringify(rows)],
  )
  const images = rows.flatMap(({ id, url }) =>
    (byUrl.get(url)?.images ?? []).map((image, position) => ({
      report_id: id,
      position,
      url: image.url,
      media_type: image.mediaType,
    })),
  )
  const json = JSON.stringify(images)
  const wanted = 'json_populate_recordset(null::report_image, $1::json)'
  await db.query(
    `delete from report_image t using progress_report r
     where r.id = t.report_id and r.project_id = $2 and r.source = 'upstream' and not exists (
       select from ${wanted} w where (w.report_id, w.position, w.url) = (t.report_id, t.position, t.url)
         and w.media_type is not distinct from t.media_type)`,
    [json, projectId],
  )
  await db.query(
    `insert into report_image (report_id, position, url, media_type)
     select w.report_id, w.position, w.url, w.media_type from ${wanted} w
       join progress_report r on r.id = w.report_id and r.project_id = $2 and r.source = 'upstream'
     order by w.report_id, w.position
     on conflict (report_id, position) do nothing`,
    [json, projectId],
  )
  return removed.rowCount + written.rowCount
}

const reportColumns = [
  'id',
  'project_id',
  'title',
  'author_name',
  'published_at',
  'updated_at',
  'content_html',
  'url',
  'source',
]

const photoColumns = [
  'wire_id',
  'title',
  'small_url',
  'thumbnail_url',
  'medium_url',
  'large_url',
  'extra_large_url',
  'original_url',
]

/**
 * Makes the pictures after the main image what the upstream's gallery has; a consent that was given for a picture stays
 * with that picture. Returns how many were written or removed.
 */
export async function replaceGallery(db: Db, projectId: number, images: readonly ImageRecord[]): Promise<number> {
  const rows = images.map((image, index) => ({
    project_id: projectId,
    position: index + 1,
    wire_id: image.wireId,
    title: image.title,
    small_url: image.renditions.small,
    thumbnail_url: image.renditions.thumbnail,
    medium_url: image.renditions.medium,
    large_url: image.renditions.large,
    extra_large_url: image.renditions.extraLarge,
    original_url: image.renditions.original,
  }))
  const consented = await db.query<{ original_url: string }>(
    `select original_url from photo where project_id = $1 and position > 0 and consent and original_url is not null`,
    [projectId],
  )
  const removed = await db.query('delete from photo where project_id = $1 and position > $2', [projectId, rows.length])
  const written = await db.query(
    `insert into photo as t (project_id, position, ${photoColumns.join(', ')}, consent)
     select project_id, position, ${photoColumns.join(', ')}, coalesce(original_url = any ($2::text[]), false)
     from json_populate_recordset(null::photo, $1::json) order by position
     on conflict (project_id, position) do update set (${photoColumns.join(', ')}, consent) =
       row (${photoColumns.map((name) => `excluded.${name}`).join(', ')}, excluded.consent)
     where row (${photoColumns.map((name) => `t.${name}`).join(', ')}, t.consent)
       is distinct from row (${photoColumns.map((name) => `excluded.${name}`).join(', ')}, excluded.consent)`,
    [JSON.stringify(rows), consented.rows.map((row) => row.original_url)],
  )
  return removed.rowCount + written.rowCount
}
