import type { FastifyRequest } from 'fastify'
import {
  countProjectsByRegion,
  listRegions,
  listThemes,
  listThemesWithProjects,
} from '../../../catalogue/sql/reference-lists.js'
import { ServiceError } from '../../../kernel/errors.js'
import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import { pathText } from '../query.js'
import {
  regionCountsDocument,
  regionsDocument,
  themesDocument,
  themesWithProjectsDocument,
} from '../representations/reference-lists.js'
import type { DescribedRead, Read } from './read-route.js'

const base = '/api/public/projectservice'

/** Themes, regions, and how many projects each region and country has (wire.md 8). */
export function themeAndRegionReads({ reads }: ApiDeps): Read[] {
  const tag = 'Themes and regions'
  return [
    {
      path: `${base}/themes`,
      id: 'listThemes',
      tag,
      summary: 'Themes',
      description:
        'Identifier and name of each. For example, the theme water has its projects at themes/water/projects.',
      schema: ref('Themes'),
      answer: async (_request, format) => ({ document: themesDocument(format, await listThemes(reads.db)) }),
    },
    {
      path: `${base}/themes/projects/ids`,
      id: 'listThemesWithProjects',
      tag,
      summary: 'Themes with their projects',
      description:
        'Each theme with the identifiers of its active projects. For example, a menu shows how many each has.',
      schema: ref('ThemesWithProjects'),
      isLong: true,
      answer: async (_request, format) => ({
        document: themesWithProjectsDocument(format, await listThemesWithProjects(reads.db)),
      }),
    },
    {
      path: `${base}/regions`,
      id: 'listRegions',
      tag,
      summary: 'Regions',
      description:
        'The names of the regions of the world that have projects. For example, Africa can be counted by country.',
      schema: ref('Regions'),
      answer: async (_request, format) => ({ document: regionsDocument(format, await listRegions(reads.db)) }),
    },
    {
      path: `${base}/regions/*`,
      id: 'countProjects',
      tag,
      summary: 'Projects by region and country, of one region or all',
      description: counted,
      described: countOperations,
      schema: ref('RegionCounts'),
      answer: async (request, format) => {
        const { region, activeOnly } = readCountsPath(request)
        const found = await countProjectsByRegion(reads.db, { region, activeOnly })
        if (region !== undefined && found.length === 0) {
          throw new ServiceError('not-found', `there is no region ${region.slice(0, 64)}`)
        }
        return { document: regionCountsDocument(format, found) }
      },
    },
  ]
}

const counted = 'Each country with its number of projects. For example, a map is coloured by it.'

const countOperations: readonly DescribedRead[] = [
  {
    ...{ id: 'countProjects', path: `${base}/regions/countries/projects/count`, failures: [] },
    summary: 'Number of projects by region and country',
    description: counted,
  },
  {
    ...{ id: 'countActiveProjects', path: `${base}/regions/countries/projects/active/count`, failures: [] },
    summary: 'Number of projects that accept donations by region and country',
    description: counted,
  },
  {
    ...{ id: 'countProjectsOfRegion', path: `${base}/regions/{region}/countries/projects/count`, failures: [404] },
    summary: 'Number of projects of a region by country',
    description: 'The same of one region, by its name in the list of regions. For example, regions/Africa.',
  },
  {
    ...{ id: 'countActiveProjectsOfRegion', failures: [404] },
    path: `${base}/regions/{region}/countries/projects/active/count`,
    summary: 'Number of projects of a region that accept donations by country',
    description: 'The same of one region, by its name in the list of regions. For example, regions/Africa.',
  },
]

const countsPath = /^(?:(?<region>.+)\/)?countries\/projects(?<active>\/active)?\/count$/s

// Not a route pattern, since clients do not encode a slash in the name of a region.
function readCountsPath(request: FastifyRequest): { region: string | undefined; activeOnly: boolean } {
  const match = countsPath.exec(pathText(request, '*'))
  if (!match) throw nothingHere(request)
  return { region: match.groups?.region, activeOnly: match.groups?.active !== undefined }
}
