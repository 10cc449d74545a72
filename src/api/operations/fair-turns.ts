import { ServiceError } from '../../domain/errors.js'

/** Does the work of a client when it is that client's turn. */
export type FairTurns = <T>(client: string, work: () => Promise<T>) => Promise<T>

/**
 * Lets `most` works run at a time, of one client `each`. Clients take turns: who waits with one work waits for no other
 * client's queue. Of one client `waiting` more may wait; the rest is refused with `server-busy`.
 */
export function createFairTurns({ most, each, waiting }: Record<'most' | 'each' | 'waiting', number>): FairTurns {
  const running = new Map<string, number>()
  // In the order of turns.
  const queues = new Map<string, (() => void)[]>()
  let free = most
  const count = (client: string, by: 1 | -1) => {
    const now = (running.get(client) ?? 0) + by
    if (now > 0) running.set(client, now)
    else running.delete(client)
    free -= by
  }
  const startNext = () => {
    for (const [client, queue] of queues) {
      if (free === 0) return
      if ((running.get(client) ?? 0) >= each) continue
      const start = queue.shift()
      // To the end; the loop comes by again.
      queues.delete(client)
      if (queue.length > 0) queues.set(client, queue)
      count(client, 1)
      start?.()
    }
  }
  return async (client, work) => {
    const queue = queues.get(client) ?? []
    if (queue.length >= waiting) {
      throw new ServiceError(
        'server-busy',
        'too many searches of one client at this moment; try again in a few seconds',
      )
    }
    await new Promise<void>((start) => {
      queue.push(start)
      queues.set(client, queue)
      startNext()
    })
    try {
      return await work()
    } finally {
      count(client, -1)
      startNext()
    }
  }
}
