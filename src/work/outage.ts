import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import { refuseAborted } from '../kernel/refuse-aborted.js'
import type { Log } from '../platform/observability/log.js'

const pauseMs = 1_000
const repeatMessageMs = 60_000
// A server that stalls gives no answer: so long after the signal, work in progress is no longer waited for.
const stalledMs = 3_000

/**
 * Repeats a step of a start until the database and the queue can be reached: `database-unavailable`
 * and `queue-unavailable` are logged, at once and every minute, and tried again each second. All other errors are thrown.
 * Throws `aborted` by the signal; what comes later is closed by `closeLate`.
 */
export async function onceReachable<T>(
  log: Log,
  signal: AbortSignal,
  work: () => Promise<T>,
  closeLate?: (late: T) => Promise<unknown>,
): Promise<T> {
  let loggedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      return await unlessStopped(signal, work, closeLate)
    } catch (error) {
      const { code, message } = toServiceError(error)
      if (code !== 'database-unavailable' && code !== 'queue-unavailable') throw error
      if (performance.now() - loggedAt >= repeatMessageMs) {
        loggedAt = performance.now()
        log.warn({ code, error: message }, 'the start waits until it can be reached')
      }
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/**
 * Does a step of a start: not begun after the signal, and not waited for long after it. Throws `aborted`; what comes too
 * late is closed by `closeLate`.
 */
export async function unlessStopped<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  closeLate: (late: T) => Promise<unknown> = async () => undefined,
): Promise<T> {
  refuseAborted(signal, 'the start')
  const over = new AbortController()
  let isLate = false
  const working = work()
  working.then((done) => isLate && closeLate(done)).catch(() => undefined)
  try {
    return await Promise.race([working, giveUp(signal, over.signal)])
  } finally {
    isLate = true
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
