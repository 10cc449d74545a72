import { organisationList } from '../../../catalogue/wire/names.js'
import { listDocument, recordDocument } from '../../../catalogue/wire/write/list.js'
import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import { getOrganisation, listOrganisations } from '../operations/organisations.js'
import { limitOf, modifiedSinceOf, parseCountryCode, pathDigits, pathId, queryValue, wholeNumberOf } from '../query.js'
import type { Read } from './read-route.js'

const base = '/api/public/orgservice'

const lists = [
  { which: 'all', id: 'listOrganizations', suffix: '', summary: 'All organisations' },
  {
    which: 'active',
    id: 'listActiveOrganizations',
    suffix: '/active',
    summary: 'Organisations with projects that accept donations',
  },
  {
    which: 'vetted',
    id: 'listVettedOrganizations',
    suffix: '/vetted',
    summary: 'Organisations that the operator vouches for',
  },
] as const

/** Public organisation reads (wire.md 7). */
export function organisationReads({ store, reads }: ApiDeps): Read[] {
  const tag = 'Organisations'
  const pages = lists.map(
    ({ which, id, suffix, summary }): Read => ({
      path: `${base}/all/organizations${suffix}`,
      id,
      tag,
      summary,
      description:
        'A page at a time, in the order of their identifiers: while hasNext is true, ask again with nextOrgId. For example, theme=water&country=SL asks for those that work on water in Sierra Leone.',
      parameters: ['nextOrgId', 'limit', 'modifiedSince', 'theme', 'country'],
      schema: ref('Organizations'),
      failures: [404],
      hasLanguages: true,
      answer: async (request, format, _account, spoken) => {
        const country = queryValue(request, 'country')
        const modifiedSince = modifiedSinceOf(request)
        const wanted = {
          which,
          format,
          themeId: queryValue(request, 'theme'),
          countryCode: country === undefined ? undefined : parseCountryCode(country, 'the query parameter country'),
          nextOrgId: wholeNumberOf(request, 'nextOrgId'),
          limit: limitOf(request),
          modifiedSince,
        }
        const from = modifiedSince ? store : reads
        const { page, modifiedUntil } = await listOrganisations(from, wanted, spoken)
        return { document: listDocument(format, organisationList, page), modifiedUntil }
      },
    }),
  )
  return [
    ...pages,
    {
      path: `${base}/organization/:organizationId`,
      id: 'getOrganization',
      tag,
      summary: 'One organisation',
      description: 'Its record, as in lists. For example, organization/318 is that of organisation 318.',
      schema: ref('Organization'),
      failures: [404],
      hasLanguages: true,
      answer: async (request, format, _account, spoken) => {
        const text = await getOrganisation(
          reads,
          { id: pathId(request, 'organizationId', 'organisation') },
          format,
          spoken,
        )
        return { document: recordDocument(format, 'organization', text) }
      },
    },
    {
      path: `${base}/organization/bridge/:bridgeId`,
      id: 'getOrganizationByBridgeId',
      tag,
      summary: 'One organisation by its identifier in an external register',
      description:
        'The same record, found by the identifier that a register gave it. For example, a client that knows only that one reads our identifier here.',
      schema: ref('Organization'),
      failures: [404],
      hasLanguages: true,
      answer: async (request, format, _account, spoken) => {
        const text = await getOrganisation(reads, { bridgeId: pathDigits(request, 'bridgeId') }, format, spoken)
        return { document: recordDocument(format, 'organization', text) }
      },
    },
  ]
}
