import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import type { Log } from '../platform/observability/log.js'

const pauseMs = 1_000
const repeatMessageMs = 60_000
// A server that stalls gives no answer: so long after the signal, work in progress is no longer waited for.
const stalledMs = 3_000

/**
 * Repeats a step of a start until the database and the queue can be reached: `database-unavailable`
 * and `queue-unavailable` are logged, at once and every minute, and tried again each second. All other errors are thrown.
 * Throws `aborted` by the signal.
 */
export async function onceReachable<T>(log: Log, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let loggedAt = Number.NEGATIVE_INFINITY
  const over = new AbortController()
  const givenUp = giveUp(signal, over.signal)
  givenUp.catch(() => undefined)
  try {
    for (;;) {
      try {
        return await Promise.race([work(), givenUp])
      } catch (error) {
        const { code, message } = toServiceError(error)
        if (code !== 'database-unavailable' && code !== 'queue-unavailable') throw error
        if (performance.now() - loggedAt >= repeatMessageMs) {
          loggedAt = performance.now()
          log.warn({ code, error: message }, 'the start waits until it can be reached')
        }
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) throw new ServiceError('aborted', 'the start was interrupted')
    }
  } finally {
    over.abort()
  }
}

/** Throws `aborted` a while after `signal`, unless `over` is aborted first. */
async function giveUp(signal: AbortSignal, over: AbortSignal): Promise<never> {
  await new Promise<unknown>((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', resolve, { once: true, signal: over })
  })
  await sleep(stalledMs, undefined, { signal: over })
  throw new ServiceError('aborted', 'the start was interrupted while a server did not answer')
}
