import type { ServiceError } from '../../domain/errors.js'
import { type Db, sqlState } from '../database/connection.js'
import type { RunProgress } from './runs.js'

/**
 * The right to work on one attempt of a run for a while. Time is the database's clock, so machines need not agree.
 * Several owners may render one attempt's shards at once; publishing has exactly one.
 */
export type Lease = {
  readonly runId: number
  readonly attempt: number
  readonly owner: string
  readonly seconds: number
}

/** The run that a lease was given for. */
export type LeasedRun = { readonly id: number; readonly startedAt: Date; readonly force: boolean }

/** `busy`: another run is being published; `gone`: the run was taken up by someone else, or has finished. */
export type Claim =
  | { readonly kind: 'claimed'; readonly attempt: number; readonly run: LeasedRun }
  | { readonly kind: 'busy' }
  | { readonly kind: 'gone' }

/** One range of project ids, both ends included. */
export type ShardRange = { readonly fromId: number; readonly toId: number }
export type ShardCounts = { readonly rendered: number; readonly changed: number; readonly held: number }

/**
 * Starts a new attempt of a run that is queued at attempt `lease.attempt`; or again one that this very owner started
 * but had no shard of. `at` becomes the run's time, unless an earlier attempt already gave it one, or the clock was set
 * back: within a day of a newer release the run's time is a second after that release's, so that dates published never
 * go back. A release from further ahead was made by a wrong clock and is no measure.
 */
export async function claimRun(db: Db, lease: Lease, at: Date): Promise<Claim> {
  try {
    const { rows } = await db.query<LeaseRow>(
      `update run set state = 'running', stage = 'render', attempt = attempt + 1, progress = null, lease_owner = $3,
         lease_until = clock_timestamp() + make_interval(secs => $4),
         started_at = coalesce(started_at, greatest($5::timestamptz,
           (select max(generated_at) + interval '1 second' from release
             where generated_at >= $5 and generated_at < $5::timestamptz + interval '1 day')))
       where id = $1
         and ((state = 'queued' and attempt = $2) or (state = 'running' and lease_owner = $3))
         and not exists (select from run other where other.state = 'running' and other.id <> $1)
       returning ${leaseColumns}`,
      [lease.runId, lease.attempt, lease.owner, lease.seconds, at],
    )
    if (rows[0]) return { kind: 'claimed', attempt: rows[0].attempt, run: toLeasedRun(rows[0]) }
  } catch (error) {
    // Two claims at the same moment: the index on running runs lets one through.
    if (sqlState(error) === '23505') return { kind: 'busy' }
    throw error
  }
  const { rowCount } = await db.query(`select from run where id = $1 and state = 'queued' and attempt = $2`, [
    lease.runId,
    lease.attempt,
  ])
  return { kind: rowCount > 0 ? 'busy' : 'gone' }
}

/** Joins or keeps up the rendering of an attempt; undefined: it is over, and work on it must stop. */
export async function renewRendering(db: Db, lease: Lease): Promise<LeasedRun | undefined> {
  const { rows } = await db.query<LeaseRow>(
    `update run set lease_owner = $3,
       lease_until = greatest(lease_until, clock_timestamp() + make_interval(secs => $4))
     where id = $1 and attempt = $2 and state = 'running' and stage = 'render'
     returning ${leaseColumns}`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
  return rows[0] && toLeasedRun(rows[0])
}

/**
 * Makes this owner the attempt's only publisher. `busy`: another owner is, and alive; `gone`: the attempt is over.
 */
export async function beginPublishing(db: Db, lease: Lease): Promise<Claim> {
  const { rows } = await db.query<LeaseRow>(
    `update run set stage = 'publish', lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4)
     where id = $1 and attempt = $2 and state = 'running'
       and (stage = 'render' or lease_owner is null or lease_owner = $3 or lease_until < clock_timestamp())
     returning ${leaseColumns}`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
  if (rows[0]) return { kind: 'claimed', attempt: rows[0].attempt, run: toLeasedRun(rows[0]) }
  const { rowCount } = await db.query(`select from run where id = $1 and attempt = $2 and state = 'running'`, [
    lease.runId,
    lease.attempt,
  ])
  return { kind: rowCount > 0 ? 'busy' : 'gone' }
}

/** Keeps the publisher's lease up and notes its progress; undefined: another owner took over. */
export async function renewPublishing(db: Db, lease: Lease, progress?: RunProgress): Promise<LeasedRun | undefined> {
  const { rows } = await db.query<LeaseRow>(
    `update run set lease_until = clock_timestamp() + make_interval(secs => $4), progress = coalesce($5, progress)
     where id = $1 and attempt = $2 and state = 'running' and stage = 'publish' and lease_owner = $3
     returning ${leaseColumns}`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds, progress ? JSON.stringify(progress) : null],
  )
  return rows[0] && toLeasedRun(rows[0])
}

/**
 * Lets the queue's next try of a failed job in, after at most `seconds`: the attempt is kept alive that long without
 * an owner. A starter keeps its name on it, since only the same job may start an attempt again.
 */
export async function suspendRun(db: Db, lease: Lease, keepOwner: boolean): Promise<void> {
  await db.query(
    `update run set lease_until = greatest(lease_until, clock_timestamp() + make_interval(secs => $4)),
       lease_owner = case when $5 or lease_owner <> $3 then lease_owner end
     where id = $1 and attempt = $2 and state = 'running'`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds, keepOwner],
  )
}

/** Enters the shards of an attempt, so that its progress can be told. */
export async function recordShards(
  db: Db,
  lease: Pick<Lease, 'runId' | 'attempt'>,
  shards: readonly ShardRange[],
): Promise<void> {
  await db.query(
    `insert into run_shard (run_id, attempt, from_id, to_id)
     select $1, $2, from_id, to_id from unnest($3::bigint[], $4::bigint[]) as shard (from_id, to_id)
     on conflict (run_id, attempt, from_id) do nothing`,
    [lease.runId, lease.attempt, shards.map(({ fromId }) => fromId), shards.map(({ toId }) => toId)],
  )
}

/** Notes how much of a shard is done, in percent; never goes back. */
export async function recordShardProgress(
  db: Db,
  lease: Pick<Lease, 'runId' | 'attempt'>,
  shard: ShardRange,
  percent: number,
): Promise<void> {
  await db.query(
    `update run_shard set percent = greatest(percent, $4) where run_id = $1 and attempt = $2 and from_id = $3`,
    [lease.runId, lease.attempt, shard.fromId, Math.floor(percent)],
  )
}

/** Notes what a shard came to. A shard that is done again finds nothing stale: the larger counts are kept. */
export async function recordShardCounts(
  db: Db,
  lease: Pick<Lease, 'runId' | 'attempt'>,
  shard: ShardRange,
  counts: ShardCounts,
): Promise<void> {
  await db.query(
    `insert into run_shard as s (run_id, attempt, from_id, to_id, percent, rendered, changed, held)
     values ($1, $2, $3, $4, 100, $5, $6, $7)
     on conflict (run_id, attempt, from_id) do update set percent = 100,
       rendered = greatest(s.rendered, excluded.rendered),
       changed = greatest(s.changed, excluded.changed),
       held = greatest(s.held, excluded.held)`,
    [lease.runId, lease.attempt, shard.fromId, shard.toId, counts.rendered, counts.changed, counts.held],
  )
}

/** How a run ended well or was held; `held` counts the activities that the release leaves as they were. */
export type RunOutcome = {
  readonly state: 'published' | 'unchanged' | 'held'
  /** Absent when the release was held before it had a name. */
  readonly releaseId?: string
  readonly held: number
  readonly reason?: string
}

/**
 * Ends the run with its publisher's outcome; false when this owner is no longer its publisher. `timings`: seconds by
 * stage.
 */
export async function finishRun(
  db: Db,
  lease: Lease,
  outcome: RunOutcome,
  at: Date,
  timings: Readonly<Record<string, number>> = {},
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update run set state = $4, finished_at = $5, release_id = $6, held = $7, outcome = $8, timings = $9, ${finishing}
     where id = $1 and attempt = $2 and state = 'running' and stage = 'publish' and lease_owner = $3`,
    [
      lease.runId,
      lease.attempt,
      lease.owner,
      outcome.state,
      at,
      outcome.releaseId ?? null,
      outcome.held,
      { ...outcome },
      timings,
    ],
  )
  return rowCount > 0
}

/** Ends the run as failed; false when the attempt is over or the run has already ended. */
export async function failRun(
  db: Db,
  lease: Pick<Lease, 'runId' | 'attempt'>,
  error: ServiceError,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update run set state = 'failed', finished_at = $3, error_code = $4, error_message = $5, ${finishing}
     where id = $1 and attempt = $2 and state in ('queued', 'running')`,
    [lease.runId, lease.attempt, at, error.code, error.message],
  )
  return rowCount > 0
}

/** Gives an attempt back: the run is queued again for whoever is there. False when the attempt is already over. */
export async function requeueRun(db: Db, lease: Pick<Lease, 'runId' | 'attempt'>): Promise<boolean> {
  const { rowCount } = await db.query(
    `update run set state = 'queued', ${released} where id = $1 and attempt = $2 and state = 'running'`,
    [lease.runId, lease.attempt],
  )
  return rowCount > 0
}

/** Queues again, and returns, the running run whose owners have all gone silent, if there is one. */
export async function requeueDeadRun(db: Db): Promise<{ id: number; attempt: number; owner?: string } | undefined> {
  const { rows } = await db.query<{ id: number; attempt: number; owner: string | null }>(
    `with dead as (
       select id, lease_owner from run where state = 'running' and coalesce(lease_until, '-infinity') < clock_timestamp()
       for update skip locked)
     update run set state = 'queued', ${released} from dead where run.id = dead.id
     returning run.id, run.attempt, dead.lease_owner as owner`,
  )
  const row = rows[0]
  return row && { id: row.id, attempt: row.attempt, ...(row.owner !== null && { owner: row.owner }) }
}

/**
 * The oldest queued run, when no run is going on and the queue has not been given it within the last `seconds`; from
 * now on it has been.
 */
export async function takeNextQueued(db: Db, seconds: number): Promise<{ id: number; attempt: number } | undefined> {
  const { rows } = await db.query<{ id: number; attempt: number }>(
    `update run set lease_until = clock_timestamp() + make_interval(secs => $1)
     where id = (select min(id) from run where state = 'queued') and state = 'queued'
       and coalesce(lease_until, '-infinity') < clock_timestamp()
       and not exists (select from run other where other.state = 'running')
     returning id, attempt`,
    [seconds],
  )
  return rows[0]
}

/** Keeps a queued run away from the queue for another `seconds` (undefined: gives it back to it). */
export async function reserveQueued(db: Db, runId: number, seconds: number | undefined): Promise<void> {
  await db.query(
    `update run set lease_until = clock_timestamp() + make_interval(secs => $2) where id = $1 and state = 'queued'`,
    [runId, seconds ?? null],
  )
}

type LeaseRow = { id: number; attempt: number; started_at: Date; force: boolean }

const leaseColumns = 'id, attempt, started_at, force'
const released = 'stage = null, progress = null, lease_owner = null, lease_until = null'
// What a killed worker had rendered of a shard was never counted there; the renderings themselves name the run that
// made them. Whichever is more is true: a project that changed hands since, in a later run, is no longer among them.
const finishing = `${released},
  rendered = greatest(
    (select coalesce(sum(s.rendered), 0) from run_shard s where s.run_id = run.id),
    (select count(*) from rendering g
     where g.run_id = run.id and exists (select from run_shard s where s.run_id = run.id))),
  changed = greatest(
    (select coalesce(sum(s.changed), 0) from run_shard s where s.run_id = run.id),
    (select count(*) from rendering g
     where g.run_id = run.id and g.last_updated_at = run.started_at
       and exists (select from run_shard s where s.run_id = run.id)))`

function toLeasedRun(row: LeaseRow): LeasedRun {
  return { id: row.id, startedAt: row.started_at, force: row.force }
}
