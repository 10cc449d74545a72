import type { ServiceError } from '../../kernel/errors.js'
import { type Db, sqlState } from '../../platform/database/connection.js'
import type { Attempt, Lease, Run, RunKind, SyncRun } from '../run.js'
import { runTables } from './ledger.js'

type ClaimedRun = { readonly publication: Run; readonly sync: SyncRun }

/** `busy`: another run of the kind is worked on; `gone`: the run was taken up by another worker, or has ended. */
export type Claim<Kind extends RunKind = 'publication'> =
  | { readonly kind: 'claimed'; readonly attempt: number; readonly run: ClaimedRun[Kind] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'gone' }

/** What the tables of the kinds do differently when a run is claimed, handed back or ended. */
const differences = {
  publication: {
    /**
     * The run's time, of the clock's time in $4. When the clock was set back it is a second after the newest release's,
     * so that published dates never go back; a release from more than a day ahead was made by a wrong clock.
     */
    startTime: `greatest($4, (select max(generated_at) + interval '1 second' from release
      where generated_at >= $4 and generated_at < $4::timestamptz + interval '1 day'))`,
    claiming: `, stage = null, progress = null`,
    claimed: 'id, started_at, force, trigger',
    handingBack: ', stage = null, progress = null',
    /** SQL: grows with the progress of an attempt. */
    advance: '(select count(*) from rendering g where g.run_id = r.id)',
    // A killed worker never counted what it rendered of a shard; the renderings themselves name the run that made them.
    // The larger count is right: projects that a later run rendered again are no longer among this run's renderings.
    ending: `, progress = null,
      rendered = greatest(
        (select coalesce(sum(s.rendered), 0) from run_shard s where s.run_id = run.id),
        (select count(*) from rendering g
         where g.run_id = run.id and exists (select from run_shard s where s.run_id = run.id))),
      changed = greatest(
        (select coalesce(sum(s.changed), 0) from run_shard s where s.run_id = run.id),
        (select count(*) from rendering g
         where g.run_id = run.id and g.last_updated_at = run.started_at
           and exists (select from run_shard s where s.run_id = run.id)))`,
  },
  sync: {
    startTime: '$4',
    claiming: '',
    claimed: 'kind, upstream, accept_loss, checkpoint, losses',
    handingBack: '',
    advance: 'r.requests',
    ending: ', checkpoint = null',
  },
} satisfies Record<RunKind, Record<string, string>>

/** SQL: this attempt is running and this owner has its lease. $1 run, $2 attempt, $3 owner. */
export const ownedByLease = `id = $1 and attempt = $2 and lease_owner = $3 and state = 'running'`

/** SQL: what every run forgets when it ends, after the columns of its kind. */
export const ending = (kind: RunKind) => `lease_owner = null, lease_until = null${differences[kind].ending}`

/**
 * Starts a new attempt of a queued run, or of a running one that this very owner works on. `at` becomes the run's time,
 * unless an earlier attempt already gave it one.
 */
export async function claimRun<Kind extends RunKind>(
  db: Db,
  lease: Omit<Lease, 'attempt'> & { readonly kind: Kind },
  at: Date,
): Promise<Claim<Kind>> {
  const table = runTables[lease.kind]
  const { startTime, claiming, claimed } = differences[lease.kind]
  try {
    const { rows } = await db.query<{ readonly attempt: number } & (Run | SyncRun)>(
      `update ${table} set state = 'running', attempt = attempt + 1, lease_owner = $2,
         lease_until = clock_timestamp() + make_interval(secs => $3),
         started_at = coalesce(started_at, ${startTime})${claiming}
       where id = $1 and (state = 'queued' or (state = 'running' and lease_owner = $2))
         and not exists (select from ${table} other where other.state = 'running' and other.id <> $1)
       returning attempt, ${claimed}`,
      [lease.runId, lease.owner, lease.seconds, at],
    )
    if (rows[0]) {
      const { attempt, ...run } = rows[0]
      return { kind: 'claimed', attempt, run: run as ClaimedRun[Kind] }
    }
  } catch (error) {
    // Two claims at the same moment: the unique index on running runs lets one through.
    if (sqlState(error) === '23505') return { kind: 'busy' }
    throw error
  }
  const { rowCount } = await db.query(`select from ${table} where id = $1 and state = 'queued'`, [lease.runId])
  return { kind: rowCount > 0 ? 'busy' : 'gone' }
}

/** Extends the lease; false when another worker took over or the run has ended. */
export async function renewLease(db: Db, lease: Lease): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${runTables[lease.kind]} set lease_until = clock_timestamp() + make_interval(secs => $4)
     where ${ownedByLease}`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
  return rowCount > 0
}

/** Ends the run as failed; false when the attempt is over or the run has already ended. */
export async function failRun(
  db: Db,
  { kind, runId, attempt }: Attempt,
  error: ServiceError,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${runTables[kind]} set state = 'failed', finished_at = $3, error_code = $4, error_message = $5,
       ${ending(kind)}
     where id = $1 and attempt = $2 and state in ('queued', 'running')`,
    [runId, attempt, at, error.code, error.message],
  )
  return rowCount > 0
}

/** Queues the run again, for the queue to deliver after `seconds`; false when the attempt is already over. */
export async function requeueRun(db: Db, { kind, runId, attempt }: Attempt, seconds?: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${runTables[kind]} set state = 'queued', lease_owner = null,
       lease_until = clock_timestamp() + make_interval(secs => $3)${differences[kind].handingBack}
     where id = $1 and attempt = $2 and state = 'running'`,
    [runId, attempt, seconds ?? null],
  )
  return rowCount > 0
}

/** A run whose lease has run out; `losses` counts how often in a row that happened without progress. */
export type DeadRun = {
  readonly id: number
  readonly attempt: number
  readonly losses: number
  readonly owner?: string
}

/** Queues the running run again whose owners' lease has run out, if there is one. */
export async function requeueDeadRun(db: Db, kind: RunKind): Promise<DeadRun | undefined> {
  const table = runTables[kind]
  const { advance, handingBack } = differences[kind]
  const { rows } = await db.query<DeadRun>(
    `with dead as (
       select r.id, r.lease_owner, ${advance} as progress from ${table} r
       where state = 'running' and coalesce(lease_until, '-infinity') < clock_timestamp()
       for update of r skip locked)
     update ${table} r set state = 'queued', lease_owner = null, lease_until = null${handingBack},
       losses = case when dead.progress > r.progress_at_loss then 1 else r.losses + 1 end,
       progress_at_loss = dead.progress
     from dead where r.id = dead.id
     returning r.id, r.attempt, r.losses, dead.lease_owner as owner`,
  )
  return rows[0]
}

/**
 * The oldest queued run, when no run of the kind is worked on and the queue was not given it within the last `seconds`;
 * from now on it has been.
 */
export async function takeNextQueued(
  db: Db,
  kind: RunKind,
  seconds: number,
): Promise<{ id: number; attempt: number } | undefined> {
  const table = runTables[kind]
  const { rows } = await db.query<{ id: number; attempt: number }>(
    `update ${table} set lease_until = clock_timestamp() + make_interval(secs => $1)
     where id = (select min(id) from ${table} where state = 'queued') and state = 'queued'
       and coalesce(lease_until, '-infinity') < clock_timestamp()
       and not exists (select from ${table} other where other.state = 'running')
     returning id, attempt`,
    [seconds],
  )
  return rows[0]
}

/** Keeps a queued run from the queue for another `seconds`; undefined lets the queue have it at once. */
export async function reserveQueued(db: Db, kind: RunKind, runId: number, seconds: number | undefined): Promise<void> {
  await db.query(
    `update ${runTables[kind]} set lease_until = clock_timestamp() + make_interval(secs => $2)
     where id = $1 and state = 'queued'`,
    [runId, seconds ?? null],
  )
}
