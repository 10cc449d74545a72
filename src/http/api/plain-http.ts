import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'

/** Whether a route takes passwords, tokens, donations, what a payment processor says of them, or addresses of subscribers. */
function needsHttps(route: string): boolean {
  return /^\/(api\/(secure|userservice|public\/payments)|gifts|sandbox|subscriptions)(\/|$)/.test(route)
}

/**
 * Refuses accounts, tokens, the secure area and webhooks over plain HTTP with `https-required`, unless the client is on this machine
 * (wire.md 1.9). `X-Forwarded-Proto` of a trusted proxy says what the client used.
 */
export function refusePlainHttp(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const mayPass = request.protocol === 'https' || !needsHttps(request.routeOptions.url ?? '')
    done(mayPass || isLoopbackHost(request.ip) ? undefined : httpsRequired())
  })
}

function httpsRequired(): ServiceError {
  return new ServiceError(
    'https-required',
    'this address answers over HTTPS only: a password or token that was sent over plain HTTP should be replaced',
  )
}
