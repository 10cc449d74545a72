import { type ErrorCode, ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import type { DueInstant, RunFailure, RunProgress, RunTrigger } from '../run.js'
import { ending } from './leases.js'
import { type EnteredRun, enterRun, type NewRun, runFailure } from './ledger.js'

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
  /** Seconds of each stage, once the run has ended. */
  readonly stageSeconds?: Readonly<Record<string, number>>
  readonly releaseId?: string
  /** Why the release is held. */
  readonly reason?: string
  /** The held release was approved since, or removed. */
  readonly decided?: true
  readonly error?: RunFailure
  /** A person has asked to cancel it. */
  readonly cancelAsked?: boolean
}

/** Enters a publication, or finds the one that the due instant already has. */
export async function createRun(db: Db, run: NewRun & { readonly force?: boolean }): Promise<EnteredRun> {
  return await enterRun(db, 'publication', run, { names: 'force', values: '$6', parameters: [run.force ?? false] })
}

/** The run with this id; throws `not-found` when the ledger has none. */
export async function getRun(db: Db, id: number): Promise<RunSummary> {
  const { rows } = await db.query<RunRow>(`${selectRun} where r.id = $1`, [id])
  if (!rows[0]) throw new ServiceError('not-found', `there is no publication run ${id}: see giving runs list`)
  return toRunSummary(rows[0])
}

/** The newest runs first, at most `limit`. */
export async function listRuns(db: Db, limit: number): Promise<RunSummary[]> {
  const { rows } = await db.query<RunRow>(`${selectRun} order by r.id desc limit $1`, [limit])
  return rows.map(toRunSummary)
}

/**
 * The newest run that ended with everything in order: a release was published, or nothing had changed. One that ended
 * more than a minute after `now` was dated by a wrong clock and does not count.
 */
export async function findLastGoodRun(db: Db, now: Date): Promise<RunSummary | undefined> {
  const { rows } = await db.query<RunRow>(
    `${selectRun} where r.state in ('published', 'unchanged') and r.finished_at <= $1::timestamptz + interval '1 minute'
     order by r.finished_at desc, r.id desc limit 1`,
    [now],
  )
  return rows[0] && toRunSummary(rows[0])
}

/** Why a cancelled run failed. */
export const cancelledBecause = 'an operator cancelled it'

/**
 * Cancels a run: a queued one ends at once, a running one when the worker that has it renews its lease, unless its release is
 * about to go live. Throws `not-found`, and `request-invalid` when it has ended.
 */
export async function cancelRun(db: Db, id: number, at: Date): Promise<void> {
  const open = `id = $1 and state in ('queued', 'running')`
  const { rowCount } = await db.query(`update run set cancel_asked = true where ${open}`, [id])
  if (rowCount === 0) {
    const { state } = await getRun(db, id)
    throw new ServiceError('request-invalid', `run ${id}: expected one that waits or runs, got one that is ${state}`)
  }
  await db.query(
    `update run set state = 'failed', finished_at = $2, error_code = $3, error_message = $4, ${ending('publication')}
      where id = $1 and state = 'queued'`,
    [id, at, 'run-cancelled' satisfies ErrorCode, cancelledBecause],
  )
}

/** A row in the shape of its summary, but for the due instant. */
type RunRow = Omit<RunSummary, 'due'> & { readonly schedule?: string; readonly dueAt?: Date }

/** Which runs are listed: queued since an instant, before the run `before`, of one state, of one trigger. */
export type RunFilter = {
  readonly since: Date
  readonly before?: number | undefined
  readonly state?: string | undefined
  readonly trigger?: string | undefined
  /** Queued before this instant. */
  readonly until?: Date | undefined
}

/** The runs that a filter asks for; the newest first, at most `limit`. */
export async function findRuns(db: Db, filter: RunFilter, limit: number): Promise<RunSummary[]> {
  const { since, before, state, trigger, until } = filter
  const { rows } = await db.query<RunRow>(
    `${selectRun} where r.queued_at >= $1 and ($2::bigint is null or r.id < $2)
        and ($3::text is null or r.state = $3) and ($4::text is null or r.trigger = $4)
        and ($6::timestamptz is null or r.queued_at < $6) order by r.id desc limit $5`,
    [since, before ?? null, state ?? null, trigger ?? null, limit, until ?? null],
  )
  return rows.map(toRunSummary)
}

/** The runs that ended on one UTC day. */
export type RunDay = {
  readonly day: string
  readonly runs: number
  readonly failed: number
  readonly held: number
  /** How long the longest took. */
  readonly seconds: number
}

/** The days since an instant on which runs ended, the earliest first. */
export async function summarizeDays(db: Db, since: Date): Promise<RunDay[]> {
  const { rows } = await db.query<RunDay>(
    `select (finished_at at time zone 'UTC')::date::text as day, count(*)::integer as runs,
        count(*) filter (where state = 'failed')::integer as failed, count(*) filter (where state = 'held')::integer as held,
        coalesce(max(extract(epoch from finished_at - started_at)), 0)::double precision as seconds
      from run where finished_at >= $1 group by 1 order by 1`,
    [since],
  )
  return rows
}

// A running run's counts are those of its shards so far; a finished one's were written once, when it finished.
const selectRun = `
  select r.id, r.trigger, r.schedule, r.due_at, r.force, r.state, r.attempt, r.lease_owner as owner,
    r.queued_at, r.started_at, r.finished_at,
    case when r.finished_at is null then s.rendered else r.rendered end as rendered,
    case when r.finished_at is null then s.changed else r.changed end as changed,
    case when r.finished_at is null then s.held else r.held end as held,
    case when r.state = 'running' then coalesce(r.progress, case when s.shards > 0 then
      jsonb_build_object('stage', 'render', 'done', s.percent, 'total', s.shards * 100) end) end as progress,
    r.timings as stage_seconds, nullif(r.cancel_asked, false) as cancel_asked, r.release_id, r.outcome ->> 'reason' as reason,
    case when r.state = 'held' and r.release_id is not null
      and not exists (select from release where id = r.release_id and state = 'held') then true end as decided, ${runFailure('r')} as error
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
  const { id, trigger, schedule, dueAt, ...run } = row
  return { id, trigger, ...(schedule !== undefined && dueAt && { due: { schedule, at: dueAt } }), ...run }
}
