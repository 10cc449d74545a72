import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientNetwork } from '../../http/api/client-network.js'
import { MinuteCounter } from '../../http/api/minute-counter.js'
import { ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import type { OperatorToken } from '../../platform/config/operator-token.js'
import { refusal, signedOut, signOutPath } from './pages/frame.js'

const signedIn = new WeakMap<FastifyRequest, OperatorToken>()

/** The name that the request was signed in with; undefined on a console without tokens. */
export function operatorOf(request: FastifyRequest): string | undefined {
  return signedIn.get(request)?.name
}

/** Whether files may be imported: with a token that says so, and by everybody who reaches a console without tokens. */
export function mayImport(request: FastifyRequest): boolean {
  return signedIn.get(request)?.mayImport ?? true
}

/** Throws `grant-missing` unless files may be imported. */
export function needImport(request: FastifyRequest): void {
  if (mayImport(request)) return
  const name = operatorOf(request)
  throw new ServiceError(
    'grant-missing',
    `the token of ${name} may not import: OPS_TOKEN names one that may ${name}+import:TOKEN`,
  )
}

/** Throws `grant-missing` unless the request was signed in with a token that sees donors: each look names who looked. */
export function needDonors(request: FastifyRequest): void {
  if (signedIn.get(request)?.seesDonors) return
  const name = operatorOf(request) ?? 'NAME'
  throw new ServiceError('grant-missing', `donors are shown to a token that OPS_TOKEN names ${name}+donors:TOKEN`)
}

/** Throws `grant-missing` unless the form has the token again that its sender signed in with. */
export function needTokenAgain(request: FastifyRequest, given: string): void {
  const known = signedIn.get(request)
  if (!known) throw new ServiceError('grant-missing', 'expected a console with OPS_TOKEN: money is given back by name')
  if (!isSame(known.token, given))
    throw new ServiceError('grant-missing', `expected the token of ${known.name} once more`)
}

// Supervisors and load balancers have no token; these tell no secrets.
const open = new Set(['/healthz', '/readyz'])

const wrongTokensPerMinute = 10
const challenge = 'Basic realm="giving console", charset="UTF-8"'

/**
 * Lets in who has a token: `Authorization: Bearer TOKEN`, or the name and token as a browser asks for them. Without tokens
 * only who asks for an address of this machine is let in, so that a page elsewhere cannot reach the console under a name of its
 * own that leads to this machine.
 */
export function guardAccess(app: FastifyInstance, operators: readonly OperatorToken[]): void {
  const wrongTokens = new MinuteCounter(wrongTokensPerMinute)
  app.addHook('onRequest', async (request, reply) => {
    if (open.has(request.routeOptions.url ?? '')) return
    if (operators.length === 0) {
      // As it was asked for: what a proxy says of the name (X-Forwarded-Host) lets nobody in.
      if (isLoopbackHost(request.raw.headers.host?.replace(/:\d*$/, '') ?? '')) return
      return refuse(
        reply,
        403,
        'without OPS_TOKEN the console answers at addresses of this machine only, such as 127.0.0.1',
      )
    }
    // First of all, since behind a proxy the one who guesses and all operators have one address.
    const found = tokenOf(request.headers.authorization, operators)
    if (found !== undefined) {
      if (request.routeOptions.url !== signOutPath) return void signedIn.set(request, found)
      // A browser forgets what it has when that is refused, or where it knows this header.
      reply.header('clear-site-data', '"cookies"').header('www-authenticate', challenge)
      return reply.code(401).type('text/html; charset=utf-8').send(signedOut(true))
    }
    const network = clientNetwork(request.ip)
    if (wrongTokens.isFull(network)) {
      reply.header('retry-after', '60')
      return refuse(reply, 429, 'too many wrong tokens came from this address: wait a minute')
    }
    if (request.headers.authorization !== undefined) wrongTokens.add(network)
    reply.header('www-authenticate', challenge)
    return refuse(reply, 401, 'sign in with a name and its token of OPS_TOKEN')
  })
}

function refuse(reply: FastifyReply, status: number, why: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(refusal(why))
}

function tokenOf(authorization: string | undefined, operators: readonly OperatorToken[]): OperatorToken | undefined {
  const [, scheme = '', credentials = ''] = /^(Basic|Bearer) +(\S+)$/i.exec(authorization ?? '') ?? []
  const isBasic = scheme.toLowerCase() === 'basic'
  const text = isBasic ? Buffer.from(credentials, 'base64').toString() : `:${credentials}`
  const [name = '', token = ''] = text.split(/:(.*)/s)
  // All are compared, so that the time does not tell how far the search came.
  const found = operators.filter((one) => isSame(one.token, token) && (!isBasic || one.name === name))
  return found[0]
}

/** Compares in constant time, whatever the lengths. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}
