import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Turns } from '../../kernel/turns.js'
import { createIndexReader } from '../../release/read/activity-index.js'
import { logRequests } from './access-log.js'
import { allowAllOrigins } from './cors.js'
import type { ApiDeps } from './deps.js'
import { Downloads } from './downloads.js'
import { startInTurns } from './fair-starts.js'
import { limitRate, refuseUnderPressure } from './limits.js'
import { closeForMaintenance } from './maintenance.js'
import { learnMethods } from './methods-at.js'
import { describeApi } from './openapi.js'
import { createAuthentication } from './operations/authenticate.js'
import { sendFailure, sendNothingHere } from './pages.js'
import { refusePlainHttp } from './plain-http.js'
import { accountRoutes } from './routes/accounts.js'
import { activityRoute } from './routes/activities.js'
import { demoRoutes } from './routes/demo.js'
import { donationRoutes } from './routes/donations.js'
import { feedRoutes } from './routes/feeds.js'
import { giftRoutes } from './routes/gifts.js'
import { healthRoutes } from './routes/health.js'
import { indexRoutes } from './routes/index-page.js'
import { measureRequests, metricsRoute } from './routes/metrics.js'
import { organisationReads } from './routes/organisations.js'
import { projectReads } from './routes/projects.js'
import { readRoutes } from './routes/read-route.js'
import { reportReads } from './routes/reports.js'
import { sandboxRoutes } from './routes/sandbox.js'
import { searchReads } from './routes/search.js'
import { secureArea } from './routes/secure.js'
import { statusRoute } from './routes/status.js'
import { subscriptionRoutes } from './routes/subscriptions.js'
import { themeListRoutes } from './routes/theme-list.js'
import { themeAndRegionReads } from './routes/themes-and-regions.js'
import { webhookRoute } from './routes/webhooks.js'
import { secureHeaders } from './security-headers.js'
import { createServer } from './server.js'

const reads = [projectReads, searchReads, organisationReads, themeAndRegionReads, reportReads]

/** Adds the routes of an extension. */
export type AddRoutes = (
  app: FastifyInstance,
  deps: ApiDeps & Parameters<typeof readRoutes>[2] & { readonly downloads: Downloads },
) => Promise<void>

/**
 * The whole HTTP side: the API, the published files, the index page, health. The caller listens and closes it; tests inject
 * requests. Closing lets running answers finish and drops idle connections.
 */
export async function createApi(addRoutes: readonly AddRoutes[], deps: ApiDeps): Promise<FastifyInstance> {
  const { config } = deps
  const app = createServer(deps)
  if (config.trustProxy === true) {
    deps.log.warn(
      'TRUST_PROXY=true lets every client choose the address that limits count: name the networks of your proxies',
    )
  }
  await allowAllOrigins(app)
  await secureHeaders(app, config)
  logRequests(app, deps.log)
  refuseUnderPressure(app, config.limits)
  const countKey = limitRate(app, config.limits, deps.log)
  if (!config.allowPlainHttp) refusePlainHttp(app)
  closeForMaintenance(app, deps)
  startInTurns(app)
  // A body stays bytes until a route reads it, so an unknown address is 404 also with a broken body.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
  const { replicas } = deps
  if (replicas) {
    // A client's own writes are there when it reads, whichever process and standby it reads from.
    app.addHook('onSend', async (request, reply, payload) => {
      if (!/^(GET|HEAD|OPTIONS)$/.test(request.method) && reply.statusCode < 400) await replicas.caughtUp()
      return payload
    })
  }
  app.setErrorHandler((error, request, reply) => sendFailure(deps, error, request as FastifyRequest, reply))
  app.setNotFoundHandler((request, reply) => sendNothingHere(deps, request as FastifyRequest, reply))

  learnMethods(app)
  const authenticate = createAuthentication(deps)
  const downloads = new Downloads(config)
  const reading = { authenticate, countKey, language: config.templates.language }
  await describeApi(app, config)
  accountRoutes(app, { ...deps, authenticate, countKey })
  await secureArea(app, { ...deps, countKey }, (area) => donationRoutes(area, deps))
  webhookRoute(app, deps)
  giftRoutes(app, deps)
  sandboxRoutes(app, deps)
  readRoutes(
    app,
    reads.flatMap((group) => group(deps)),
    reading,
  )
  for (const add of addRoutes) await add(app, { ...deps, ...reading, downloads })
  const readIndex = createIndexReader()
  // While one reads a file or searches for long, others draw; each more makes long ones wait longer.
  const turns = new Turns(4)
  const takesSubscriptions = config.sendsMail && deps.payments.donors.refusal === undefined
  const portal = await deps.openPortal?.(app, { ...deps, readIndex, turns, takesSubscriptions })
  activityRoute(app, { ...deps, readIndex, turns })
  feedRoutes(app, { ...deps, downloads })
  statusRoute(app, deps)
  indexRoutes(app, deps, portal)
  subscriptionRoutes(app, deps, portal && takesSubscriptions ? readIndex : undefined)
  themeListRoutes(app, deps)
  demoRoutes(app, portal)
  healthRoutes(app, deps)
  if (deps.metrics) measureRequests(app, deps.metrics)
  metricsRoute(app, config.metricsOnApi ? deps.metrics : undefined)
  return app
}
