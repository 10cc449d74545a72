import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../kernel/errors.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import { type TakenLock, takeLock } from '../../platform/database/locks.js'
import type { Store } from '../../platform/database/store.js'

const pollMs = 200

type LockOptions = {
  /** How long to wait for another holder. */
  readonly patienceMs: number
  /**
   * What happens after that: `take-over` takes the lock from its holder (only for a caller that owns the run's lease, so
   * that another holder is dead or cut off), `refuse` throws `server-busy`.
   */
  readonly onTimeout: 'take-over' | 'refuse'
  readonly signal?: AbortSignal
}

/** A person waits at the terminal for a publication that is running. */
export const byHand = { patienceMs: 60_000, onTimeout: 'refuse' } as const satisfies LockOptions

/**
 * Runs `work` as the only writer, on any machine, of the folder of published files. `confirmLock` throws when another
 * process has the lock now: call it before anything becomes visible, and before anything is removed.
 */
export async function underPublishingLock<T>(
  store: Store,
  options: LockOptions,
  work: (confirmLock: () => Promise<void>) => Promise<T>,
): Promise<T> {
  await using lock = await acquire(store, options)
  return await work(lock.confirm)
}

/** As `underPublishingLock`, but returns undefined at once when the lock is taken. */
export async function ifPublishingLockIsFree<T>({ db }: Store, work: () => Promise<T>): Promise<T | undefined> {
  await using lock = await takeLock(db, 'publishing')
  return lock && (await work())
}

async function acquire({ db }: Store, { patienceMs, onTimeout, signal }: LockOptions): Promise<TakenLock> {
  const patientUntil = performance.now() + patienceMs
  for (;;) {
    const isTooLong = performance.now() > patientUntil
    const lock = await takeLock(db, 'publishing', isTooLong && onTimeout === 'take-over' ? 'take-over' : 'if-free')
    if (lock) return lock
    refuseAborted(signal, 'publishing')
    if (isTooLong)
      throw new ServiceError('server-busy', 'a publication is writing its release: try again when it has ended')
    await sleep(pollMs)
  }
}
