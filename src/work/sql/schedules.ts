import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import type { Schedule } from '../schedule.js'

/** A schedule in force, and since when. */
export type AdoptedSchedule = Schedule & {
  readonly name: string
  readonly adoptedAt: Date
  /** An operator paused it then: its instants are left out until it is resumed. */
  readonly pausedAt?: Date
}

const selectSchedule = 'select name, expression, timezone, adopted_at, paused_at from schedule'

/** The schedule in force under this name; undefined before the first start. */
export async function findSchedule(db: Db, name: string): Promise<AdoptedSchedule | undefined> {
  const { rows } = await db.query<AdoptedSchedule>(`${selectSchedule} where name = $1`, [name])
  return rows[0]
}

/** All schedules that were put in force, by name. */
export async function listSchedules(db: Db): Promise<AdoptedSchedule[]> {
  return (await db.query<AdoptedSchedule>(`${selectSchedule} order by name`)).rows
}

/** Puts a schedule in force from `at` on; one that is already in force keeps its date. */
export async function adoptSchedule(db: Db, name: string, schedule: Schedule, at: Date): Promise<void> {
  await db.query(
    `insert into schedule as s (name, expression, timezone, adopted_at) values ($1, $2, $3, $4)
     on conflict (name) do update
       set expression = excluded.expression, timezone = excluded.timezone, adopted_at = excluded.adopted_at
       where (s.expression, s.timezone) is distinct from (excluded.expression, excluded.timezone)`,
    [name, schedule.expression, schedule.timezone, at],
  )
}

/** Leaves out the schedule's instants from `at` on; one that is paused already stays so. Throws `not-found`. */
export async function pauseSchedule(db: Db, name: string, at: Date): Promise<void> {
  await changeSchedule(db, name, 'paused_at = coalesce(paused_at, $2)', at)
}

/** Puts a paused schedule in force again from `at` on: what it has left out is not made up for. Throws `not-found`. */
export async function resumeSchedule(db: Db, name: string, at: Date): Promise<void> {
  const change = 'adopted_at = case when paused_at is null then adopted_at else $2 end, paused_at = null'
  await changeSchedule(db, name, change, at)
}

async function changeSchedule(db: Db, name: string, change: string, at: Date): Promise<void> {
  const { rowCount } = await db.query(`update schedule set ${change} where name = $1`, [name, at])
  if (rowCount > 0) return
  const message = `there is no schedule ${name.slice(0, 64)}: see giving schedules list`
  throw new ServiceError('not-found', message)
}
