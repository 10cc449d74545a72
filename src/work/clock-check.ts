import type { Clock } from '../kernel/dates.js'
import { ServiceError } from '../kernel/errors.js'
import type { Store } from '../platform/database/store.js'
import type { RunDeps } from './attempt.js'
import { forgetWrongClock, readDatabaseClock, recordWrongClock } from './sql/wrong-clocks.js'

// Instants and dates of runs come from the process's clock, leases from the database's: beyond this they do not fit.
const mostSkewSeconds = 60
// A stalled connection delays the next check by this much at most.
const answerMs = 5_000

/**
 * How many seconds a clock is ahead of the database's, negative when it is behind; 0 when both may be the same, so that a
 * slow answer is not taken for a wrong clock.
 */
export async function measureSkew(store: Store, clock: Clock): Promise<number> {
  const before = clock().getTime()
  const database = (await readDatabaseClock(store.answeringWithin(answerMs).db)).getTime()
  const after = clock().getTime()
  const ahead = database < before ? before - database : database > after ? after - database : 0
  return Math.round(ahead / 1000)
}

/** Whether a clock that is so many seconds ahead is wrong. */
export function isWrong(skewSeconds: number): boolean {
  return Math.abs(skewSeconds) > mostSkewSeconds
}

/** Throws `clock-wrong` when the clock of this process must not date runs. */
export async function refuseWrongClock(store: Store, clock: Clock): Promise<void> {
  const skewSeconds = await measureSkew(store, clock)
  if (isWrong(skewSeconds)) throw new ServiceError('clock-wrong', `${describeSkew(skewSeconds)}: it takes no runs`)
}

/**
 * Watches the clock of one worker: each call checks it and returns whether runs may be taken. A wrong clock is logged
 * and noted in the database until it is right again.
 */
export function createClockCheck({ store, clock, log, owner }: RunDeps): () => Promise<boolean> {
  let wrong = false
  return async () => {
    const skewSeconds = await measureSkew(store, clock)
    if (isWrong(skewSeconds)) {
      if (!wrong) log.error({ owner, skewSeconds }, `${describeSkew(skewSeconds)}: no runs are taken`)
      wrong = true
      await recordWrongClock(store.db, { owner, skewSeconds })
    } else if (wrong) {
      await forgetWrongClock(store.db, owner)
      wrong = false
      log.info({ owner, skewSeconds }, 'the clock of this process is right again: runs are taken')
    }
    return !wrong
  }
}

function describeSkew(skewSeconds: number): string {
  const direction = skewSeconds > 0 ? 'ahead of' : 'behind'
  return `the clock of this process is ${Math.abs(skewSeconds)} s ${direction} the database's`
}
