import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../domain/errors.js'
import type { Db } from '../../store/database/connection.js'
import { endSessionsHolding, tryAdvisoryLock } from '../../store/database/locks.js'
import type { Store } from '../../store/store.js'

// Any constant; whoever holds it is the only one that writes drafts, moves the link or removes releases.
const publishingLock = 7_241_032_604
const pollMs = 200

type LockOptions = {
  /** How long to wait for another holder. */
  readonly patienceMs: number
  /**
   * What happens after that: `take-over` ends the holder's session (only for a caller that holds the ledger's lease, so that whoever
   * has the lock without it is dead or cut off), `refuse` throws `server-busy`.
   */
  readonly onTimeout: 'take-over' | 'refuse'
  readonly signal?: AbortSignal
}

/**
 * Runs `work` as the only one that touches the folder of published files, on any machine. `stillOurs` throws when the
 * lock has been lost with its connection: call it before anything becomes visible.
 */
export async function underPublishingLock<T>(
  store: Store,
  options: LockOptions,
  work: (stillOurs: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return await store.connection(async (db) => {
    await acquire(db, options)
    return await work(async () => void (await db.query('select 1')))
  }, 'discard')
}

/** Like `underPublishingLock`, but undefined at once when someone else is at work. */
export async function ifPublishingLockIsFree<T>(store: Store, work: () => Promise<T>): Promise<T | undefined> {
  return await store.connection(async (db) => {
    return (await tryAdvisoryLock(db, publishingLock)) ? await work() : undefined
  }, 'discard')
}

async function acquire(db: Db, { patienceMs, onTimeout, signal }: LockOptions): Promise<void> {
  let patientUntil = performance.now() + patienceMs
  while (!(await tryAdvisoryLock(db, publishingLock))) {
    if (signal?.aborted) throw new ServiceError('aborted', 'publishing was interrupted; it will be done again')
    if (performance.now() > patientUntil) {
      if (onTimeout === 'refuse') {
        throw new ServiceError('server-busy', 'a publication is writing its release: try again when it has ended')
      }
      await endSessionsHolding(db, publishingLock)
      patientUntil = performance.now() + patienceMs
    }
    await sleep(pollMs)
  }
}
