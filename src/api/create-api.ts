import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import { logRequests } from './access-log.js'
import { allowAllOrigins } from './cors.js'
import type { ApiDeps } from './deps.js'
import { answerBrokenHttp, nothingHere, sendError, sendFrameworkError } from './errors.js'
import { rewriteApiUrl } from './negotiation.js'
import { createAuthentication } from './operations/authenticate.js'
import { bodyLimit } from './request-body.js'
import { downloadRoutes } from './routes/downloads.js'
import { feedRoutes } from './routes/feeds.js'
import { healthRoutes } from './routes/health.js'
import { indexRoute } from './routes/index-page.js'
import { organizationRoutes } from './routes/organizations.js'
import { projectRoutes } from './routes/projects.js'
import { reportRoutes } from './routes/reports.js'
import { searchRoutes } from './routes/search.js'
import { statusRoute } from './routes/status.js'
import { themeAndRegionRoutes } from './routes/themes-and-regions.js'
import { tokenRoutes } from './routes/tokens.js'

/**
 * The whole HTTP side: the API, the published files, the index page, health. It does not listen; the caller listens and
 * closes it, and tests inject. Closing lets running answers finish and drops idle connections.
 */
export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    // One line a request is written by access-log.ts, with secrets left out.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    // A request on a kept connection is answered properly while the others finish.
    return503OnClosing: false,
    bodyLimit,
    trustProxy: deps.config.trustProxy,
    rewriteUrl: rewriteApiUrl,
    routerOptions: { maxParamLength: 2_048 },
    // A missing Host header is answered like any other request instead of with an empty 400.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => sendFrameworkError(error, request, reply),
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket as Socket, deps.log),
  })

  await allowAllOrigins(app)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
  })
  logRequests(app, deps.log)
  // Bodies stay bytes until a route reads them: an unknown address is 404 whatever was sent to it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => sendError(nothingHere(request), request, reply))

  const authenticate = createAuthentication(deps.store)
  tokenRoutes(app, deps)
  projectRoutes(app, deps, authenticate)
  searchRoutes(app, deps, authenticate)
  organizationRoutes(app, deps, authenticate)
  themeAndRegionRoutes(app, deps, authenticate)
  reportRoutes(app, deps, authenticate)
  downloadRoutes(app, deps, authenticate)
  feedRoutes(app, deps)
  statusRoute(app, deps)
  indexRoute(app, deps)
  healthRoutes(app, deps)
  return app
}
