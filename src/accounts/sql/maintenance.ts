import type { Db } from '../../platform/database/connection.js'

// In the database, so that every process sees the same.
const name = 'maintenance-until'

/** When the API opens again; undefined when it was never closed, in the past when it is open. */
export async function findMaintenance(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ value: string }>('select value from store_fact where name = $1', [name], name)
  return rows[0] && new Date(rows[0].value)
}

/** Closes the API until a time, which replaces an earlier one. */
export async function recordMaintenance(db: Db, { until, at }: { until: Date; at: Date }): Promise<void> {
  await db.query(
    `insert into store_fact (name, value, recorded_at) values ($1, $2, $3)
      on conflict (name) do update set value = excluded.value, recorded_at = excluded.recorded_at`,
    [name, until.toISOString(), at],
  )
}

/** Opens the API again. */
export async function endMaintenance(db: Db): Promise<void> {
  await db.query('delete from store_fact where name = $1', [name])
}
