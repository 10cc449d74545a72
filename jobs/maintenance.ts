import type { ScheduledTask } from 'node-cron'
import { schedule } from 'node-cron'
import { pruneDatabase } from '../src/store/runs/pruning.js'
import type { RunDeps } from './run-deps.js'
import { guarded, silentLogger } from './watchdog.js'

/** Prunes rows that nothing needs any more. Not in the ledger: doing it twice, or an hour later, is all the same. */
export async function maintain(
  { store, clock, log }: Pick<RunDeps, 'store' | 'clock' | 'log'>,
  keepReleases: number,
): Promise<string> {
  const pruned = await pruneDatabase(store.db, clock(), keepReleases)
  const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
  if (total > 0) log.info(pruned, 'old rows were pruned')
  return `${total} rows pruned`
}

/** Every process looks after the files it can see: hourly, at a minute of its own so that they take turns. */
export function startHousekeeping(log: RunDeps['log'], work: () => Promise<void>): ScheduledTask {
  const minute = process.pid % 60
  const round = guarded(log, 'housekeeping of files', work)
  return schedule(`${minute} * * * *`, round, {
    noOverlap: true,
    suppressMissedWarning: true,
    unref: true,
    logger: silentLogger,
  })
}
