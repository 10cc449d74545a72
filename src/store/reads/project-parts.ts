import type { PhotoRenditions, ProgressReport, ReportImage } from '../../domain/project.js'
import type { Db } from '../database/connection.js'

/** A project's pictures, main image first, with what stands in for one that is missing. */
export type Gallery = {
  readonly active: boolean
  readonly title: string
  readonly imageTitle?: string
  readonly imageLink?: string
  readonly photos: readonly {
    readonly position: number
    readonly wireId: number
    readonly title?: string
    readonly renditions: PhotoRenditions
  }[]
}

type PhotoJson = { position: number; wire_id: number; title: string | null; links: Record<string, string | null> }

/** Undefined when the project is unknown. */
export async function findGallery(db: Db, projectId: number): Promise<Gallery | undefined> {
  const { rows } = await db.query<{
    active: boolean
    title: string
    image_title: string | null
    image_link: string | null
    photos: PhotoJson[]
  }>(
    `select p.active, p.title, p.image_title, p.image_link, (
        select coalesce(json_agg(json_build_object('position', f.position, 'wire_id', f.wire_id, 'title', f.title,
            'links', json_build_object('small', f.small_url, 'thumbnail', f.thumbnail_url, 'medium', f.medium_url,
              'large', f.large_url, 'extraLarge', f.extra_large_url, 'original', f.original_url)) order by f.position), '[]')
        from photo f where f.project_id = p.id) as photos
      from project p where p.id = $1`,
    [projectId],
    'gallery',
  )
  const [row] = rows
  return (
    row && {
      active: row.active,
      title: row.title,
      ...(row.image_title !== null && { imageTitle: row.image_title }),
      ...(row.image_link !== null && { imageLink: row.image_link }),
      photos: row.photos.map(({ position, wire_id, title, links }) => ({
        position,
        wireId: wire_id,
        renditions: Object.fromEntries(Object.entries(links).filter(([, url]) => url !== null)) as PhotoRenditions,
        ...(title !== null && { title }),
      })),
    }
  )
}

/** A project's reports, newest first, with what their feed says of the project. */
export type ProjectReports = {
  readonly active: boolean
  readonly id: number
  readonly title: string
  readonly progressReportLink?: string
  readonly organisationName?: string
  /** When anything of the project last changed. */
  readonly changedAt: Date
  readonly reports: readonly ProgressReport[]
}

type ReportJson = {
  id: number
  title: string
  author: string | null
  published: string
  updated: string
  html: string
  url: string
  images: { url: string; type: string | null }[]
}

/** Undefined when the project is unknown. */
export async function findProjectReports(db: Db, projectId: number): Promise<ProjectReports | undefined> {
  const { rows } = await db.query<{
    active: boolean
    id: number
    title: string
    progress_report_link: string | null
    organisation_name: string | null
    changed_at: Date
    reports: ReportJson[]
  }>(
    `select p.active, p.id, p.title, p.progress_report_link, o.name as organisation_name, v.changed_at, (
        select coalesce(json_agg(json_build_object('id', r.id, 'title', r.title, 'author', r.author_name,
            'published', r.published_at, 'updated', r.updated_at, 'html', r.content_html, 'url', r.url,
            'images', (
              select coalesce(json_agg(json_build_object('url', i.url, 'type', i.media_type) order by i.position), '[]')
              from report_image i where i.report_id = r.id)) order by r.published_at desc, r.id desc), '[]')
        from progress_report r where r.project_id = p.id) as reports
      from project p join project_version v on v.project_id = p.id
        left join organisation o on o.id = p.organisation_id
      where p.id = $1`,
    [projectId],
    'project-reports',
  )
  const [row] = rows
  return (
    row && {
      active: row.active,
      id: row.id,
      title: row.title,
      changedAt: row.changed_at,
      ...(row.progress_report_link && { progressReportLink: row.progress_report_link }),
      ...(row.organisation_name && { organisationName: row.organisation_name }),
      reports: row.reports.map((report) => toReport(report, row.id)),
    }
  )
}

function toReport({ id, title, author, published, updated, html, url, images }: ReportJson, projectId: number) {
  return {
    ...{ id, projectId, title, url },
    publishedAt: new Date(published),
    updatedAt: new Date(updated),
    contentHtml: html,
    images: images.map((image): ReportImage => ({ url: image.url, ...(image.type && { mediaType: image.type }) })),
    ...(author !== null && { authorName: author }),
  }
}
