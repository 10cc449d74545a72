import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import type { RunSummary } from '../../store/runs/runs.js'
import type { ApiDeps } from '../deps.js'
import { indexPage } from '../index-page.js'
import { indexStyle } from '../index-style.js'

const styleHash = createHash('sha256').update(indexStyle).digest('base64')
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** `/`: the page for people, also before the first release. */
export function indexRoute(app: FastifyInstance, deps: ApiDeps): void {
  app.get('/', async (_request, reply) => {
    const [release, runs] = await Promise.all([deps.releases.live(), lastRuns(deps)])
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

// The page needs the database only for the last run.
async function lastRuns({ listRuns, log }: ApiDeps): Promise<readonly RunSummary[]> {
  try {
    return await listRuns(1)
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, 'the index page cannot tell of the last run')
    return []
  }
}
