import type { Db } from './connection.js'

/** Takes the session's advisory lock if it is free; whether it was. */
export async function tryAdvisoryLock(db: Db, key: number): Promise<boolean> {
  const { rows } = await db.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [key])
  return rows[0]?.taken ?? false
}

/** Throws when the connection is lost, and with it the locks that its session held. */
export async function confirmLocks(db: Db): Promise<void> {
  await db.query('select 1')
}

/** Ends the other sessions of this database that hold the advisory lock; returns how many there were. */
export async function endSessionsHolding(db: Db, key: number): Promise<number> {
  const { rowCount } = await db.query(
    `select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1 and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())
        and classid = ($1::bigint >> 32)::oid and objid = ($1::bigint & 4294967295)::oid`,
    [key],
  )
  return rowCount
}
