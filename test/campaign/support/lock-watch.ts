import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../src/platform/database/store.js'

/** The longest that was seen, in milliseconds. */
export type LockTimes = { readonly heldMs: number; readonly waitedMs: number }

/**
 * Looks every few milliseconds how long a session has kept a lock on a table that keeps others from reading or writing it,
 * and how long one has waited for a table. Returns the function that ends it.
 */
export function watchTableLocks({ db }: Store): () => Promise<LockTimes> {
  let [heldMs, waitedMs, ended] = [0, 0, false]
  const watch = async () => {
    while (!ended) {
      const { rows } = await db.query<{ held: number; waited: number }>(
        `select
            coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)) filter (where l.granted
              and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')), 0)::float8 as held,
            coalesce(max(extract(epoch from clock_timestamp() - l.waitstart)), 0)::float8 as waited
          from pg_locks l join pg_stat_activity a using (pid)
          where l.locktype = 'relation' and a.datname = current_database() and a.backend_type = 'client backend'`,
      )
      heldMs = Math.max(heldMs, 1000 * (rows[0]?.held ?? 0))
      waitedMs = Math.max(waitedMs, 1000 * (rows[0]?.waited ?? 0))
      await sleep(5)
    }
  }
  const watched = watch()
  return async () => {
    ended = true
    await watched
    return { heldMs, waitedMs }
  }
}
