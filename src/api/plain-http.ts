import { BlockList, isIPv6 } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../domain/errors.js'

/** Whether a route takes passwords, tokens, donations or what a payment processor says of them. */
export function needsHttps(route: string): boolean {
  return /^\/api\/(secure|userservice|public\/payments)(\/|$)/.test(route)
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Refuses accounts, tokens, the secure area and webhooks over plain HTTP with `https-required`, unless the client is on this machine
 * (wire.md 1.9). `X-Forwarded-Proto` of a trusted proxy says what the client used.
 */
export function refusePlainHttp(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const mayPass = request.protocol === 'https' || !needsHttps(request.routeOptions.url ?? '')
    done(mayPass || isLoopback(request.ip) ? undefined : httpsRequired())
  })
}

function isLoopback(address: string): boolean {
  // An IPv4 address of a socket that takes both is written ::ffff:127.0.0.1, which the list understands.
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function httpsRequired(): ServiceError {
  return new ServiceError(
    'https-required',
    'this address answers over HTTPS only: a password or token that was sent over plain HTTP should be replaced',
  )
}
