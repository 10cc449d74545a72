import { randomUUID } from 'node:crypto'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyHttpsOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { loggableUrl } from './access-log.js'
import type { ApiConfig, ApiDeps } from './deps.js'
import { answerBrokenHttp, sendFrameworkError } from './errors.js'
import { rewriteApiUrl } from './negotiation.js'
import { bodyLimit } from './request-body.js'

/** A server of HTTP, or of HTTPS where there is a certificate, that knows no route yet and does not listen. */
export function createServer({ log, config }: Pick<ApiDeps, 'log' | 'config'>): FastifyInstance {
  const options = {
    // Should the framework itself ever log a request, it does so without secrets too.
    loggerInstance: log.child({}, { serializers: { req: loggableRequest } }) as FastifyBaseLogger,
    // One line a request is written by access-log.ts, with secrets left out.
    logController: new LogController({ disableRequestLogging: true }),
    // A failure is logged with the request's id; a logger for each request would only cost time.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    genReqId: () => randomUUID(),
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // A request on a kept connection is answered properly while the others finish.
    return503OnClosing: false,
    bodyLimit,
    trustProxy: trustedProxies(config.trustProxy),
    rewriteUrl: rewriteApiUrl,
    routerOptions: { maxParamLength: 2_048 },
    frameworkErrors: sendFrameworkError,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => answerBrokenHttp(error, socket, log),
  } as const
  // A missing Host header is answered like any other request instead of with an empty 400.
  const http = { requireHostHeader: false } as const
  if (config.tls === undefined) return fastify({ ...options, http })
  const secure: FastifyHttpsOptions<Server> = {
    ...options,
    https: { ...http, ...config.tls },
  } as FastifyHttpsOptions<Server>
  return fastify(secure) as unknown as FastifyInstance
}

/** So many hops as the function that the framework wants; anything else as it is. */
function trustedProxies(trustProxy: ApiConfig['trustProxy']) {
  return typeof trustProxy === 'number' ? (_address: string, hop: number) => hop < trustProxy : trustProxy
}

function loggableRequest(request: FastifyRequest) {
  return { method: request.method, url: loggableUrl(request.url), remoteAddress: request.ip }
}
