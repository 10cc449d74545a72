import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import type { Authenticate } from '../operations/authenticate.js'
import { parseFilters, search } from '../operations/search.js'
import { limitOf, queryValue, wholeNumberOf } from '../query.js'
import { searchDocument } from '../representations/search.js'
import { createReads } from './read-route.js'

/** Search of active projects (wire.md 5). */
export function searchRoutes(
  app: FastifyInstance,
  deps: Pick<ApiDeps, 'store' | 'searches'>,
  authenticate: Authenticate,
): void {
  const read = createReads(app, authenticate)
  for (const view of ['full', 'summary'] as const) {
    const operation = {
      path: `/api/public/services/search/projects${view === 'full' ? '' : '/summary'}`,
      summary: view === 'full' ? 'Search active projects' : 'Search active projects, in short',
      tag: 'Search',
      parameters: ['q', 'start', 'filter', 'limit'],
    } as const
    read(operation, async (request, format) => {
      const result = await search(deps, request.signal, {
        q: queryValue(request, 'q'),
        filters: parseFilters(queryValue(request, 'filter')),
        start: wholeNumberOf(request, 'start'),
        limit: limitOf(request),
        view,
        format,
      })
      return { document: searchDocument(format, result) }
    })
  }
}
