import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import type { Lease, RunFailure, RunTrigger, SyncKind } from '../../work/run.js'
import { ending, ownedByLease } from '../../work/sql/leases.js'
import { type EnteredRun, enterRun, type NewRun, runFailure } from '../../work/sql/ledger.js'

const countColumns = [
  'requests',
  'pages',
  'records',
  'created',
  'changed',
  'unchanged',
  'refused',
  'deactivated',
  'organisations',
  'galleries',
  'reports',
] as const

/** What a sync has done; exact, each count written in the transaction that did it. */
export type SyncCounts = Readonly<Record<(typeof countColumns)[number], number>>

export const noCounts = Object.fromEntries(countColumns.map((name) => [name, 0])) as SyncCounts

/** One sync of the ledger. */
export type SyncSummary = SyncCounts & {
  readonly id: number
  readonly kind: SyncKind
  readonly trigger: RunTrigger
  readonly upstream: string
  readonly state: 'queued' | 'running' | 'done' | 'held' | 'failed' | 'skipped'
  /** How often the run was taken up: more than 1 means that a worker died or was stopped. */
  readonly attempt: number
  readonly queuedAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  /** What the run is doing, while it goes on. */
  readonly phase?: string
  /** How many projects the upstream says it has. */
  readonly found?: number
  /** The instant of the upstream's clock up to which its changes are mirrored. */
  readonly mirroredUntil?: Date
  /** Why the run is held. */
  readonly reason?: string
  readonly error?: RunFailure
}

/**
 * Enters a sync, or finds the one that the due instant already has. One that is due while another that does at least the
 * same is still waiting is entered as skipped.
 */
export async function createSyncRun(
  db: Db,
  run: NewRun & { readonly kind: SyncKind; readonly upstream: string; readonly acceptLoss?: boolean },
): Promise<EnteredRun> {
  return await enterRun(db, 'sync', run, {
    names: 'kind, upstream, accept_loss, state',
    values: `$6, $7, $8, case when $2::text is not null and exists (
        select from sync_run where state = 'queued' and upstream = $7 and kind in ('full', $6)) then 'skipped'
      else 'queued' end`,
    parameters: [run.kind, run.upstream, run.acceptLoss ?? false],
  })
}

/** The sync with this id; throws `not-found` when the ledger has none. */
export async function getSyncRun(db: Db, id: number): Promise<SyncSummary> {
  const { rows } = await db.query<SyncSummary>(`${selectSync} where id = $1`, [id])
  if (!rows[0]) throw new ServiceError('not-found', `there is no sync ${id}`)
  return rows[0]
}

/** The newest syncs first, at most `limit`; those that had nothing to do are left out. */
export async function listSyncRuns(db: Db, limit: number): Promise<SyncSummary[]> {
  const newest = `${selectSync} where state <> 'skipped' order by id desc limit $1`
  return (await db.query<SyncSummary>(newest, [limit])).rows
}

/** Whether an earlier full sync of this upstream has ended well, and up to when its changes are mirrored. */
export async function findMirrorState(
  db: Db,
  upstream: string,
): Promise<{ readonly complete: boolean; readonly mirroredUntil?: Date }> {
  const { rows } = await db.query<{ complete: boolean; mirroredUntil?: Date }>(
    `select coalesce(bool_or(kind = 'full'), false) as complete, max(mirrored_until) as mirrored_until
     from sync_run where state = 'done' and upstream = $1`,
    [upstream],
  )
  return rows[0] ? rows[0] : { complete: false }
}

/** Something that a sync refused; `subject` says what it belongs to. */
export type SyncProblem = FieldProblem & { readonly subject: string }

/** What a sync refused, in order, at most `limit`. */
export async function listSyncProblems(db: Db, runId: number, limit: number): Promise<SyncProblem[]> {
  const { rows } = await db.query<Omit<SyncProblem, 'missing'>>(
    'select subject, field, expected, got from sync_notice where run_id = $1 order by id limit $2',
    [runId, limit],
  )
  return rows
}

/**
 * Records the counts of a page and where the run continues; call it in the transaction that wrote the page. False when
 * another worker took over: then nothing of that transaction may stay.
 */
export async function advanceSync(
  db: Db,
  lease: Lease,
  checkpoint: unknown,
  counts: Partial<SyncCounts>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set checkpoint = $4, ${countColumns.map((name, index) => `${name} = ${name} + $${index + 5}`).join(', ')}
     where ${ownedByLease}`,
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

const maxProblems = 100

/** Records what a run refused, the first hundred problems only. */
export async function recordSyncProblems(db: Db, runId: number, problems: readonly SyncProblem[]): Promise<void> {
  if (problems.length === 0) return
  await db.query(
    `insert into sync_notice (run_id, subject, field, expected, got)
     select $1, n.subject, n.field, n.expected, n.got
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) with ordinality n (subject, field, expected, got, position)
     where n.position <= $6 - (select count(*) from sync_notice where run_id = $1)
     order by n.position`,
    [runId, ...listsOfEach(problems, 'subject', 'field', 'expected', 'got'), maxProblems],
  )
}

/** How a sync ended when nothing failed. */
export type SyncOutcome =
  | { readonly state: 'done'; readonly mirroredUntil?: Date }
  | { readonly state: 'held'; readonly reason: string }

/** Ends the sync with its outcome; false when this owner no longer has it. */
export async function finishSync(db: Db, lease: Lease, outcome: SyncOutcome, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sync_run set state = $4, finished_at = $5, mirrored_until = $6, reason = $7, ${ending('sync')}
     where ${ownedByLease}`,
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

const selectSync = `
  select r.id, r.kind, r.trigger, r.upstream, r.state, r.attempt, r.queued_at, r.started_at,
    r.finished_at, ${countColumns.join(', ')},
    case when r.state = 'running' then r.checkpoint ->> 'phase' end as phase,
    (r.checkpoint -> 'found')::bigint as found, r.mirrored_until, r.reason,
    ${runFailure('r')} as error
  from sync_run r`
