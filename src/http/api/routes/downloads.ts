import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { object, string, wireDocument } from '../../../catalogue/wire/write/wire-value.js'
import { ServiceError } from '../../../kernel/errors.js'
import { bulkPath } from '../../../release/bulk/bulk-reader.js'
import { fileOperation } from '../contract/file-operation.js'
import { ref } from '../contract/openapi-schema.js'
import type { ApiDeps } from '../deps.js'
import type { Downloads } from '../downloads.js'
import { nothingHere } from '../errors.js'
import { serveFile } from '../serve-file.js'
import type { Read } from './read-route.js'

const downloads = [
  { name: 'projects', id: 'linkProjects', list: 'projectservice/all/projects', tag: 'Projects', what: 'all projects' },
  {
    name: 'projects-active',
    id: 'linkActiveProjects',
    list: 'projectservice/all/projects/active',
    tag: 'Projects',
    what: 'active projects',
  },
  {
    name: 'organizations',
    id: 'linkOrganizations',
    list: 'orgservice/all/organizations',
    tag: 'Organisations',
    what: 'all organisations',
  },
  {
    name: 'organizations-active',
    id: 'linkActiveOrganizations',
    list: 'orgservice/all/organizations/active',
    tag: 'Organisations',
    what: 'organisations with active projects',
  },
  {
    name: 'organizations-vetted',
    id: 'linkVettedOrganizations',
    list: 'orgservice/all/organizations/vetted',
    tag: 'Organisations',
    what: 'vetted organisations',
  },
] as const

/** Links to the bulk files. */
export function downloadReads({ bulk, config }: ApiDeps): Read[] {
  return downloads.map(({ name, id, list, tag, what }) => ({
    path: `/api/public/${list}/download`,
    id,
    tag,
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
}

const bulkFile = fileOperation({
  ...{ id: 'getBulkFile', summary: 'A file that a download operation links to' },
  description:
    'All records in one XML document. For example, a download that was cut off continues with Range and If-Match.',
  content: { 'application/xml': { anyOf: [ref('Projects'), ref('Organizations')] } },
})

/** The bulk files, which need no key, since their addresses cannot be guessed. */
export function bulkFileRoute(
  app: FastifyInstance,
  { bulk, downloads }: ApiDeps & { readonly downloads: Downloads },
): void {
  const serve = async (request: FastifyRequest<{ Params: { token: string; file: string } }>, reply: FastifyReply) => {
    const found = await bulk.find(request.params.token, request.params.file)
    if (!found) throw nothingHere(request)
    const served = { file: found.file, release: found.set, lifetime: 'immutable', downloads } as const
    return await serveFile(request as FastifyRequest, reply, served)
  }
  app.route<{ Params: { token: string; file: string } }>({
    method: ['GET', 'HEAD'],
    url: '/feeds/bulk/:token/:file',
    config: { operations: [bulkFile] },
    handler: (request, reply) => serve(request, reply as FastifyReply),
  })
}
