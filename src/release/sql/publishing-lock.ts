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
   * What happens after that: `refuse` throws `server-busy`; `take-over` takes the lock from its holder. Only a caller that owns the
   * run's lease may take it over: then the other holder is dead or cut off.
   */
  readonly onTimeout: 'take-over' | 'refuse'
  readonly signal?: AbortSignal
}

/** How long a command waits for a running publication. */
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
