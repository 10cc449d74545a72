import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'

/** Marks projects as offered by the upstream in this run, whether their records were accepted or not. */
export async function markSeen(db: Db, runId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `insert into upstream_project as u (project_id, since_run_id, seen_run_id)
     select id, $1, $1 from unnest($2::bigint[]) id order by id
     on conflict (project_id) do update set seen_run_id = excluded.seen_run_id, present = true,
       since_run_id = case when u.present then u.since_run_id else excluded.since_run_id end
     where not u.present or u.seen_run_id <> excluded.seen_run_id`,
    [runId, [...new Set(ids)]],
  )
}

/** How many projects the upstream offered before this run, and how many of them this run, a full one, has not seen. */
export async function countVanished(db: Db, runId: number): Promise<{ known: number; vanished: number }> {
  const { rows } = await db.query<{ known: number; vanished: number }>(
    `select count(*) as known, count(*) filter (where seen_run_id <> $1) as vanished
     from upstream_project where present and since_run_id <> $1`,
    [runId],
  )
  return rows[0] ?? { known: 0, vanished: 0 }
}

/** How many projects the upstream is known to offer. */
export async function countPresent(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*) as count from upstream_project where present')
  return rows[0]?.count ?? 0
}

/** Projects after `after`, in id order, that this run, a full one, has not seen. */
export async function listVanished(db: Db, runId: number, after: number, limit: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select project_id as id from upstream_project
     where present and seen_run_id <> $1 and project_id > $2 order by project_id limit $3`,
    [runId, after, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * Deactivates mirrored projects that the upstream no longer has; nothing is deleted. Their hash is removed, so that a project
 * that comes back is written again. A project that an operator keeps active stays so. Returns how many were deactivated.
 */
export async function deactivateMirrored(db: Db, ids: readonly number[]): Promise<number> {
  await db.query('update upstream_project set present = false where project_id = any ($1::bigint[])', [ids])
  const { rowCount } = await db.query(
    `update project set active = false, status = case when status = 'active' then 'retired' else status end,
       source_hash = null
     where id = any ($1::bigint[]) and source = 'upstream' and active and operator_state is distinct from 'active'`,
    [ids],
  )
  return rowCount
}

/** A project whose reports or gallery are to be fetched, and the keys to store once they are. */
export type DetailTask = {
  readonly projectId: number
  readonly reportsKey?: string | undefined
  readonly galleryKey?: string | undefined
  /** The main image, which a gallery's first picture may repeat. */
  readonly mainImage?: string | undefined
  /** The project's title, under which pictures without one of their own are served. */
  readonly title: string
}

/** Of active mirrored projects after $1: what their records state, and whether that differs from when it was fetched. */
const detailTasks = `
    select p.id as project_id, p.title, k.reports_key, k.gallery_key, main.original_url as main_image,
      u.reports_key is distinct from k.reports_key and (coalesce(p.number_of_reports, 0) > 0
        or p.date_of_most_recent_report is not null
        or exists (select from progress_report r where r.project_id = p.id)) as reports_due,
      u.gallery_key is distinct from k.gallery_key and (coalesce(p.image_gallery_size, 0) > 0
        or exists (select from photo g where g.project_id = p.id and g.position > 0)) as gallery_due
    from project p
      join upstream_project u on u.project_id = p.id
      left join photo main on main.project_id = p.id and main.position = 0
      cross join lateral (select
        coalesce(p.number_of_reports, 0) || ' ' || coalesce(extract(epoch from p.date_of_most_recent_report)::text, '-')
          as reports_key,
        coalesce(p.image_gallery_size, 0) || ' ' || coalesce(main.original_url, p.image_link, '-') as gallery_key) k
    where p.source = 'upstream' and p.active and u.present and p.id > $1`

/** How many requests the details of these projects will take. */
export async function countDetailRequests(db: Db, after: number): Promise<number> {
  const { rows } = await db.query<{ requests: number }>(
    `select count(*) filter (where reports_due) + count(*) filter (where gallery_due) as requests
      from (${detailTasks}) task`,
    [after],
  )
  return rows[0]?.requests ?? 0
}

/**
 * Active mirrored projects after `after`, in id order, whose record states another number or date of reports, or another
 * gallery, than when they were last fetched. Requests for inactive ones would be answered with 410.
 */
export async function listDetailTasks(db: Db, after: number, limit: number): Promise<DetailTask[]> {
  const { rows } = await db.query<DetailTask>(
    `select project_id, title, case when reports_due then reports_key end as reports_key,
       case when gallery_due then gallery_key end as gallery_key, main_image
     from (${detailTasks}) task
     where reports_due or gallery_due
     order by project_id limit $2`,
    [after, limit],
  )
  return rows
}

/** Stores what the records stated when their details were fetched. */
export async function saveDetailKeys(db: Db, tasks: readonly DetailTask[]): Promise<void> {
  await db.query(
    `update upstream_project u
     set reports_key = coalesce(t.reports_key, u.reports_key), gallery_key = coalesce(t.gallery_key, u.gallery_key)
     from unnest($1::bigint[], $2::text[], $3::text[]) t (project_id, reports_key, gallery_key)
     where u.project_id = t.project_id`,
    listsOfEach(tasks, 'projectId', 'reportsKey', 'galleryKey'),
  )
}

/** Whether the upstream supports `modifiedSince`; undefined: it was never asked. */
export async function findSupportsModifiedSince(db: Db, upstream: string): Promise<boolean | undefined> {
  const { rows } = await db.query<{ supports: boolean }>(
    'select understands_modified_since as supports from upstream_trait where upstream = $1',
    [upstream],
  )
  return rows[0]?.supports
}

export async function recordSupportsModifiedSince(
  db: Db,
  upstream: string,
  supports: boolean,
  at: Date,
): Promise<void> {
  await db.query(
    `insert into upstream_trait (upstream, understands_modified_since, detected_at) values ($1, $2, $3)
     on conflict (upstream) do update
       set understands_modified_since = excluded.understands_modified_since, detected_at = excluded.detected_at`,
    [upstream, supports, at],
  )
}
