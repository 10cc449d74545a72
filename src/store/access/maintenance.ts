import type { Db } from '../database/connection.js'

// A fact of the store, so that every process sees the same (store_fact).
const name = 'maintenance-until'

/** Until when the API is closed; undefined when it never was. It is open again once that time has come. */
export async function findMaintenance(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ value: string }>('select value from store_fact where name = $1', [name], name)
  return rows[0] && new Date(rows[0].value)
}

/** Closes the API until a time, over an earlier one. */
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
