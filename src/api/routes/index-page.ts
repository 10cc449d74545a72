import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import type { ThemeRecord } from '../../domain/record.js'
import { listThemes } from '../../store/catalogue/reference-lists.js'
import type { RunSummary } from '../../store/runs/runs.js'
import type { ApiDeps } from '../deps.js'
import { indexPage } from '../index-page.js'
import { indexStyle } from '../index-style.js'

const styleHash = createHash('sha256').update(indexStyle).digest('base64')
const contentSecurityPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** `/`: the page for people, also before the first release. */
export function indexRoute(app: FastifyInstance, deps: ApiDeps): void {
  app.get('/', async (_request, reply) => {
    const [release, stored] = await Promise.all([deps.releases.live(), storedFacts(deps)])
    const page = indexPage({
      publisherName: deps.config.publisherName,
      baseUrl: deps.config.baseUrl(),
      manifest: release?.manifest,
      ...stored,
    })
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(page)
  })
}

type StoredFacts = { readonly lastRun: RunSummary | undefined; readonly themes: readonly ThemeRecord[] }

// The page is answered without the database too.
async function storedFacts({ store, listRuns, log }: ApiDeps): Promise<StoredFacts> {
  try {
    const [runs, themes] = await Promise.all([listRuns(1), listThemes(store.db)])
    return { lastRun: runs[0], themes }
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, 'the index page shows no run and no themes')
    return { lastRun: undefined, themes: [] }
  }
}
