import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { logRequests } from '../../http/api/access-log.js'
import { clientNetwork } from '../../http/api/client-network.js'
import { toApiError } from '../../http/api/errors.js'
import { MinuteCounter } from '../../http/api/minute-counter.js'
import { healthRoutes } from '../../http/api/routes/health.js'
import { metricsRoute } from '../../http/api/routes/metrics.js'
import { createServer } from '../../http/api/server.js'
import { errorKinds, ServiceError } from '../../kernel/errors.js'
import { guardAccess, operatorOf } from './access.js'
import { actionRoutes } from './action-routes.js'
import type { ConsoleDeps } from './console-deps.js'
import { FormTokens } from './forms.js'
import { moneyRoutes } from './money-routes.js'
import { pageRoutes } from './page-routes.js'
import { refusal, signedOut, signOutPath } from './pages/frame.js'
import { sourceRoutes } from './source-routes.js'
import { consoleStyle, consoleStyleAddress } from './style.js'
import { uploadRoutes } from './upload-routes.js'

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Not `no-referrer`: with it a browser does not say which page sent a form.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

// The time for a whole request: a large file comes over a slow line.
const uploadMs = 1_800_000

/** The console for operators, which works without scripts, on a port of its own. The caller listens and closes it. */
export async function createConsole(deps: ConsoleDeps): Promise<FastifyInstance> {
  const app = createServer(deps, uploadMs)
  logRequests(app, deps.log)
  const requests = new MinuteCounter(deps.config.limits.requestsPerAddress)
  app.addHook('onRequest', async (_request, reply) => void reply.headers(headers))
  guardAccess(app, deps.operators)
  app.addHook('onRequest', async (request, reply) => {
    if (operatorOf(request) === undefined && requests.add(clientNetwork(request.ip)) > 0) {
      return reply.code(429).header('retry-after', '60').type('text/plain').send('too many requests in a minute')
    }
    return undefined
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: unknown, text: string) => text,
  )
  app.setErrorHandler((error, request, reply) => answerFailure(error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    answerFailure(new ServiceError('not-found', 'there is no such page'), request, reply),
  )
  app.get(consoleStyleAddress, async (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', 'private, max-age=31536000, immutable')
      .send(consoleStyle),
  )
  // Browsers ask for it by themselves.
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send())
  app.get(signOutPath, async (_request, reply) => reply.type('text/html; charset=utf-8').send(signedOut(false)))
  healthRoutes(app, deps)
  metricsRoute(app, deps.metrics)
  const tokens = new FormTokens()
  pageRoutes(app, deps, tokens)
  actionRoutes(app, deps, tokens)
  moneyRoutes(app, deps, tokens)
  uploadRoutes(app, deps, tokens)
  sourceRoutes(app, deps, tokens)
  return app
}

// An operator's own decision that cannot be carried out is no failure of the service.
const statuses: Partial<Record<ServiceError['code'], number>> = {
  'release-refused': 409,
  'media-type-unsupported': 415,
  'request-too-large': 413,
  'grant-missing': 403,
  'import-needed': 409,
  'queue-unavailable': 503,
}

function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = toApiError(error)
  const status = statuses[code] ?? errorKinds[code].status
  if (status === 500) request.log.error({ requestId: request.id, err: error }, 'a page of the console failed')
  if (status === 503) reply.header('retry-after', '5')
  return reply.code(status).type('text/html; charset=utf-8').send(refusal(message))
}
