import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../kernel/errors.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Db } from '../../platform/database/connection.js'
import { confirmLocks, endSessionsHolding, tryAdvisoryLock } from '../../platform/database/locks.js'
import type { Store } from '../../platform/database/store.js'

// The key of an advisory lock, any constant: only its holder writes drafts, switches the live release or removes releases.
const publishingLock = 7_241_032_604
const pollMs = 200

type LockOptions = {
  /** How long to wait for another holder. */
  readonly patienceMs: number
  /**
   * What happens after that: `take-over` ends the holder's session (only for a caller that owns the run's lease, so that
   * another holder is dead or cut off), `refuse` throws `server-busy`.
   */
  readonly onTimeout: 'take-over' | 'refuse'
  readonly signal?: AbortSignal
}

/**
 * Runs `work` as the only writer, on any machine, of the folder of published files. `confirmLock` throws when the
 * lock was lost with its connection: call it before anything becomes visible.
 */
export async function underPublishingLock<T>(
  store: Store,
  options: LockOptions,
  work: (confirmLock: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return await store.connection(async (db) => {
    await acquire(db, options)
    return await work(async () => await confirmLocks(db))
  }, 'discard')
}

/** As `underPublishingLock`, but returns undefined at once when the lock is taken. */
export async function ifPublishingLockIsFree<T>(store: Store, work: () => Promise<T>): Promise<T | undefined> {
  return await store.connection(async (db) => {
    return (await tryAdvisoryLock(db, publishingLock)) ? await work() : undefined
  }, 'discard')
}

async function acquire(db: Db, { patienceMs, onTimeout, signal }: LockOptions): Promise<void> {
  let patientUntil = performance.now() + patienceMs
  while (!(await tryAdvisoryLock(db, publishingLock))) {
    refuseAborted(signal, 'publishing')
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
