import type { Db } from '../../platform/database/connection.js'
import type { Attempt, IdRange, Lease, Outcome, RenderCounts, Run, RunProgress, ShardLease } from '../run.js'
import { ending, ownedByLease } from './leases.js'

// One owner works on an attempt and publishes it. Any number of others may render shards of it meanwhile.

/**
 * Extends the lease on a publication and notes its progress. `lost`: another worker took over or it has ended; `cancel`: a
 * person has asked to cancel it.
 */
export async function renewPublication(
  db: Db,
  lease: Lease,
  progress?: RunProgress,
): Promise<'kept' | 'cancel' | 'lost'> {
  const { rows } = await db.query<{ asked: boolean }>(
    `update run set lease_until = clock_timestamp() + make_interval(secs => $4), progress = coalesce($5, progress)
     where ${ownedByLease} returning cancel_asked as asked`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds, progress ? JSON.stringify(progress) : null],
  )
  return rows[0] ? (rows[0].asked ? 'cancel' : 'kept') : 'lost'
}

/** Enters the shards of an attempt, for everybody to take or for one `owner`. */
export async function recordShards(
  db: Db,
  { runId, attempt }: Attempt,
  shards: readonly IdRange[],
  owner?: string,
): Promise<void> {
  await db.query(
    `insert into run_shard (run_id, attempt, from_id, to_id, lease_owner)
     select $1, $2, from_id, to_id, $5 from unnest($3::bigint[], $4::bigint[]) as shard (from_id, to_id)`,
    [runId, attempt, shards.map(({ fromId }) => fromId), shards.map(({ toId }) => toId), owner ?? null],
  )
}

/** How many shards of the attempt are not done. */
export async function countOpenShards(db: Db, { runId, attempt }: Attempt): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from run_shard where run_id = $1 and attempt = $2 and percent < 100',
    [runId, attempt],
  )
  return rows[0]?.count ?? 0
}

/** The next shard for the owner of the attempt: one that nobody has taken, or that its owner failed at or died with. */
export async function takeShard(db: Db, lease: Lease): Promise<ShardLease | undefined> {
  const { rows } = await db.query<IdRange>(
    `update run_shard set lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4)
     where run_id = $1 and attempt = $2 and from_id = (
       select from_id from run_shard where run_id = $1 and attempt = $2 and percent < 100
         and (lease_owner is null or lease_owner = $3 or lease_until < clock_timestamp())
       order by from_id limit 1 for update skip locked)
     returning from_id, to_id`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
  return rows[0] && { ...lease, shard: rows[0] }
}

/** A shard of a run that another process works on, and its run. */
type OthersShard = { readonly run: Run; readonly lease: ShardLease }

/** Takes a shard that nobody has taken yet, of a run that another process works on; undefined when there is none. */
export async function takeOthersShard(
  db: Db,
  { owner, seconds }: Pick<Lease, 'owner' | 'seconds'>,
): Promise<OthersShard | undefined> {
  const { rows } = await db.query<Run & IdRange & { readonly attempt: number }>(
    `update run_shard shard set lease_owner = $1, lease_until = clock_timestamp() + make_interval(secs => $2)
     from run where run.id = shard.run_id and (shard.run_id, shard.attempt, shard.from_id) = (
       select run_id, run_shard.attempt, from_id from run join run_shard on run_id = run.id
       where run.state = 'running' and run.stage is null and not starts_with(run.lease_owner, $1 || ' ')
         and run_shard.attempt = run.attempt and run_shard.lease_owner is null
       order by from_id limit 1 for update of run_shard skip locked)
     returning run.id, shard.attempt, run.started_at, run.force, run.trigger, from_id,
       to_id`,
    [owner, seconds],
  )
  if (!rows[0]) return undefined
  const { attempt, fromId, toId, ...run } = rows[0]
  return { run, lease: { kind: 'publication', runId: run.id, attempt, owner, seconds, shard: { fromId, toId } } }
}

/** Extends the lease on a shard and notes how much of it is done; false when it was taken over or its attempt is over. */
export async function renewShard(db: Db, lease: ShardLease, percent: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update run_shard shard set lease_until = clock_timestamp() + make_interval(secs => $5),
       percent = greatest(percent, least(99, $6))
     from run where ${ownedShard} and run.id = shard.run_id and run.attempt = shard.attempt and run.state = 'running'`,
    [...keyOf(lease), lease.seconds, Math.floor(percent)],
  )
  return rowCount > 0
}

/** Notes what came of a shard, which is done. */
export async function finishShard(db: Db, lease: ShardLease, counts: RenderCounts): Promise<void> {
  await db.query(
    `update run_shard shard set percent = 100, rendered = $5, changed = $6, held = $7 where ${ownedShard}`,
    [...keyOf(lease), counts.rendered, counts.changed, counts.held],
  )
}

/** Gives a shard up: to everybody, or only to the owner of its attempt, who finds out whether it can be rendered at all. */
export async function releaseShard(db: Db, lease: ShardLease, to: 'everybody' | 'owner'): Promise<void> {
  await db.query(
    `update run_shard shard set lease_owner = case when $5 then null else lease_owner end,
       lease_until = clock_timestamp()
     where ${ownedShard}`,
    [...keyOf(lease), to === 'everybody'],
  )
}

const ownedShard = 'shard.run_id = $1 and shard.attempt = $2 and shard.from_id = $3 and shard.lease_owner = $4'

function keyOf({ runId, attempt, shard, owner }: ShardLease): unknown[] {
  return [runId, attempt, shard.fromId, owner]
}

/** Ends the run with its outcome and the seconds of each stage; false when another owner took over or it has ended. */
export async function finishRun(
  db: Db,
  lease: Lease,
  outcome: Outcome,
  at: Date,
  timings: Readonly<Record<string, number>> = {},
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update run set state = $4, finished_at = $5, release_id = $6, held = $7, outcome = $8, timings = $9,
       ${ending('publication')}
     where ${ownedByLease}`,
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
