import { pathTemplate } from '../../../src/http/api/contract/operation.js'

/** A request of every read operation that succeeds over `storeWells`, with the name of its golden document. */
export type ReadRequest = {
  readonly golden: string
  /** The pattern of its route. */
  readonly route: string
  /** Its path in the description of the API. */
  readonly operation: string
  readonly path: string
  readonly query?: string
}

const projects = '/api/public/projectservice'
const organizations = '/api/public/orgservice'

const scopes = [
  ['all', 'all', 'all'],
  ['country', 'countries/:iso3166CountryCode', 'countries/sl'],
  ['theme', 'themes/:themeId', 'themes/water'],
  ['organization', 'organizations/:organizationId', 'organizations/318'],
] as const

const lists = scopes.flatMap(([name, route, path]) =>
  ['', '/summary', '/active', '/active/summary'].map((variant) => ({
    golden: `projects-${name}${variant.replaceAll('/', '-')}`,
    route: `${projects}/${route}/projects${variant}`,
    operation: pathTemplate(`${projects}/${route}/projects${variant}`),
    path: `${projects}/${path}/projects${variant}`,
  })),
)

const fixed = (golden: string, route: string, query?: string): ReadRequest => ({
  golden,
  route,
  operation: pathTemplate(route),
  path: route.replace(':projectId', '2045').replace(':organizationId', '318').replace(':bridgeId', '9007199254740993'),
  ...(query !== undefined && { query }),
})

const counts = (golden: string, pattern: string, region: string, active: string): ReadRequest => ({
  golden,
  route: `${projects}/regions/*`,
  operation: `${projects}/regions/${pattern}countries/projects${active}/count`,
  path: `${projects}/regions/${region}countries/projects${active}/count`,
})

export const readRequests: readonly ReadRequest[] = [
  ...lists,
  fixed('ids', `${projects}/all/projects/ids`),
  fixed('ids-active', `${projects}/all/projects/active/ids`),
  fixed('download-projects', `${projects}/all/projects/download`),
  fixed('download-projects-active', `${projects}/all/projects/active/download`),
  fixed('featured', `${projects}/featured/projects`),
  fixed('featured-summary', `${projects}/featured/projects/summary`),
  fixed('collection', `${projects}/projects/collection/ids`, 'projectIds=2061,2045'),
  fixed('collection-summary', `${projects}/projects/collection/summary/ids`, 'projectIds=2061,2045'),
  fixed('project', `${projects}/projects/:projectId`),
  fixed('project-summary', `${projects}/projects/:projectId/summary`),
  fixed('images', `${projects}/projects/:projectId/imagegallery`),
  fixed('reports', `${projects}/projects/:projectId/reports`),
  fixed('search', '/api/public/services/search/projects', 'q=well&filter=country:SL'),
  fixed('search-summary', '/api/public/services/search/projects/summary', 'q=*'),
  fixed('themes', `${projects}/themes`),
  fixed('themes-with-ids', `${projects}/themes/projects/ids`),
  fixed('regions', `${projects}/regions`),
  counts('counts', '', '', ''),
  counts('counts-active', '', '', '/active'),
  counts('counts-region', '{region}/', 'Africa/', ''),
  counts('counts-region-active', '{region}/', 'South/Central%20America%20and%20the%20Caribbean/', '/active'),
  fixed('organizations', `${organizations}/all/organizations`),
  fixed('organizations-active', `${organizations}/all/organizations/active`),
  fixed('organizations-vetted', `${organizations}/all/organizations/vetted`),
  fixed('download-organizations', `${organizations}/all/organizations/download`),
  fixed('download-organizations-active', `${organizations}/all/organizations/active/download`),
  fixed('download-organizations-vetted', `${organizations}/all/organizations/vetted/download`),
  fixed('organization', `${organizations}/organization/:organizationId`),
  fixed('organization-bridge', `${organizations}/organization/bridge/:bridgeId`),
]
