import { monitorEventLoopDelay } from 'node:perf_hooks'
import { normalizeIP, default as rateLimit } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import { isApiRequest } from './api-path.js'
import type { ApiLimits } from './deps.js'
import type { Authenticate } from './operations/authenticate.js'
import { queryValue } from './query.js'

/**
 * Answers API requests with 503 while the event loop lags: by then every waiting answer is late, and new work would make
 * all of them later. Published files are read from disk and cost little, so they are served on. The lag is a mean over
 * `measuredMs`: one long step of other work in the process is no overload.
 */
export function refuseUnderPressure(app: FastifyInstance, { eventLoopDelayMs }: ApiLimits, measuredMs = 5_000): void {
  if (eventLoopDelayMs === 0) return
  // @fastify/under-pressure does the same, but asks for the process's memory on its timer, which throws and ends the
  // process when no file descriptor is left.
  const lag = monitorEventLoopDelay({ resolution: sampleMs })
  lag.enable()
  let underPressure = false
  const timer = setInterval(() => {
    // Without a sample the mean is not a number: the loop has stood still.
    underPressure = !(lag.mean / 1e6 - sampleMs <= eventLoopDelayMs)
    lag.reset()
  }, measuredMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    lag.disable()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!underPressure || !isApiRequest(request)) return done()
    done(new ServiceError('server-busy', 'too many requests at this moment; try again in a few seconds'))
  })
}

// Part of every measured delay.
const sampleMs = 10

/**
 * Counts the API requests of each key in this process, where the operator wants that; too many are `rate-limited`. Only
 * keys that were found lately have a count of their own: whoever invents keys is counted by address.
 */
export async function limitRate(
  app: FastifyInstance,
  { requestsPerMinute }: ApiLimits,
  authenticate: Authenticate,
): Promise<void> {
  if (requestsPerMinute === 0) return
  await app.register(rateLimit, {
    max: requestsPerMinute,
    timeWindow: 60_000,
    allowList: (request) => !isApiRequest(request),
    keyGenerator: (request) => {
      const key = queryValue(request, 'api_key')
      return key !== undefined && authenticate.remembers(key) ? `key ${key.toLowerCase()}` : normalizeIP(request.ip)
    },
    errorResponseBuilder: (_request, { max, ttl }) =>
      new ServiceError('rate-limited', `more than ${max} requests of this key in a minute`, {
        retryAfterSeconds: Math.max(1, Math.ceil(ttl / 1000)),
      }),
  })
}
