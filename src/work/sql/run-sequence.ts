import type { Db } from '../../platform/database/connection.js'

/** The run of a release on disk, from its manifest. */
export type PublishedRun = { readonly id: number; readonly releaseId: string; readonly at: Date; readonly held: number }

/**
 * Enters a run that the ledger does not know though its release is live: the database was restored from a backup older
 * than the release. Numbers of runs go on after it. Returns whether that was necessary.
 */
export async function adoptPublishedRun(db: Db, { id, releaseId, at, held }: PublishedRun): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into run (id, trigger, state, attempt, queued_at, started_at, finished_at, held, release_id, outcome)
      overriding system value
      select $1, 'manual', 'published', 1, $3, $3, $3, $4, $2, $5
      on conflict (id) do nothing`,
    [id, releaseId, at, held, JSON.stringify({ state: 'published', releaseId, held })],
  )
  if (rowCount === 0) return false
  await db.query(
    `select setval(sequence, $1) from (select pg_get_serial_sequence('run', 'id')::regclass as sequence) one
      where coalesce(pg_sequence_last_value(sequence), 0) < $1`,
    [id],
  )
  return true
}

type Overtaking = { readonly id: number; readonly releaseId: string; readonly held: number; readonly forced: boolean }

/**
 * The later run that has published while this one was queued; what was entered before it is in its release. `forced`: it
 * mapped every project again.
 */
export async function findOvertaking(db: Db, runId: number): Promise<Overtaking | undefined> {
  const { rows } = await db.query<Overtaking>(
    `select id, release_id, held, force as forced from run
      where id > $1 and state = 'published' and release_id is not null order by id desc limit 1`,
    [runId],
  )
  return rows[0]
}

/** Whether a release of this publisher was ever recorded here. */
export async function knowsReleasesOf(db: Db, publisherRef: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from release where manifest -> 'publisher' ->> 'ref' = $1 and state in ('live', 'superseded') limit 1`,
    [publisherRef],
  )
  return rowCount > 0
}
