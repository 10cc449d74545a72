import { normalizeIP, default as rateLimit } from '@fastify/rate-limit'
import { default as underPressure } from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import { isApiRequest } from './api-path.js'
import type { ApiConfig } from './deps.js'
import type { Authenticate } from './operations/authenticate.js'
import { queryValue } from './query.js'

/**
 * Turns API requests away while the event loop lags: by then every waiting answer is late, and new work would make all
 * of them later. Published files are read from disk and cost little, so they are served on. The lag is a mean over
 * `measuredMs`: one long step of other work in the process is no overload.
 */
export async function refuseUnderPressure(
  app: FastifyInstance,
  { maxEventLoopDelayMs }: Pick<ApiConfig, 'maxEventLoopDelayMs'>,
  measuredMs = 5_000,
): Promise<void> {
  if (maxEventLoopDelayMs === 0) return
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: measuredMs,
    pressureHandler: async (request) => {
      if (isApiRequest(request)) {
        throw new ServiceError('server-busy', 'too many requests at this moment; try again in a few seconds')
      }
    },
  })
}

/**
 * Counts the API requests of each key in this process, where the operator wants that; too many are `rate-limited`. Only
 * keys that were found lately have a count of their own: whoever invents keys is counted by address.
 */
export async function limitRate(
  app: FastifyInstance,
  { rateLimitPerMinute }: ApiConfig,
  authenticate: Authenticate,
): Promise<void> {
  if (rateLimitPerMinute === 0) return
  await app.register(rateLimit, {
    max: rateLimitPerMinute,
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
