import { ServiceError } from '../../../kernel/errors.js'

/** Does work for an account; accounts share the capacity fairly. */
export type FairQueue = <T>(account: number, work: () => Promise<T>) => Promise<T>

type FairQueueLimits = Readonly<Record<'most' | 'each' | 'waiting' | 'waitMs', number>>

/**
 * Runs up to `most` works at a time, up to `each` of one account. Accounts are served round robin, so that a long queue of one
 * account delays no other. Of one account `waiting` more may wait, each for `waitMs`; the rest is refused with `server-busy`.
 */
export function createFairQueue({ most, each, waiting, waitMs }: FairQueueLimits): FairQueue {
  const running = new Map<number, number>()
  // Accounts with waiting work, the next one first.
  const queues = new Map<number, (() => void)[]>()
  let free = most
  const count = (account: number, by: 1 | -1) => {
    const now = (running.get(account) ?? 0) + by
    if (now > 0) running.set(account, now)
    else running.delete(account)
    free -= by
  }
  const startNext = () => {
    for (const [account, queue] of queues) {
      if (free === 0) return
      if ((running.get(account) ?? 0) >= each) continue
      const start = queue.shift()
      // Moves the account to the end; the loop visits it again.
      queues.delete(account)
      if (queue.length > 0) queues.set(account, queue)
      count(account, 1)
      start?.()
    }
  }
  return async (account, work) => {
    const queue = queues.get(account) ?? []
    if (queue.length >= waiting) throw tooMany()
    const askedAt = performance.now()
    await new Promise<void>((start) => {
      queue.push(start)
      queues.set(account, queue)
      startNext()
    })
    try {
      if (performance.now() - askedAt > waitMs) throw tooMany()
      return await work()
    } finally {
      count(account, -1)
      startNext()
    }
  }
}

function tooMany(): ServiceError {
  return new ServiceError('server-busy', 'too many searches of one account at this moment; try again in a few seconds')
}
