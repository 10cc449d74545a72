import type { Db } from '../../platform/database/connection.js'

/** A worker that takes no runs because its clock is wrong; a positive skew is ahead of the database's clock. */
export type WrongClock = { readonly owner: string; readonly skewSeconds: number }

/** The time of the database's clock. */
export async function readDatabaseClock(db: Db): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now')
  if (!rows[0]) throw new Error('the database has no clock')
  return rows[0].now
}

/** Notes that the clock of a worker is wrong now. */
export async function recordWrongClock(db: Db, { owner, skewSeconds }: WrongClock): Promise<void> {
  await db.query(
    `insert into wrong_clock (owner, skew_seconds, seen_at) values ($1, $2, clock_timestamp())
     on conflict (owner) do update set skew_seconds = excluded.skew_seconds, seen_at = excluded.seen_at`,
    [owner, skewSeconds],
  )
}

/** Notes that the clock of a worker is right again. */
export async function forgetWrongClock(db: Db, owner: string): Promise<void> {
  await db.query('delete from wrong_clock where owner = $1', [owner])
}

/** The workers whose clock was wrong within the last minute: one that died or ended no longer renews its row. */
export async function listWrongClocks(db: Db): Promise<WrongClock[]> {
  const { rows } = await db.query<WrongClock>(
    `select owner, skew_seconds from wrong_clock
     where seen_at > clock_timestamp() - interval '1 minute' order by owner`,
  )
  return rows
}
