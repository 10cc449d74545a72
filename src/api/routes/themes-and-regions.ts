import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import {
  countProjectsByRegion,
  listRegions,
  listThemes,
  listThemesWithProjects,
} from '../../store/catalogue/reference-lists.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import { pathText } from '../query.js'
import {
  regionCountsDocument,
  regionsDocument,
  themesDocument,
  themesWithProjectsDocument,
} from '../representations/reference-lists.js'
import type { Read } from './read-route.js'

const base = '/api/public/projectservice'

/** Themes, regions, and how many projects each region and country has (wire.md 8). */
export function themeAndRegionReads({ store }: ApiDeps): Read[] {
  const tag = 'Themes and regions'
  return [
    {
      path: `${base}/themes`,
      tag,
      summary: 'Themes',
      answer: async (_request, format) => ({ document: themesDocument(format, await listThemes(store.db)) }),
    },
    {
      path: `${base}/themes/projects/ids`,
      tag,
      summary: 'Themes with their projects',
      answer: async (_request, format) => ({
        document: themesWithProjectsDocument(format, await listThemesWithProjects(store.db)),
      }),
    },
    {
      path: `${base}/regions`,
      tag,
      summary: 'Regions',
      answer: async (_request, format) => ({ document: regionsDocument(format, await listRegions(store.db)) }),
    },
    {
      path: `${base}/regions/*`,
      tag,
      summary: 'Projects by region and country, of one region or all',
      answer: async (request, format) => {
        const { region, activeOnly } = readCountsPath(request)
        const found = await countProjectsByRegion(store.db, { region, activeOnly })
        if (region !== undefined && found.length === 0) {
          throw new ServiceError('not-found', `there is no region ${region.slice(0, 64)}`)
        }
        return { document: regionCountsDocument(format, found) }
      },
    },
  ]
}

const countsPath = /^(?:(?<region>.+)\/)?countries\/projects(?<active>\/active)?\/count$/s

// Not a route pattern, since clients do not encode a slash in the name of a region.
function readCountsPath(request: FastifyRequest): { region: string | undefined; activeOnly: boolean } {
  const match = countsPath.exec(pathText(request, '*'))
  if (!match) throw nothingHere(request)
  return { region: match.groups?.region, activeOnly: match.groups?.active !== undefined }
}
