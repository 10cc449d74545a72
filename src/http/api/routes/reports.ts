import { findProjectReports } from '../../../catalogue/sql/progress-reports.js'
import { projectFeedPath } from '../../../iati/addresses.js'
import { sanitizeReports } from '../../../kernel/report-html.js'
import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import { nothingLeft } from '../operations/get-projects.js'
import { pathId } from '../query.js'
import { reportFeedDocument } from '../representations/report-feed.js'
import { atomMediaType, type Read } from './read-route.js'

/** A project's progress reports: Atom, whatever XML is asked for, or JSON (wire.md 9). */
export function reportReads({ reads, config }: ApiDeps): Read[] {
  return [
    {
      path: '/api/public/projectservice/projects/:projectId/reports',
      id: 'getProjectReports',
      summary: 'Progress reports of a project',
      description:
        'The newest reports with their pictures, as an Atom feed or in JSON. For example, a page of the project shows the first entry.',
      tag: 'Progress reports',
      schema: ref('ReportFeed'),
      failures: [404, 410],
      atom: true,
      answer: async (request, format) => {
        const id = pathId(request, 'projectId', 'project')
        const project = await findProjectReports(reads.db, id)
        if (!project?.active) throw nothingLeft([id], project ? 1 : 0)
        const reports = await sanitizeReports(project.reports)
        const input = {
          project: { ...project, reports },
          baseUrl: config.baseUrl(),
          publisherName: config.publisherName,
        }
        return {
          document: reportFeedDocument(format, input),
          canonical: reports.length > 0 ? input.baseUrl + projectFeedPath(id) : undefined,
          mediaType: format === 'xml' ? atomMediaType : undefined,
        }
      },
    },
  ]
}
