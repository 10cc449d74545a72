import type { Db } from '../../platform/database/connection.js'
import type { FinishedState, RunState } from './runs.js'

/** Everything that the ledger counts, for metrics. */
export type RunNumbers = {
  /** Runs that ended so, pruned ones included: never goes down. */
  readonly finished: Readonly<Record<FinishedState, number>>
  readonly waiting: Readonly<Record<'queued' | 'running', number>>
  /** Activities mapped by all runs, pruned ones included. */
  readonly rendered: number
  /** Runs that the watchdog had to enter. */
  readonly watchdog: number
  /** Shards of running runs that are not done. */
  readonly openShards: number
  /** Seconds that the stages of the newest finished run took. */
  readonly timings: Readonly<Record<string, number>>
}

/** Counts the ledger. */
export async function runNumbers(db: Db): Promise<RunNumbers> {
  const { rows } = await db.query<{ state: RunState; count: number; rendered: number; watchdog: number }>(
    `select state, sum(count)::bigint as count, sum(rendered)::bigint as rendered, sum(watchdog)::bigint as watchdog
      from (select state, count(*) as count, sum(rendered) as rendered,
          count(*) filter (where trigger = 'watchdog') as watchdog
        from run group by state
        union all select state, count, rendered, watchdog from pruned_run) as counted
      group by state`,
  )
  const of = (state: RunState) => rows.find((row) => row.state === state)?.count ?? 0
  const sum = (pick: 'rendered' | 'watchdog') => rows.reduce((total, row) => total + row[pick], 0)
  const shards = await db.query<{ count: number }>(
    `select count(*) as count from run_shard s join run r on r.id = s.run_id and r.attempt = s.attempt
      where r.state = 'running' and s.percent < 100`,
  )
  const newest = await db.query<{ timings: Record<string, number> | undefined }>(
    'select timings from run where timings is not null order by id desc limit 1',
  )
  return {
    finished: { published: of('published'), unchanged: of('unchanged'), held: of('held'), failed: of('failed') },
    waiting: { queued: of('queued'), running: of('running') },
    rendered: sum('rendered'),
    watchdog: sum('watchdog'),
    openShards: shards.rows[0]?.count ?? 0,
    timings: newest.rows[0]?.timings ?? {},
  }
}
