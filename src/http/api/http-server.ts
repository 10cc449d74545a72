import { createServer as createPlainServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { judgeTimeouts, measureLostTime } from '../../platform/observability/late-loop.js'
import { answerInOrder } from './answer-in-order.js'
import { limitConnections } from './connections.js'
import type { ServerDeps } from './deps.js'
import { answerBrokenHttp } from './errors.js'
import type { ProxyTrust } from './proxy-trust.js'

/** How long a client may take, in milliseconds. */
type TimeLimits = {
  /** For all headers of a request, from the first byte of a connection or the end of the answer before. */
  readonly headersMs: number
  /** For the whole request. */
  readonly requestMs: number
  /** How often both are checked. */
  readonly checkedEveryMs: number
  /** When neither side has sent a byte for so long, the client has gone or has stopped reading. */
  readonly silentMs: number
}

export const timeLimits: TimeLimits = { headersMs: 30_000, requestMs: 30_000, checkedEveryMs: 1_000, silentMs: 120_000 }

// Longer than the 60 s of common proxies, so that the proxy closes an idle connection and not this server.
const keepAliveMs = 72_000

// A client that sends more requests ahead than this is cut off; browsers and HTTP libraries send none.
const mostSentAhead = 64

// TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption.
const cipherSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
]

/** A server of HTTP, or of HTTPS where there is a certificate, with all limits that stand before a request is read. */
export function createHttpServer(
  handler: RequestListener,
  { log, config }: ServerDeps,
  trusts: ProxyTrust,
  times = timeLimits,
): Server {
  const answer = answerInOrder(handler, mostSentAhead)
  const options: ServerOptions = {
    // A missing Host header is answered as any other error, not with an empty 400.
    requireHostHeader: false,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    connectionsCheckingInterval: times.checkedEveryMs,
    keepAliveTimeout: keepAliveMs,
  }
  const server = config.tls
    ? createSecureServer({ ...options, ...config.tls, minVersion: 'TLSv1.2', ciphers: cipherSuites.join(':') }, answer)
    : createPlainServer(options, answer)
  server.setTimeout(times.silentMs)
  const lost = measureLostTime(server, times.checkedEveryMs)
  judgeTimeouts(server, { ...times, lost }, (error, socket) => answerBrokenHttp(error, socket, log))
  limitConnections(server, { ...config.limits, trusts, log, lost })
  return server
}
