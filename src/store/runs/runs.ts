import { type ErrorCode, ServiceError } from '../../domain/errors.js'
import type { DueInstant, RunFailure, RunProgress, RunTrigger } from '../../domain/run.js'
import type { Db } from '../database/connection.js'
import { type EnteredRun, enterRun, type NewRun } from './ledger.js'

export type FinishedState = 'published' | 'unchanged' | 'held' | 'failed'
export type RunState = 'queued' | 'running' | FinishedState

/** One publication of the ledger, as status pages and waiting commands see it. */
export type RunSummary = {
  readonly id: number
  readonly trigger: RunTrigger
  /** Absent for a run that was asked for. */
  readonly due?: DueInstant
  readonly force: boolean
  readonly state: RunState
  /** How often the run was taken up: more than 1 means that a worker died or was stopped. */
  readonly attempt: number
  readonly owner?: string
  readonly queuedAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  readonly rendered: number
  readonly changed: number
  readonly held: number
  readonly progress?: RunProgress
  readonly releaseId?: string
  /** Why the release is held. */
  readonly reason?: string
  readonly error?: RunFailure
}

/** Enters a publication, or finds the one that the due instant already has. */
export async function createRun(db: Db, run: NewRun & { readonly force?: boolean }): Promise<EnteredRun> {
  return await enterRun(db, 'publication', run, { names: 'force', values: '$6', parameters: [run.force ?? false] })
}

/** The run with this id; throws `not-found` when the ledger has none. */
export async function getRun(db: Db, id: number): Promise<RunSummary> {
  const { rows } = await db.query<RunRow>(`${selectRun} where r.id = $1`, [id])
  if (!rows[0]) throw new ServiceError('not-found', `there is no publication run ${id}`)
  return toRunSummary(rows[0])
}

/** The newest runs first, at most `limit`. */
export async function listRuns(db: Db, limit: number): Promise<RunSummary[]> {
  const { rows } = await db.query<RunRow>(`${selectRun} order by r.id desc limit $1`, [limit])
  return rows.map(toRunSummary)
}

/** The newest run that ended with everything in order: a release was published, or nothing had changed. */
export async function findLastGoodRun(db: Db): Promise<RunSummary | undefined> {
  const { rows } = await db.query<RunRow>(
    `${selectRun} where r.state in ('published', 'unchanged') order by r.finished_at desc, r.id desc limit 1`,
  )
  return rows[0] && toRunSummary(rows[0])
}

type RunRow = {
  id: number
  trigger: RunTrigger
  schedule: string | null
  due_at: Date | null
  force: boolean
  state: RunState
  attempt: number
  lease_owner: string | null
  queued_at: Date
  started_at: Date | null
  finished_at: Date | null
  rendered: number
  changed: number
  held: number
  progress: RunProgress | null
  release_id: string | null
  outcome: { reason?: string } | null
  error_code: ErrorCode | null
  error_message: string | null
  shards: number
  percent: number
  shard_rendered: number
  shard_changed: number
  shard_held: number
}

// A running run's counts are those of its shards so far; a finished one's were written once, when it finished.
const selectRun = `
  select r.id, r.trigger, r.schedule, r.due_at, r.force, r.state, r.attempt, r.lease_owner, r.queued_at, r.started_at,
    r.finished_at, r.rendered, r.changed, r.held, r.progress, r.release_id, r.outcome, r.error_code, r.error_message,
    s.shards, s.percent, s.rendered as shard_rendered, s.changed as shard_changed, s.held as shard_held
  from run r
  cross join lateral (
    select count(*) filter (where attempt = r.attempt) as shards,
      coalesce(sum(percent) filter (where attempt = r.attempt), 0)::bigint as percent,
      coalesce(sum(rendered), 0)::bigint as rendered,
      coalesce(sum(changed), 0)::bigint as changed,
      coalesce(sum(held), 0)::bigint as held
    from run_shard where run_id = r.id and r.state in ('queued', 'running')
  ) s`

function toRunSummary(row: RunRow): RunSummary {
  const finished = row.finished_at !== null
  const progress = row.state === 'running' ? toProgress(row) : undefined
  return {
    id: row.id,
    trigger: row.trigger,
    ...(row.schedule !== null && row.due_at !== null && { due: { schedule: row.schedule, at: row.due_at } }),
    force: row.force,
    state: row.state,
    attempt: row.attempt,
    ...(row.lease_owner !== null && { owner: row.lease_owner }),
    queuedAt: row.queued_at,
    ...(row.started_at && { startedAt: row.started_at }),
    ...(row.finished_at && { finishedAt: row.finished_at }),
    rendered: finished ? row.rendered : row.shard_rendered,
    changed: finished ? row.changed : row.shard_changed,
    held: finished ? row.held : row.shard_held,
    ...(progress && { progress }),
    ...(row.release_id !== null && { releaseId: row.release_id }),
    ...(row.outcome?.reason !== undefined && { reason: row.outcome.reason }),
    ...(row.error_code !== null && { error: { code: row.error_code, message: row.error_message ?? '' } }),
  }
}

function toProgress(row: RunRow): RunProgress | undefined {
  if (row.progress) return row.progress
  return row.shards > 0 ? { stage: 'render', done: row.percent, total: row.shards * 100 } : undefined
}
