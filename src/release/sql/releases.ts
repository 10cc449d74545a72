import type { Db } from '../../platform/database/connection.js'

/** A release as the database knows it; the row follows the release's folder. */
export type ReleaseRow = {
  readonly id: string
  readonly runId: number
  readonly generatedAt: Date
  readonly state: 'live' | 'superseded' | 'held'
  /** Why it is or was held. */
  readonly reason?: string | undefined
}

/** One event of a release; `otherId`: the release that a rollback took down. */
export type ReleaseEvent = {
  readonly releaseId: string
  readonly event: 'published' | 'held' | 'approved' | 'rolled-back'
  readonly otherId?: string | undefined
  readonly at: Date
}

type NewRelease = {
  readonly id: string
  readonly runId: number
  readonly generatedAt: Date
  readonly manifest: unknown
}

/**
 * Records the release as live, and its predecessor as superseded, in the caller's transaction; recording it again
 * changes nothing. `event` says how it became live, unless that is known already.
 */
export async function recordLiveRelease(
  db: Db,
  release: NewRelease,
  { event, at }: { readonly event: 'published' | 'approved'; readonly at: Date },
): Promise<void> {
  await db.query(`update release set state = 'superseded' where state = 'live' and id <> $1`, [release.id])
  const { rowCount } = await db.query(
    `insert into release (id, run_id, generated_at, state, manifest) values ($1, $2, $3, 'live', $4)
      on conflict (id) do update set state = 'live' where release.state <> 'live'`,
    [release.id, release.runId, release.generatedAt, JSON.stringify(release.manifest)],
  )
  if (rowCount === 0) return
  await db.query(
    `insert into release_event (release_id, event, at)
      select $1, $2, $3 where not exists (
        select from release_event newest where newest.id = (select max(id) from release_event)
          and newest.release_id = $1 and newest.event = 'rolled-back')`,
    [release.id, event, at],
  )
}

/** Records a release that waits for the operator, and why. */
export async function recordHeldRelease(
  db: Db,
  release: NewRelease & { readonly reason: string },
  at: Date,
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into release (id, run_id, generated_at, state, manifest, reason) values ($1, $2, $3, 'held', $4, $5)
      on conflict (id) do nothing`,
    [release.id, release.runId, release.generatedAt, JSON.stringify(release.manifest), release.reason],
  )
  if (rowCount > 0) await recordReleaseEvent(db, { releaseId: release.id, event: 'held', at })
}

/** Records an event of a release. */
export async function recordReleaseEvent(db: Db, { releaseId, event, otherId, at }: ReleaseEvent): Promise<void> {
  await db.query('insert into release_event (release_id, event, other_id, at) values ($1, $2, $3, $4)', [
    releaseId,
    event,
    otherId ?? null,
    at,
  ])
}

/** The live release. */
export async function findLiveRelease(db: Db): Promise<ReleaseRow | undefined> {
  return (await selectReleases(db, `where state = 'live'`, []))[0]
}

/** The release with this id; undefined when the database has none. */
export async function findRelease(db: Db, id: string): Promise<ReleaseRow | undefined> {
  return (await selectReleases(db, 'where id = $1', [id]))[0]
}

/** These releases; ids that the database does not know are left out. */
export async function findReleases(db: Db, ids: readonly string[]): Promise<ReleaseRow[]> {
  return await selectReleases(db, 'where id = any ($1::text[])', [ids])
}

/** The events of a release, oldest first. */
export async function listReleaseEvents(db: Db, releaseId: string): Promise<ReleaseEvent[]> {
  const { rows } = await db.query<ReleaseEvent>(`${selectEvents} where release_id = $1 order by id`, [releaseId])
  return rows
}

/** The newest event if it is a rollback: `releaseId` took the place of `otherId`, and nothing has been published since. */
export async function findStandingRollback(db: Db): Promise<(ReleaseEvent & { readonly otherId: string }) | undefined> {
  const { rows } = await db.query<ReleaseEvent>(`${selectEvents} order by id desc limit 1`)
  const [event] = rows
  if (event?.event !== 'rolled-back' || event.otherId === undefined) return undefined
  return { ...event, otherId: event.otherId }
}

/** When each release went live last, and when the next one did. */
export async function findLiveTimes(db: Db): Promise<ReadonlyMap<string, { since: Date; until: Date | undefined }>> {
  const { rows } = await db.query<{ id: string; since: Date; until: Date | undefined }>(
    `select distinct on (release_id) release_id as id, at as since, next_at as until
      from (select id, release_id, at, lead(at) over (order by id) as next_at
        from release_event where event <> 'held') went_live
      order by release_id, went_live.id desc`,
  )
  return new Map(rows.map(({ id, since, until }) => [id, { since, until: until ?? undefined }]))
}

/** Removes the event of a rollback that could not be carried out. */
export async function forgetRollback(db: Db, releaseId: string): Promise<void> {
  await db.query(
    `delete from release_event where id = (select max(id) from release_event)
      and release_id = $1 and event = 'rolled-back'`,
    [releaseId],
  )
}

/** Removes held releases that are no longer kept. */
export async function forgetHeldReleases(db: Db, ids: readonly string[]): Promise<void> {
  await db.query(`delete from release where state = 'held' and id = any ($1::text[])`, [ids])
}

async function selectReleases(db: Db, where: string, values: readonly unknown[]): Promise<ReleaseRow[]> {
  const { rows } = await db.query<ReleaseRow>(
    `select id, run_id, generated_at, state, reason from release ${where}`,
    values,
  )
  return rows
}

const selectEvents = `select release_id, event, other_id, at from release_event`
