import { ServiceError } from '../../../kernel/errors.js'

/** Does the work of an account when it is that account's turn. */
export type FairQueue = <T>(account: number, work: () => Promise<T>) => Promise<T>

type FairQueueLimits = Readonly<Record<'most' | 'each' | 'waiting' | 'waitMs', number>>

/**
 * Lets `most` works run at a time, of one account `each`. Accounts take turns: who waits with one work waits for no other
 * account's queue. Of one account `waiting` more may wait, each for `waitMs`; the rest is refused with `server-busy`.
 */
export function createFairQueue({ most, each, waiting, waitMs }: FairQueueLimits): FairQueue {
  const running = new Map<number, number>()
  // In the order of turns.
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
      // To the end; the loop comes by again.
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
