import type { ErrorCode, FieldProblem, ServiceError } from '../../domain/errors.js'
import { type Db, sqlState } from '../database/connection.js'

/** `full` compares the whole catalogue; `incremental` fetches what changed since. */
export type SyncKind = 'full' | 'incremental'
export type SyncTrigger = 'schedule' | 'start' | 'manual' | 'watchdog'
export type SyncState = 'queued' | 'running' | 'done' | 'held' | 'failed' | 'skipped'

/** What a sync has done; exact, each count written in the transaction that did it. */
export type SyncCounts = {
  readonly requests: number
  readonly pages: number
  readonly records: number
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly refused: number
  readonly deactivated: number
  readonly organisations: number
  readonly galleries: number
  readonly reports: number
}

export const noCounts: SyncCounts = {
  requests: 0,
  pages: 0,
  records: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  refused: 0,
  deactivated: 0,
  organisations: 0,
  galleries: 0,
  reports: 0,
}

/** One sync of the ledger. */
export type SyncSummary = SyncCounts & {
  readonly id: number
  readonly kind: SyncKind
  readonly trigger: SyncTrigger
  readonly upstream: string
  readonly state: SyncState
  /** How often the run was taken up: more than 1 means that a worker died or was stopped. */
  readonly attempt: number
  readonly queuedAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  /** What the run is doing, while it goes on. */
  readonly phase?: string
  /** How many projects the upstream says it has. */
  readonly found?: number
  /** Up to when, by the upstream's clock, its changes are mirrored. */
  readonly mirroredUntil?: Date
  /** Why the run is held. */
  readonly reason?: string
  readonly error?: { readonly code: ErrorCode; readonly message: string }
}

export type NewSync = {
  readonly kind: SyncKind
  readonly trigger: SyncTrigger
  readonly upstream: string
  readonly at: Date
  readonly acceptLoss?: boolean
  readonly due?: { readonly schedule: string; readonly at: Date }
  /** Keeps the run from the queue for so long. */
  readonly reserveSeconds?: number
}

/**
 * Enters a sync, or finds the one that the due instant already has. One that is due while another that does at least the
 * same is still waiting is entered as skipped.
 */
export async function createSyncRun(db: Db, run: NewSync): Promise<{ id: number; created: boolean }> {
  const { rows } = await db.query<{ id: number }>(
    `insert into sync_run (kind, trigger, upstream, accept_loss, schedule, due_at, queued_at, lease_until, state)
     select $1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8),
       case when $5::text is not null and exists (
         select from sync_run where state = 'queued' and upstream = $3 and kind in ('full', $1)) then 'skipped'
       else 'queued' end
     on conflict (schedule, due_at) do nothing
     returning id`,
    [
      run.kind,
      run.trigger,
      run.upstream,
      run.acceptLoss ?? false,
      run.due?.schedule ?? null,
      run.due?.at ?? null,
      run.at,
      run.reserveSeconds ?? null,
    ],
  )
  if (rows[0]) return { id: rows[0].id, created: true }
  const existing = await db.query<{ id: number }>('select id from sync_run where schedule = $1 and due_at = $2', [
    run.due?.schedule ?? null,
    run.due?.at ?? null,
  ])
  const row = existing.rows[0]
  if (!row) throw new Error('a sync conflicts with one that does not exist')
  return { id: row.id, created: false }
}

export async function findSyncRun(db: Db, id: number): Promise<SyncSummary | undefined> {
  const { rows } = await db.query<SyncRow>(`${selectSync} where id = $1`, [id])
  return rows[0] && toSyncSummary(rows[0])
}

/** The newest syncs first, at most `limit`; those that had nothing to do are left out. */
export async function listSyncRuns(db: Db, limit: number): Promise<SyncSummary[]> {
  const { rows } = await db.query<SyncRow>(`${selectSync} where state <> 'skipped' order by id desc limit $1`, [limit])
  return rows.map(toSyncSummary)
}

/** The newest instant of this schedule that has a sync. */
export async function findLastSyncDue(db: Db, schedule: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ due_at: Date | null }>(
    'select max(due_at) as due_at from sync_run where schedule = $1',
    [schedule],
  )
  return rows[0]?.due_at ?? undefined
}

/** Whether an earlier full sync of this upstream has ended well, and up to when its changes are mirrored. */
export async function findMirrorState(
  db: Db,
  upstream: string,
): Promise<{ readonly complete: boolean; readonly mirroredUntil?: Date }> {
  const { rows } = await db.query<{ complete: boolean; mirrored_until: Date | null }>(
    `select coalesce(bool_or(kind = 'full'), false) as complete, max(mirrored_until) as mirrored_until
     from sync_run where state = 'done' and upstream = $1`,
    [upstream],
  )
  const row = rows[0]
  return {
    complete: row?.complete ?? false,
    ...(row?.mirrored_until && { mirroredUntil: row.mirrored_until }),
  }
}

/** What a sync refused, in order; `limit` at most. */
export async function listSyncNotices(
  db: Db,
  runId: number,
  limit: number,
): Promise<(FieldProblem & { readonly subject: string })[]> {
  const { rows } = await db.query<{ subject: string; field: string; expected: string; got: string | null }>(
    'select subject, field, expected, got from sync_notice where run_id = $1 order by id limit $2',
    [runId, limit],
  )
  return rows.map(({ got, ...notice }) => ({ ...notice, ...(got !== null && { got }) }))
}

/** Whether the sync has ended, one way or the other. */
export function isSyncFinished({ state }: Pick<SyncSummary, 'state'>): boolean {
  return state !== 'queued' && state !== 'running'
}

/** The right to work on one attempt of a sync for a while, by the database's clock. */
export type SyncLease = {
  readonly runId: number
  readonly attempt: number
  readonly owner: string
  readonly seconds: number
}

/** A sync that this process may work on, and where it goes on. */
export type ClaimedSync = {
  readonly lease: SyncLease
  readonly kind: SyncKind
  readonly upstream: string
  readonly acceptLoss: boolean
  readonly checkpoint: unknown
}

/**
 * Starts the next attempt of a queued sync. `busy`: another sync is going on; `gone`: this one was taken up or has
 * ended.
 */
export async function claimSync(
  db: Db,
  wanted: Omit<SyncLease, 'attempt'>,
  at: Date,
): Promise<ClaimedSync | 'busy' | 'gone'> {
  try {
    const { rows } = await db.query<{
      kind: SyncKind
      upstream: string
      accept_loss: boolean
      attempt: number
      checkpoint: unknown
    }>(
      `update sync_run set state = 'running', attempt = attempt + 1, lease_owner = $2,
         lease_until = clock_timestamp() + make_interval(secs => $3), started_at = coalesce(started_at, $4)
       where id = $1 and state = 'queued' and not exists (select from sync_run where state = 'running')
       returning kind, upstream, accept_loss, attempt, checkpoint`,
      [wanted.runId, wanted.owner, wanted.seconds, at],
    )
    const row = rows[0]
    if (row) {
      return {
        lease: { ...wanted, attempt: row.attempt },
        kind: row.kind,
        upstream: row.upstream,
        acceptLoss: row.accept_loss,
        checkpoint: row.checkpoint ?? undefined,
      }
    }
  } catch (error) {
    // Two claims at the same moment: the index on running syncs lets one through.
    if (sqlState(error) === '23505') return 'busy'
    throw error
  }
  const { rowCount } = await db.query(`select from sync_run where id = $1 and state = 'queued'`, [wanted.runId])
  return rowCount > 0 ? 'busy' : 'gone'
}

/** Keeps the lease up; false when another worker took over. */
export async function renewSync(db: Db, lease: SyncLease): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set lease_until = clock_timestamp() + make_interval(secs => $4) where ${held}`,
    [lease.runId, lease.attempt, lease.owner, lease.seconds],
  )
  return rowCount > 0
}

/**
 * Notes what a page came to and where the run goes on; call it in the transaction that wrote the page. False when
 * another worker took over: then nothing of that transaction may stay.
 */
export async function advanceSync(
  db: Db,
  lease: SyncLease,
  checkpoint: unknown,
  counts: Partial<SyncCounts>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set checkpoint = $4, ${countColumns.map((name, index) => `${name} = ${name} + $${index + 5}`).join(', ')}
     where ${held}`,
    [
      lease.runId,
      lease.attempt,
      lease.owner,
      JSON.stringify(checkpoint),
      ...countColumns.map((name) => counts[name] ?? 0),
    ],
  )
  return rowCount > 0
}

const maxNotices = 100

/** Keeps findings of a run, the first hundred of them. */
export async function recordSyncNotices(
  db: Db,
  runId: number,
  notices: readonly (FieldProblem & { readonly subject: string })[],
): Promise<void> {
  if (notices.length === 0) return
  await db.query(
    `insert into sync_notice (run_id, subject, field, expected, got)
     select $1, n.subject, n.field, n.expected, n.got
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) with ordinality n (subject, field, expected, got, position)
     where n.position <= $6 - (select count(*) from sync_notice where run_id = $1)
     order by n.position`,
    [
      runId,
      notices.map((notice) => notice.subject),
      notices.map((notice) => notice.field),
      notices.map((notice) => notice.expected),
      notices.map((notice) => notice.got ?? null),
      maxNotices,
    ],
  )
}

/** How a sync ended when nothing failed. */
export type SyncOutcome =
  | { readonly state: 'done'; readonly mirroredUntil?: Date }
  | { readonly state: 'held'; readonly reason: string }

/** Ends the sync with its outcome; false when this owner no longer has it. */
export async function finishSync(db: Db, lease: SyncLease, outcome: SyncOutcome, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set state = $4, finished_at = $5, mirrored_until = $6, reason = $7, ${released} where ${held}`,
    [
      lease.runId,
      lease.attempt,
      lease.owner,
      outcome.state,
      at,
      outcome.state === 'done' ? (outcome.mirroredUntil ?? null) : null,
      outcome.state === 'held' ? outcome.reason : null,
    ],
  )
  return rowCount > 0
}

/** Ends the sync as failed; false when this owner no longer has it. */
export async function failSync(db: Db, lease: SyncLease, error: ServiceError, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set state = 'failed', finished_at = $4, error_code = $5, error_message = $6, ${released}
     where ${held}`,
    [lease.runId, lease.attempt, lease.owner, at, error.code, error.message],
  )
  return rowCount > 0
}

/** Gives the attempt back: the sync waits, with its checkpoint, for whoever is there, after `seconds` at the earliest. */
export async function requeueSync(db: Db, lease: SyncLease, seconds?: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set state = 'queued', lease_owner = null,
       lease_until = clock_timestamp() + make_interval(secs => $4)
     where ${held}`,
    [lease.runId, lease.attempt, lease.owner, seconds ?? null],
  )
  return rowCount > 0
}

/** Queues again, and returns, the running sync whose owner has gone silent, if there is one. */
export async function requeueDeadSync(db: Db): Promise<{ id: number; attempt: number; owner: string } | undefined> {
  const { rows } = await db.query<{ id: number; attempt: number; owner: string }>(
    `with dead as (
       select id, lease_owner from sync_run
       where state = 'running' and coalesce(lease_until, '-infinity') < clock_timestamp() for update skip locked)
     update sync_run r set state = 'queued', lease_owner = null, lease_until = null from dead where r.id = dead.id
     returning r.id, r.attempt, dead.lease_owner as owner`,
  )
  return rows[0]
}

/**
 * The oldest queued sync, when none is going on and the queue has not been given it within the last `seconds`; from now
 * on it has been.
 */
export async function takeNextSync(db: Db, seconds: number): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    `update sync_run set lease_until = clock_timestamp() + make_interval(secs => $1)
     where id = (select min(id) from sync_run where state = 'queued') and state = 'queued'
       and coalesce(lease_until, '-infinity') < clock_timestamp()
       and not exists (select from sync_run where state = 'running')
     returning id`,
    [seconds],
  )
  return rows[0]?.id
}

/** Keeps a queued sync away from the queue for another `seconds` (undefined: gives it back to it). */
export async function reserveSync(db: Db, runId: number, seconds: number | undefined): Promise<void> {
  await db.query(
    `update sync_run set lease_until = clock_timestamp() + make_interval(secs => $2) where id = $1 and state = 'queued'`,
    [runId, seconds ?? null],
  )
}

const countColumns = Object.keys(noCounts) as readonly (keyof SyncCounts)[]
const held = `id = $1 and attempt = $2 and lease_owner = $3 and state = 'running'`
const released = 'checkpoint = null, lease_owner = null, lease_until = null'

type SyncRow = SyncCounts & {
  id: number
  kind: SyncKind
  trigger: SyncTrigger
  upstream: string
  state: SyncState
  attempt: number
  queued_at: Date
  started_at: Date | null
  finished_at: Date | null
  checkpoint: { phase?: string; found?: number } | null
  mirrored_until: Date | null
  reason: string | null
  error_code: ErrorCode | null
  error_message: string | null
}

const selectSync = `
  select id, kind, trigger, upstream, state, attempt, queued_at, started_at, finished_at, checkpoint, mirrored_until,
    ${countColumns.join(', ')}, reason, error_code, error_message
  from sync_run`

function toSyncSummary(row: SyncRow): SyncSummary {
  const counts = Object.fromEntries(countColumns.map((name) => [name, row[name]])) as SyncCounts
  return {
    id: row.id,
    kind: row.kind,
    trigger: row.trigger,
    upstream: row.upstream,
    state: row.state,
    attempt: row.attempt,
    queuedAt: row.queued_at,
    ...(row.started_at && { startedAt: row.started_at }),
    ...(row.finished_at && { finishedAt: row.finished_at }),
    ...counts,
    ...(row.state === 'running' && row.checkpoint?.phase !== undefined && { phase: row.checkpoint.phase }),
    ...(row.checkpoint?.found !== undefined && { found: row.checkpoint.found }),
    ...(row.mirrored_until && { mirroredUntil: row.mirrored_until }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.error_code !== null && { error: { code: row.error_code, message: row.error_message ?? '' } }),
  }
}
