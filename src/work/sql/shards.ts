import type { Db } from '../../platform/database/connection.js'
import type { Attempt, IdRange, Lease, Outcome, RenderCounts, Run, RunProgress } from '../run.js'
import { type Claim, ending } from './leases.js'

// Any number of owners may render the shards of one attempt at once; its release has exactly one publisher.

/** Joins or keeps up the rendering of an attempt; undefined: it is over, and work on it must stop. */
export async function renewRendering(db: Db, lease: Lease): Promise<Run | undefined> {
  return await updateRun(
    db,
    lease,
    `lease_owner = $3, lease_until = greatest(lease_until, clock_timestamp() + make_interval(secs => $4))`,
    `stage = 'render'`,
  )
}

/**
 * Makes this owner the attempt's only publisher. `busy`: another owner is, or its lease has run out and the run is about to
 * be queued again; `gone`: the attempt is over.
 */
export async function beginPublishing(db: Db, lease: Lease): Promise<Claim> {
  const run = await updateRun(
    db,
    lease,
    `stage = 'publish', lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4)`,
    `(stage = 'render' or lease_owner is null or lease_owner = $3)`,
  )
  if (run) return { kind: 'claimed', attempt: lease.attempt, run }
  const { rowCount } = await db.query(`select from run where id = $1 and attempt = $2 and state = 'running'`, [
    lease.runId,
    lease.attempt,
  ])
  return { kind: rowCount > 0 ? 'busy' : 'gone' }
}

/** Keeps the publisher's lease up and notes its progress; undefined: another owner took over. */
export async function renewPublishing(db: Db, lease: Lease, progress?: RunProgress): Promise<Run | undefined> {
  return await updateRun(
    db,
    lease,
    `lease_until = clock_timestamp() + make_interval(secs => $4), progress = coalesce($5, progress)`,
    `stage = 'publish' and lease_owner = $3`,
    [progress ? JSON.stringify(progress) : null],
  )
}

/** Changes the running attempt where `condition` holds. */
async function updateRun(
  db: Db,
  { runId, attempt, owner, seconds }: Lease,
  change: string,
  condition: string,
  more: readonly unknown[] = [],
): Promise<Run | undefined> {
  const { rows } = await db.query<Run>(
    `update run set ${change} where id = $1 and attempt = $2 and state = 'running' and ${condition}
     returning id, started_at as "startedAt", force, trigger`,
    [runId, attempt, owner, seconds, ...more],
  )
  return rows[0]
}

/** Keeps the attempt alive without this owner for `lease.seconds`, until the queue tries the failed job again. */
export async function suspendRun(db: Db, lease: Lease): Promise<void> {
  await db.query(
    `update run set lease_until = greatest(lease_until, clock_timestamp() + make_interval(secs => $4)),
       lease_owner = nullif(lease_owner, $3)
     where id = $1 and attempt = $2 and state = 'running'`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
}

/** Enters the shards of an attempt, from which its progress is counted. */
export async function recordShards(db: Db, { runId, attempt }: Attempt, shards: readonly IdRange[]): Promise<void> {
  await db.query(
    `insert into run_shard (run_id, attempt, from_id, to_id)
     select $1, $2, from_id, to_id from unnest($3::bigint[], $4::bigint[]) as shard (from_id, to_id)
     on conflict (run_id, attempt, from_id) do nothing`,
    [runId, attempt, shards.map(({ fromId }) => fromId), shards.map(({ toId }) => toId)],
  )
}

/** Notes how much of a shard is done, in percent; never goes back. */
export async function recordShardProgress(
  db: Db,
  { runId, attempt }: Attempt,
  { fromId }: IdRange,
  percent: number,
): Promise<void> {
  await db.query(
    `update run_shard set percent = greatest(percent, $4) where run_id = $1 and attempt = $2 and from_id = $3`,
    [runId, attempt, fromId, Math.floor(percent)],
  )
}

/** Notes the counts of a finished shard. One that is done again finds nothing stale: the larger counts are kept. */
export async function recordShardCounts(
  db: Db,
  { runId, attempt }: Attempt,
  { fromId, toId }: IdRange,
  counts: RenderCounts,
): Promise<void> {
  await db.query(
    `insert into run_shard as s (run_id, attempt, from_id, to_id, percent, rendered, changed, held)
     values ($1, $2, $3, $4, 100, $5, $6, $7)
     on conflict (run_id, attempt, from_id) do update set percent = 100,
       rendered = greatest(s.rendered, excluded.rendered),
       changed = greatest(s.changed, excluded.changed),
       held = greatest(s.held, excluded.held)`,
    [runId, attempt, fromId, toId, counts.rendered, counts.changed, counts.held],
  )
}

/** Ends the run with its publisher's outcome and the seconds of each stage; false when this owner is not its publisher. */
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
