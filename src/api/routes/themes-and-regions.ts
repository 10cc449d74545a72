import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import {
  countProjectsByRegion,
  listRegions,
  listThemes,
  listThemesWithProjects,
} from '../../store/catalogue/reference-lists.js'
import type { ApiDeps } from '../deps.js'
import { nothingHere } from '../errors.js'
import type { Authenticate } from '../operations/authenticate.js'
import { pathText } from '../query.js'
import {
  regionCountsDocument,
  regionsDocument,
  themesDocument,
  themesWithProjectsDocument,
} from '../representations/reference-lists.js'
import { createReads } from './read-route.js'

const base = '/api/public/projectservice'

/** Themes, regions, and how many projects each region and country has (wire.md 8). */
export function themeAndRegionRoutes(
  app: FastifyInstance,
  { store }: Pick<ApiDeps, 'store'>,
  authenticate: Authenticate,
): void {
  const read = createReads(app, authenticate)
  const tag = 'Themes and regions'

  read({ path: `${base}/themes`, tag, summary: 'Themes' }, async (_request, format) => ({
    document: themesDocument(format, await listThemes(store.db)),
  }))
  const withIds = { path: `${base}/themes/projects/ids`, tag, summary: 'Themes with their projects' } as const
  read(withIds, async (_request, format) => ({
    document: themesWithProjectsDocument(format, await listThemesWithProjects(store.db)),
  }))
  read({ path: `${base}/regions`, tag, summary: 'Regions' }, async (_request, format) => ({
    document: regionsDocument(format, await listRegions(store.db)),
  }))
  const counts = {
    path: `${base}/regions/*`,
    tag,
    summary: 'Projects by region and country, of one region or all',
  } as const
  read(counts, async (request, format) => {
    const { region, activeOnly } = readCountsPath(request)
    const found = await countProjectsByRegion(store.db, { region, activeOnly })
    if (region !== undefined && found.length === 0) {
      throw new ServiceError('not-found', `there is no region ${region.slice(0, 64)}`)
    }
    return { document: regionCountsDocument(format, found) }
  })
}

const countsPath = /^(?:(?<region>.+)\/)?countries\/projects(?<active>\/active)?\/count$/s

// Parsed by hand, since the name of a region may contain a slash, which clients do not encode.
function readCountsPath(request: FastifyRequest): { region: string | undefined; activeOnly: boolean } {
  const match = countsPath.exec(pathText(request, '*'))
  if (!match) throw nothingHere(request)
  return { region: match.groups?.region, activeOnly: match.groups?.active !== undefined }
}
