import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findGallery } from '../../store/catalogue/photos.js'
import type { ProjectScope } from '../../store/ready-texts/project-pages.js'
import type { ProjectView } from '../../store/ready-texts/ready-texts.js'
import type { ApiDeps } from '../deps.js'
import type { Authenticate } from '../operations/authenticate.js'
import { getFeaturedProjects } from '../operations/get-featured-projects.js'
import { createProjectFinder, getProjectsByIds, nothingLeft } from '../operations/get-projects-by-ids.js'
import { createProjectList, listProjectIds } from '../operations/list-projects.js'
import { idListOf, limitOf, modifiedSinceOf, parseCountryCode, pathId, pathText, wholeNumberOf } from '../query.js'
import { imagesDocument } from '../representations/images.js'
import { projectDocument, projectIdsDocument, projectListDocument } from '../representations/project-list.js'
import { createReads } from './read-route.js'

const base = '/api/public/projectservice'

// What a list is of, by its address (wire.md 4.1).
const scopes: readonly {
  readonly path: string
  readonly what: string
  scopeOf(request: FastifyRequest): ProjectScope
}[] = [
  { path: 'all', what: 'All projects', scopeOf: () => ({ of: 'all' }) },
  {
    path: 'countries/:iso3166CountryCode',
    what: 'Projects of a country',
    scopeOf: (request) => ({
      of: 'country',
      code: parseCountryCode(pathText(request, 'iso3166CountryCode'), 'iso3166CountryCode'),
    }),
  },
  {
    path: 'themes/:themeId',
    what: 'Projects of a theme',
    scopeOf: (request) => ({ of: 'theme', id: pathText(request, 'themeId') }),
  },
  {
    path: 'organizations/:organizationId',
    what: 'Projects of an organisation',
    scopeOf: (request) => ({ of: 'organisation', id: pathId(request, 'organizationId') }),
  },
]

const views = [
  { view: 'full', suffix: '', title: '' },
  { view: 'summary', suffix: '/summary', title: ', in short' },
] as const satisfies readonly { view: ProjectView; suffix: string; title: string }[]

const kinds = [
  { activeOnly: false, suffix: '', title: '' },
  { activeOnly: true, suffix: '/active', title: ' that accept donations' },
] as const

/** Public project reads (wire.md 4). */
export function projectRoutes(
  app: FastifyInstance,
  { store, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  authenticate: Authenticate,
): void {
  const read = createReads(app, authenticate)
  const listProjects = createProjectList(store)
  const getProject = createProjectFinder(store)
  const tag = 'Projects'

  for (const { path, what, scopeOf } of scopes) {
    for (const { activeOnly, suffix, title } of kinds) {
      const list = `${base}/${path}/projects${suffix}`
      for (const { view, ...shown } of views) {
        const operation = {
          path: list + shown.suffix,
          tag,
          summary: what + title + shown.title,
          parameters: ['nextProjectId', 'limit', 'modifiedSince'],
        } as const
        read(operation, async (request, format) => {
          const { page, version, modifiedUntil } = await listProjects({
            scope: scopeOf(request),
            activeOnly,
            view,
            format,
            nextProjectId: wholeNumberOf(request, 'nextProjectId'),
            limit: limitOf(request),
            modifiedSince: modifiedSinceOf(request),
          })
          return { document: projectListDocument(format, page), version, modifiedUntil }
        })
      }
    }
  }

  for (const { activeOnly, suffix, title } of kinds) {
    const operation = {
      path: `${base}/all/projects${suffix}/ids`,
      tag,
      summary: `Identifiers of all projects${title}`,
      parameters: ['modifiedSince'],
    } as const
    read(operation, async (request, format) => {
      const modifiedSince = modifiedSinceOf(request)
      const { ids, modifiedUntil } = await listProjectIds(store, { scope: { of: 'all' }, activeOnly, modifiedSince })
      return { document: projectIdsDocument(format, ids), modifiedUntil }
    })
  }

  for (const { view, suffix, title } of views) {
    const featured = { path: `${base}/featured/projects${suffix}`, tag, summary: `Featured projects${title}` } as const
    read(featured, async (_request, format) => {
      const page = await getFeaturedProjects({ store, clock }, { view, format })
      return { document: projectListDocument(format, page) }
    })

    const byIds = {
      path: `${base}/projects/collection${suffix}/ids`,
      tag,
      summary: `Projects by identifiers${title}`,
      parameters: ['projectIds'],
    } as const
    read(byIds, async (request, format) => {
      const ids = idListOf(request, 'projectIds')
      const { page, version } = await getProjectsByIds(store, { ids, view, format })
      return { document: projectListDocument(format, page), version }
    })

    const one = { path: `${base}/projects/:projectId${suffix}`, tag, summary: `One project${title}` } as const
    read(one, async (request, format) => {
      const { record, version } = await getProject({ id: pathId(request, 'projectId'), view, format })
      return { document: projectDocument(format, record), version }
    })
  }

  const gallery = { path: `${base}/projects/:projectId/imagegallery`, tag, summary: 'Pictures of a project' } as const
  read(gallery, async (request, format) => {
    const id = pathId(request, 'projectId')
    const found = await findGallery(store.db, id)
    if (!found?.active) throw nothingLeft([id], found ? 1 : 0)
    return { document: imagesDocument(format, found) }
  })
}
