import { object, string, wireDocument } from '../../catalogue/wire/write/wire-value.js'
import { fileOperation } from '../../http/api/contract/file-operation.js'
import { ref } from '../../http/api/contract/openapi-schema.js'
import type { AddRoutes } from '../../http/api/create-api.js'
import { nothingHere } from '../../http/api/errors.js'
import { type Read, readRoutes } from '../../http/api/routes/read-route.js'
import { serveFile } from '../../http/api/serve-file.js'
import { ServiceError } from '../../kernel/errors.js'
import { bulkPath, createBulkReader } from './bulk-reader.js'

const files = [
  ['projects', 'linkProjects', 'all projects'],
  ['projects-active', 'linkActiveProjects', 'active projects'],
  ['organizations', 'linkOrganizations', 'all organisations'],
  ['organizations-active', 'linkActiveOrganizations', 'organisations with active projects'],
  ['organizations-vetted', 'linkVettedOrganizations', 'vetted organisations'],
] as const

const bulkFile = fileOperation({
  ...{ id: 'getBulkFile', summary: 'A file that a download operation links to' },
  description:
    'All records in one XML document. For example, a download that was cut off continues with Range and If-Match.',
  content: { 'application/xml': { anyOf: [ref('Projects'), ref('Organizations')] } },
})

/** The links, and the bulk files, which need no key, since their addresses cannot be guessed. */
export function bulkRoutes(...[app, deps]: Parameters<AddRoutes>): void {
  const { downloads, feedsDir, config } = deps
  const bulk = createBulkReader(feedsDir)
  const links: Read[] = files.map(([name, id, what]) => ({
    path: `/api/public/${name.startsWith('projects') ? 'project' : 'org'}service/all/${name.replace('-', '/')}/download`,
    id,
    tag: name.startsWith('projects') ? 'Projects' : 'Organisations',
    summary: `Link to a file of ${what}`,
    description:
      'The address of one XML file with all records, for clients that need everything. For example, a nightly copy asks for the link, then downloads what it names.',
    schema: ref('Download'),
    answer: async (_request, format) => {
      const set = await bulk.current()
      if (!set) throw new ServiceError('release-missing', 'the bulk files are being built for the first time')
      const url = config.baseUrl() + bulkPath(set, name)
      return { document: wireDocument(format, 'download', object([['url', string(url)]])) }
    },
  }))
  readRoutes(app, links, deps)
  app.route<{ Params: { token: string; file: string } }>({
    method: ['GET', 'HEAD'],
    url: '/feeds/bulk/:token/:file',
    config: { operations: [bulkFile] },
    handler: async (request, reply) => {
      const found = await bulk.find(request.params.token, request.params.file)
      if (!found) throw nothingHere(request)
      return await serveFile(request, reply, { file: found.file, release: found.set, lifetime: 'immutable', downloads })
    },
  })
}
