import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import { createSearch, parseFilters } from '../operations/search.js'
import { limitOf, queryValue, wholeNumberOf } from '../query.js'
import { searchDocument } from '../representations/search.js'
import type { Read } from './read-route.js'

/** Search of active projects (wire.md 5). */
export function searchReads(deps: ApiDeps): Read[] {
  const search = createSearch(deps)
  return (['full', 'summary'] as const).map((view) => ({
    path: `/api/public/services/search/projects${view === 'full' ? '' : '/summary'}`,
    id: view === 'full' ? 'searchProjects' : 'searchProjectSummaries',
    summary: view === 'full' ? 'Search active projects' : 'Search active projects, in short',
    description:
      'The best hits first, a page at a time by start. For example, q=clean water&filter=country:KE finds projects in Kenya with both words.',
    tag: 'Search',
    parameters: ['q', 'start', 'filter', 'limit'],
    schema: ref(view === 'full' ? 'Search' : 'SearchSummary'),
    hasLanguages: true,
    answer: async (request, format, account, spoken) => {
      const input = {
        q: queryValue(request, 'q'),
        filters: parseFilters(queryValue(request, 'filter')),
        start: wholeNumberOf(request, 'start'),
        limit: limitOf(request),
        view,
        format,
      }
      const result = await search(account, request.signal, input, spoken)
      return { document: searchDocument(format, result) }
    },
  }))
}
