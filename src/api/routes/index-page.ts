import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import { indexPage } from '../index-page.js'
import { indexStyle } from '../index-style.js'

const styleHash = createHash('sha256').update(indexStyle).digest('base64')
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** `/`: the page for people; also before the first release, when it says so. */
export function indexRoute(app: FastifyInstance, deps: Pick<ApiDeps, 'releases' | 'listRuns' | 'config'>): void {
  app.get('/', async (_request, reply) => {
    const [release, runs] = await Promise.all([deps.releases.live(), deps.listRuns(1)])
    const page = indexPage({
      publisherName: deps.config.publisherName,
      baseUrl: deps.config.baseUrl(),
      manifest: release?.manifest,
      lastRun: runs[0],
    })
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(page)
  })
}
