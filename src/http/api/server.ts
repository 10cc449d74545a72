import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { loggableUrl } from './access-log.js'
import type { ServerDeps } from './deps.js'
import { allowAnyOrigin, sendFrameworkError } from './errors.js'
import { createHttpServer, timeLimits } from './http-server.js'
import { rewriteApiUrl } from './negotiation.js'
import { proxyTrustOf } from './proxy-trust.js'
import { parseQuery, queryProblem } from './query.js'
import { bodyLimit } from './request-body.js'

/**
 * A server of HTTP, or of HTTPS where there is a certificate, without routes; it does not listen yet. A whole request may take
 * 30 s where nothing else is said.
 */
export function createServer(deps: ServerDeps, requestMs = timeLimits.requestMs): FastifyInstance {
  const { log, config } = deps
  const trusts = proxyTrustOf(config.trustProxy)
  const options: FastifyServerOptions & { readonly https: object | null } = {
    // The server is made by the factory; the framework only tells its address by this.
    https: config.tls ?? null,
    serverFactory: (handler) => createHttpServer(handler, deps, trusts, { ...timeLimits, requestMs }),
    // If the framework logs a request, it does so without secrets too.
    loggerInstance: log.child({}, { serializers: { req: loggableRequest } }) as FastifyBaseLogger,
    // One line a request is written by access-log.ts, with secrets left out.
    logController: new LogController({ disableRequestLogging: true }),
    // A failure is logged with the request's id; a logger for each request would only cost time.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // A request on a kept connection is answered properly while the others finish.
    return503OnClosing: false,
    bodyLimit,
    trustProxy: config.trustProxy === false ? false : trusts,
    rewriteUrl: rewriteApiUrl,
    routerOptions: { maxParamLength: 2_048, querystringParser: parseQuery },
    frameworkErrors: sendFrameworkError,
    // Answered by the server that the factory makes.
    clientErrorHandler: () => undefined,
  }
  const app = fastify(options)
  app.addHook('onRequest', (request, reply, done) => {
    const problem = hostProblem(request.raw) ?? queryProblem(request.url)
    if (problem) allowAnyOrigin(reply)
    done(problem)
  })
  return app
}

// RFC 9112 3.2: none or several are refused. A proxy may route by the one and this server by the other.
function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): ServiceError | undefined {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined
  return new ServiceError('request-malformed', `the request has ${hosts === 0 ? 'no' : 'more than one'} Host header`)
}

function loggableRequest(request: FastifyRequest) {
  return { method: request.method, url: loggableUrl(request.url), remoteAddress: request.ip }
}
