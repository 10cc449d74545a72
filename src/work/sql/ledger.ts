import type { Db } from '../../platform/database/connection.js'
import type { DueInstant, RunKind, RunTrigger } from '../run.js'

/** The table of each kind of run. They share the columns by which runs are entered, leased and ended. */
export const runTables = { publication: 'run', sync: 'sync_run' } as const satisfies Record<RunKind, string>

/** SQL: why the run of this row failed, in the shape of `RunFailure`; null when it did not. */
export const runFailure = (table: string) => `case when ${table}.error_code is not null then
  json_build_object('code', ${table}.error_code, 'message', coalesce(${table}.error_message, '')) end`

/** What a new run is to be: `due` makes it unique on schedule and instant; `reserveSeconds` keeps it from the queue. */
export type NewRun = {
  readonly trigger: RunTrigger
  readonly at: Date
  readonly due?: DueInstant
  readonly reserveSeconds?: number
}

/** A run in the ledger; `created` is true for the one caller that entered it. */
export type EnteredRun = { readonly id: number; readonly created: boolean }

/** Columns that only one kind has, as SQL; their parameters start at $6, and $2 is the schedule's name or null. */
export type OwnColumns = {
  readonly names: string
  readonly values: string
  readonly parameters: readonly unknown[]
}

/** Enters a run, or finds the one that the due instant already has. */
export async function enterRun(db: Db, kind: RunKind, run: NewRun, own: OwnColumns): Promise<EnteredRun> {
  const table = runTables[kind]
  const due = [run.due?.schedule ?? null, run.due?.at ?? null]
  const inserted = await db.query<{ id: number }>(
    `insert into ${table} (trigger, schedule, due_at, queued_at, lease_until, ${own.names})
     select $1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), ${own.values}
     on conflict (schedule, due_at) do nothing
     returning id`,
    [run.trigger, ...due, run.at, run.reserveSeconds ?? null, ...own.parameters],
  )
  const id = inserted.rows[0]?.id
  if (id !== undefined) return { id, created: true }
  const { rows } = await db.query<{ id: number }>(`select id from ${table} where schedule = $1 and due_at = $2`, due)
  if (!rows[0]) throw new Error('a run conflicts with one that does not exist')
  return { id: rows[0].id, created: false }
}

/** The newest instant of this schedule that has a run. */
export async function findLastDue(db: Db, kind: RunKind, schedule: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ dueAt: Date | undefined }>(
    `select max(due_at) as due_at from ${runTables[kind]} where schedule = $1`,
    [schedule],
  )
  return rows[0]?.dueAt
}

/** The instants of this schedule after `from` and before `until` that have a run. */
export async function listDues(db: Db, kind: RunKind, schedule: string, from: Date, until: Date): Promise<Date[]> {
  const { rows } = await db.query<{ dueAt: Date }>(
    `select due_at from ${runTables[kind]} where schedule = $1 and due_at > $2 and due_at < $3`,
    [schedule, from, until],
  )
  return rows.map((row) => row.dueAt)
}
