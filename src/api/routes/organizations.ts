import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../deps.js'
import type { Authenticate } from '../operations/authenticate.js'
import { getOrganization, listOrganizations } from '../operations/organizations.js'
import { limitOf, modifiedSinceOf, parseCountryCode, pathId, pathText, queryValue, wholeNumberOf } from '../query.js'
import { organizationDocument, organizationListDocument } from '../representations/organization-list.js'
import { createReads } from './read-route.js'

const base = '/api/public/orgservice'

const lists = [
  { which: 'all', suffix: '', summary: 'All organisations' },
  { which: 'active', suffix: '/active', summary: 'Organisations with projects that accept donations' },
  { which: 'vetted', suffix: '/vetted', summary: 'Organisations that the operator vouches for' },
] as const

/** Public organisation reads (wire.md 7). */
export function organizationRoutes(
  app: FastifyInstance,
  { store }: Pick<ApiDeps, 'store'>,
  authenticate: Authenticate,
): void {
  const read = createReads(app, authenticate)
  const tag = 'Organisations'

  for (const { which, suffix, summary } of lists) {
    const operation = {
      path: `${base}/all/organizations${suffix}`,
      tag,
      summary,
      parameters: ['nextOrgId', 'limit', 'modifiedSince', 'theme', 'country'],
    } as const
    read(operation, async (request, format) => {
      const country = queryValue(request, 'country')
      const { modifiedUntil, ...page } = await listOrganizations(store, {
        which,
        format,
        themeId: queryValue(request, 'theme'),
        countryCode: country === undefined ? undefined : parseCountryCode(country, 'the query parameter country'),
        nextOrgId: wholeNumberOf(request, 'nextOrgId'),
        limit: limitOf(request),
        modifiedSince: modifiedSinceOf(request),
      })
      return { document: organizationListDocument(format, page), modifiedUntil }
    })
  }

  const one = { path: `${base}/organization/:organizationId`, tag, summary: 'One organisation' } as const
  read(one, async (request, format) => {
    const text = await getOrganization(store, { id: pathId(request, 'organizationId') }, format)
    return { document: organizationDocument(format, text) }
  })

  const bridged = {
    path: `${base}/organization/bridge/:bridgeId`,
    tag,
    summary: 'One organisation by its identifier in an external register',
  } as const
  read(bridged, async (request, format) => {
    pathId(request, 'bridgeId')
    const text = await getOrganization(store, { bridgeId: pathText(request, 'bridgeId') }, format)
    return { document: organizationDocument(format, text) }
  })
}
