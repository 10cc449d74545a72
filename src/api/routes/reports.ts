import type { FastifyInstance } from 'fastify'
import { findProjectReports } from '../../store/catalogue/progress-reports.js'
import type { ApiDeps } from '../deps.js'
import type { Authenticate } from '../operations/authenticate.js'
import { nothingLeft } from '../operations/get-projects-by-ids.js'
import { pathId } from '../query.js'
import { reportFeedDocument } from '../representations/report-feed.js'
import { createReads } from './read-route.js'

const atomMediaType = 'application/atom+xml'

/** A project's progress reports: Atom, whatever XML is asked for, or JSON (wire.md 9). */
export function reportRoutes(
  app: FastifyInstance,
  { store, config }: Pick<ApiDeps, 'store' | 'config'>,
  authenticate: Authenticate,
): void {
  const read = createReads(app, authenticate)
  const operation = {
    path: '/api/public/projectservice/projects/:projectId/reports',
    summary: 'Progress reports of a project',
    tag: 'Progress reports',
    alsoXml: [atomMediaType],
  } as const
  read(operation, async (request, format) => {
    const id = pathId(request, 'projectId')
    const project = await findProjectReports(store.db, id)
    if (!project?.active) throw nothingLeft([id], project ? 1 : 0)
    const input = { project, baseUrl: config.baseUrl(), publisherName: config.publisherName }
    return {
      document: reportFeedDocument(format, input),
      mediaType: format === 'xml' ? atomMediaType : undefined,
    }
  })
}
