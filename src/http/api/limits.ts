import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import type { Log } from '../../platform/observability/log.js'
import { clientNetwork } from './client-network.js'
import type { ApiLimits } from './deps.js'
import { MinuteCounter } from './minute-counter.js'
import { warnSometimes } from './warn-sometimes.js'

/**
 * Answers requests with 503 while the event loop lags and others wait: by then every waiting answer is late, and new work would
 * make all of them later. A few are always served, since a machine that is busy with other programs lags too. Health and
 * published files, which are read from disk and cost little, are served on. The lag is a mean over `measuredMs`: one long step
 * of other work in the process is no overload.
 */
export function refuseUnderPressure(app: FastifyInstance, { eventLoopDelayMs }: ApiLimits, measuredMs = 5_000): void {
  if (eventLoopDelayMs === 0) return
  // @fastify/under-pressure does the same, but asks for the process's memory on its timer, which throws and ends the
  // process when no file descriptor is left.
  const lag = monitorEventLoopDelay({ resolution: sampleMs })
  lag.enable()
  let underPressure = false
  const timer = setInterval(() => {
    // Without a sample the mean is not a number: the event loop has not run.
    underPressure = !(lag.mean / 1e6 - sampleMs <= eventLoopDelayMs)
    lag.reset()
  }, measuredMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    lag.disable()
  })
  let working = 0
  app.addHook('onRequest', (request, reply, done) => {
    if (costsLittle.has(request.routeOptions.url ?? '')) return done()
    if (underPressure && working >= alwaysServed) {
      done(new ServiceError('server-busy', 'too many requests wait at this moment; try again in a few seconds'))
      return
    }
    working++
    reply.raw.once('close', () => working--)
    done()
  })
}

// So many requests at a time are served however late the event loop is.
const alwaysServed = 8

// Part of every measured delay.
const sampleMs = 10

/** Counts a request of a key that was found; throws `rate-limited` when there were too many in a minute. */
export type CountKey = (keyId: number) => void

/**
 * Counts the requests of this process: by address before they are read, and by key where a route calls the returned
 * function. Too many are `rate-limited`.
 */
export function limitRate(app: FastifyInstance, limits: ApiLimits, log: Log): CountKey {
  const { requestsPerKey, requestsPerAddress } = limits
  const warnRefused = warnSometimes(log)
  const ofAddress = new MinuteCounter(requestsPerAddress)
  const ofKey = new MinuteCounter(requestsPerKey)
  app.addHook('onRequest', (request, _reply, done) => {
    const seconds = costsLittle.has(request.routeOptions.url ?? '') ? 0 : ofAddress.add(clientNetwork(request.ip))
    if (seconds === 0) return done()
    const { ip: address, headers } = request
    if (headers['x-forwarded-for'] !== undefined && address === request.socket.remoteAddress) {
      warnRefused(
        { address },
        'requests of a proxy that TRUST_PROXY does not name are refused: its clients share one limit',
      )
    }
    done(tooMany(requestsPerAddress, 'from this address', seconds))
  })
  return (keyId) => {
    const seconds = ofKey.add(keyId)
    if (seconds > 0) throw tooMany(requestsPerKey, 'of this key', seconds)
  }
}

// Health is always answered; published files have limits of their own (downloads.ts).
const costsLittle = new Set([
  '/healthz',
  '/readyz',
  '/iati/*',
  '/data/*',
  '/llms.txt',
  '/.well-known/giving-iati-key.pem',
  '/feeds/*',
  '/feeds/releases/*',
  '/feeds/bulk/:token/:file',
])

function tooMany(most: number, whose: string, retryAfterSeconds: number): ServiceError {
  return new ServiceError('rate-limited', `more than ${most} requests ${whose} in a minute`, { retryAfterSeconds })
}
