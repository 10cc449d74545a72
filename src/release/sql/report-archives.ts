import { reportsByIds } from '../../catalogue/sql/progress-reports.js'
import type { ProgressReport } from '../../kernel/project.js'
import { ofEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'

/** How many reports an archive of the feed of all reports has; the newest reports are in the feed itself. */
const archiveSize = 100

/**
 * Gives every report without a place its place in the archives, for ever: oldest first, after the last place ever given. So
 * a late report comes into the newest archive, and a complete archive takes no further report.
 */
export async function assignReportPlaces(db: Db): Promise<void> {
  // Materialized, so that both are computed once: otherwise they would visit the rows that this statement has inserted for
  // each row that it inserts.
  await db.query(
    `with last as materialized (select coalesce(max(place), 0) as place from report_place),
      fresh as materialized (
        select r.id, r.published_at from progress_report r
        where not exists (select from report_place p where p.report_id = r.id))
      insert into report_place (report_id, place)
      select f.id, last.place + row_number() over (order by f.published_at, f.id) from fresh f, last`,
  )
}

/** A complete archive with at least one report. */
export type ReportArchive = {
  /** From 1, the oldest. */
  readonly archive: number
  readonly reports: number
  /** Changes when anything that its entries show changes. */
  readonly digest: string
}

const archiveOf = `((p.place - 1) / ${archiveSize} + 1)::integer`
const complete = `(select coalesce(max(place), 0) / ${archiveSize} * ${archiveSize} from report_place)`

/** All complete archives, oldest first. Reads no report's content. */
export async function listReportArchives(db: Db): Promise<ReportArchive[]> {
  const { rows } = await db.query<ReportArchive>(
    `select ${archiveOf} as archive, count(*)::integer as reports,
        md5(string_agg(concat_ws(' ', r.id, r.digest, i.images), E'\\n' order by p.place)) as digest
      from report_place p join progress_report r on r.id = p.report_id
        left join (
          select report_id, string_agg(concat_ws(' ', url, media_type), ' ' order by position) as images
          from report_image group by report_id
        ) i on i.report_id = r.id
      where p.place <= ${complete}
      group by 1 order by 1`,
  )
  return rows
}

/** The reports of an archive, newest first. */
export async function archivedReports(db: Db, archive: number): Promise<ProgressReport[]> {
  const { rows } = await db.query<{ reportId: number }>(
    'select report_id from report_place where place > ($1::bigint - 1) * $2 and place <= $1::bigint * $2',
    [archive, archiveSize],
  )
  return await reportsByIds(db, ofEach(rows, 'reportId'))
}

/**
 * The reports of the feed itself, newest first: the newest hundred, and every report that is in no complete archive yet, so
 * that feed and archives together have every report, late ones too.
 */
export async function currentReports(db: Db): Promise<ProgressReport[]> {
  const { rows } = await db.query<{ id: number }>(
    `(select id from progress_report order by published_at desc, id desc limit $1)
      union
      select p.report_id from report_place p where p.place > ${complete}`,
    [archiveSize],
  )
  return await reportsByIds(db, ofEach(rows, 'id'))
}
