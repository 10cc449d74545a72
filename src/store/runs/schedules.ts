import type { Schedule } from '../../domain/schedule.js'
import type { Db } from '../database/connection.js'

/** A schedule in force, and since when. */
export type AdoptedSchedule = Schedule & { readonly name: string; readonly adoptedAt: Date }

/** The schedule in force under this name; undefined before the first start. */
export async function findSchedule(db: Db, name: string): Promise<AdoptedSchedule | undefined> {
  const { rows } = await db.query<AdoptedSchedule>(
    'select name, expression, timezone, adopted_at as "adoptedAt" from schedule where name = $1',
    [name],
  )
  return rows[0]
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
