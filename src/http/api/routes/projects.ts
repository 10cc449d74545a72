import type { FastifyRequest } from 'fastify'
import { findGallery } from '../../../catalogue/sql/photos.js'
import type { ProjectScope } from '../../../catalogue/sql/ready-texts/project-pages.js'
import type { ProjectView } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { projectList } from '../../../catalogue/wire/names.js'
import { listDocument, recordDocument } from '../../../catalogue/wire/write/list.js'
import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import { createProjectFinder, getFeaturedProjects, getProjectsByIds, nothingLeft } from '../operations/get-projects.js'
import { createProjectList, type ListProjects, listProjectIds } from '../operations/list-projects.js'
import { idListOf, limitOf, modifiedSinceOf, parseCountryCode, pathId, pathText, wholeNumberOf } from '../query.js'
import { imagesDocument } from '../representations/images.js'
import type { Read } from './read-route.js'

const base = '/api/public/projectservice'

// The scopes of lists, by their address (wire.md 4.1).
const scopes: readonly {
  readonly path: string
  readonly id: string
  readonly what: string
  /** An example of the list, in words. */
  readonly example: string
  readonly failures?: readonly 404[]
  scopeOf(request: FastifyRequest): ProjectScope
}[] = [
  {
    path: 'all',
    id: '',
    what: 'All projects',
    example: 'a page of a hundred is limit=100',
    scopeOf: () => ({ of: 'all' }),
  },
  {
    path: 'countries/:iso3166CountryCode',
    id: 'OfCountry',
    what: 'Projects of a country',
    example: 'those in Sierra Leone are at countries/SL',
    scopeOf: (request) => ({
      of: 'country',
      code: parseCountryCode(pathText(request, 'iso3166CountryCode'), 'iso3166CountryCode'),
    }),
  },
  {
    path: 'themes/:themeId',
    id: 'OfTheme',
    what: 'Projects of a theme',
    example: 'those about water are at themes/water',
    failures: [404],
    scopeOf: (request) => ({ of: 'theme', id: pathText(request, 'themeId') }),
  },
  {
    path: 'organizations/:organizationId',
    id: 'OfOrganization',
    what: 'Projects of an organisation',
    example: 'those of organisation 318 are at organizations/318',
    failures: [404],
    scopeOf: (request) => ({ of: 'organisation', id: pathId(request, 'organizationId', 'organisation') }),
  },
]

const views = [
  { view: 'full', suffix: '', title: '', form: 'Whole records', record: 'Project' },
  {
    view: 'summary',
    suffix: '/summary',
    title: ', in short',
    form: 'Records without long texts',
    record: 'ProjectSummary',
  },
] as const satisfies readonly { view: ProjectView; suffix: string; title: string; form: string; record: string }[]

const kinds = [
  { activeOnly: false, id: '', suffix: '', title: '' },
  { activeOnly: true, id: 'Active', suffix: '/active', title: ' that accept donations' },
] as const

function plural(record: string): string {
  return record.endsWith('y') ? `${record.slice(0, -1)}ies` : `${record}s`
}

/** Public project reads (wire.md 4). */
export function projectReads({ store, reads, clock }: ApiDeps): Read[] {
  const list = createProjectList(reads)
  // Read the primary: a lagging standby would hide changes.
  const listChanges = createProjectList(store)
  const listProjects: ListProjects = (input, spoken) => (input.modifiedSince ? listChanges : list)(input, spoken)
  const getProject = createProjectFinder(reads)
  const tag = 'Projects'

  const pageReads = scopes.flatMap(({ path, id, what, example, failures = [], scopeOf }) =>
    kinds.flatMap(({ activeOnly, ...kind }) =>
      views.map(
        ({ view, suffix, title, form, record }): Read => ({
          id: `list${kind.id}${plural(record)}${id}`,
          path: `${base}/${path}/projects${kind.suffix}${suffix}`,
          tag,
          summary: what + kind.title + title,
          description: `${form} in the order of their identifiers, a page at a time: while hasNext is true, ask again with nextProjectId. For example, ${example}; modifiedSince asks for what changed since.`,
          parameters: ['nextProjectId', 'limit', 'modifiedSince'],
          schema: ref(plural(record)),
          failures,
          hasLanguages: true,
          answer: async (request, format, _account, spoken) => {
            const input = { scope: scopeOf(request), activeOnly, view, format }
            const from = { nextProjectId: wholeNumberOf(request, 'nextProjectId'), limit: limitOf(request) }
            const wanted = { ...input, ...from, modifiedSince: modifiedSinceOf(request) }
            const { page, version, modifiedUntil } = await listProjects(wanted, spoken)
            return { document: listDocument(format, projectList, page), version, modifiedUntil }
          },
        }),
      ),
    ),
  )

  const idReads = kinds.map(
    ({ activeOnly, id, suffix, title }): Read => ({
      id: `list${id}ProjectIds`,
      path: `${base}/all/projects${suffix}/ids`,
      tag,
      summary: `Identifiers of all projects${title}`,
      description:
        'One list without pages. For example, a client that mirrors compares it with its own to find what is gone.',
      parameters: ['modifiedSince'],
      schema: ref('ProjectIds'),
      isLong: true,
      answer: async (request, format) => {
        const modifiedSince = modifiedSinceOf(request)
        const { page, modifiedUntil } = await listProjectIds(modifiedSince ? store : reads, format, {
          scope: { of: 'all' },
          activeOnly,
          modifiedSince,
        })
        return { document: listDocument(format, projectList, page), modifiedUntil }
      },
    }),
  )

  const viewReads = views.flatMap(({ view, suffix, title, form, record }): Read[] => [
    {
      path: `${base}/featured/projects${suffix}`,
      id: `listFeatured${plural(record)}`,
      schema: ref(plural(record)),
      tag,
      summary: `Featured projects${title}`,
      description: `${form} of ten projects at most, which change every hour. For example, a home page shows them.`,
      hasLanguages: true,
      answer: async (_request, format, _account, spoken) => {
        const page = await getFeaturedProjects(reads, clock(), { view, format }, spoken)
        return { document: listDocument(format, projectList, page) }
      },
    },
    {
      path: `${base}/projects/collection${suffix}/ids`,
      id: `get${plural(record)}`,
      schema: ref(plural(record)),
      failures: [404, 410],
      tag,
      summary: `Projects by identifiers${title}`,
      description: `${form} of ten projects at most, in one request. For example, projectIds=2061,2045 asks for two; one that does not exist is left out.`,
      parameters: ['projectIds'],
      hasLanguages: true,
      answer: async (request, format, _account, spoken) => {
        const ids = idListOf(request, 'projectIds')
        const { page, version } = await getProjectsByIds(reads, { ids, view, format }, spoken)
        return { document: listDocument(format, projectList, page), version }
      },
    },
    {
      path: `${base}/projects/:projectId${suffix}`,
      id: `get${record}`,
      schema: ref(record),
      failures: [404, 410],
      tag,
      summary: `One project${title}`,
      description: `${form.replace('Records', 'Its record').replace('Whole records', 'Its whole record')}, as in lists. For example, projects/2045${suffix} is that of project 2045; 410 once the project is inactive.`,
      hasLanguages: true,
      answer: async (request, format, _account, spoken) => {
        const id = pathId(request, 'projectId', 'project')
        const { record, version } = await getProject({ id, view, format }, spoken)
        return { document: recordDocument(format, 'project', record), version }
      },
    },
  ])

  const galleryRead: Read = {
    path: `${base}/projects/:projectId/imagegallery`,
    id: 'getProjectImages',
    schema: ref('Images'),
    failures: [404, 410],
    tag,
    summary: 'Pictures of a project',
    description:
      'Each picture with its addresses in six sizes. For example, a list of projects shows the size small, a page the size large.',
    answer: async (request, format) => {
      const id = pathId(request, 'projectId', 'project')
      const found = await findGallery(reads.db, id)
      if (!found?.active) throw nothingLeft([id], found ? 1 : 0)
      return { document: imagesDocument(format, found) }
    },
  }
  return [...pageReads, ...idReads, ...viewReads, galleryRead]
}
