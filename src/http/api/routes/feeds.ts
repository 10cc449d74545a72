import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  activitiesPath,
  activityIndexPath,
  bulkActivitiesPath,
  cataloguePath,
  checkedPath,
  dataPackagePath,
  feedListPath,
  isReportArchive,
  llmsTextPath,
  manifestPath,
  organisationsPath,
  projectFeedIndexPath,
  publicKeyPath,
  releaseChainPath,
  reportsFeedPath,
} from '../../../iati/addresses.js'
import { ServiceError } from '../../../kernel/errors.js'
import { isErrno } from '../../../kernel/system-errors.js'
import type { ReadableRelease } from '../../../release/read/release-reader.js'
import { afterSweep } from '../after-sweep.js'
import { fileOperation, iatiActivities, iatiOrganisations } from '../contract/file-operation.js'
import { arrayOf, ref, values } from '../contract/openapi-schema.js'
import type { Operation } from '../contract/operation.js'
import { atomFeed } from '../contract/schemas.js'
import type { ApiDeps } from '../deps.js'
import type { Downloads } from '../downloads.js'
import { nothingHere } from '../errors.js'
import { serveFile } from '../serve-file.js'

/**
 * The published files. `/iati/...`, `/data/...` and `/feeds/...` serve the live release; `/feeds/releases/{id}/...` serve the same paths of
 * one release.
 */
export function feedRoutes(
  app: FastifyInstance,
  { releases, downloads, config }: ApiDeps & { readonly downloads: Downloads },
): void {
  const route = (
    prefix: string,
    operations: readonly Operation[],
    serve: (request: FastifyRequest, reply: FastifyReply, path: string) => Promise<FastifyReply>,
  ) =>
    app.route<{ Params: { '*': string } }>({
      method: ['GET', 'HEAD'],
      url: `${prefix}*`,
      config: { operations },
      handler: (request, reply) =>
        serve(request as FastifyRequest, reply as FastifyReply, prefix + request.params['*']),
    })

  const servePath = async (
    request: FastifyRequest,
    reply: FastifyReply,
    release: ReadableRelease,
    path: string,
    lifetime: 'live' | 'immutable',
  ): Promise<FastifyReply> => {
    const file =
      (lifetime === 'live' && path === checkedPath && (await releases.checked())) || (await release.find(path))
    if (!file) throw nothingHere(request)
    const described = await descriptionLinks(release, path, lifetime === 'live' ? '' : `${keptPrefix}${release.id}`)
    const links = [...described, ...(lifetime === 'live' ? hubLinks(config, path) : [])].join(', ')
    return await serveFile(request, reply, { file, release: release.id, lifetime, downloads, links })
  }

  const serveLive = (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> =>
    afterSweep(async () => {
      const release = await releases.live()
      if (!release) throw noRelease()
      return await servePath(request, reply, release, path, 'live')
    })

  const serveKept = async (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> => {
    const [id = '', ...rest] = path.slice(keptPrefix.length).split('/')
    const release = await releases.byId(id)
    if (!release) throw new ServiceError('not-found', `release ${id.slice(0, 64)} is unknown or no longer kept`)
    try {
      return await servePath(request, reply, release, `/${rest.join('/')}`, 'immutable')
    } catch (error) {
      if (isErrno(error, 'ENOENT'))
        throw new ServiceError('not-found', `release ${id} is no longer kept`, { cause: error })
      throw error
    }
  }

  route('/iati/', iatiFiles, serveLive)
  route('/data/', tableFiles, serveLive)
  route('/feeds/', feedFiles, serveLive)
  route(keptPrefix, [keptFile], serveKept)
  for (const [url, operation] of [
    [llmsTextPath, llmsText],
    [publicKeyPath, publicKey],
  ] as const) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { operations: [operation] },
      handler: (request, reply) => serveLive(request, reply as FastifyReply, url),
    })
  }
}

/** The `Link` to the manifest, for pages and other answers made from the live release. */
export const manifestLink = `<${manifestPath}>; rel="describedby"; type="application/json"`

const keptPrefix = '/feeds/releases/'

/** Links from a file to what describes it (RFC 8288): the manifest of its release, and for a table its columns. */
async function descriptionLinks({ find }: ReadableRelease, path: string, prefix: string): Promise<string[]> {
  const isInPackage = path.startsWith('/data/') && (await find(dataPackagePath)) !== undefined
  const describing = [manifestPath, ...(isInPackage ? [dataPackagePath] : [])]
  return describing
    .filter((address) => address !== path)
    .map((address) => `<${prefix}${address}>; rel="describedby"; type="application/json"`)
}

/** The hub of a feed and the topic to subscribe to there (WebSub, section 4). */
function hubLinks({ websubHub, baseUrl }: ApiDeps['config'], path: string): string[] {
  if (websubHub === undefined || !path.endsWith('.atom') || isReportArchive(path)) return []
  return [`<${websubHub}>; rel="hub"`, `<${baseUrl()}${path}>; rel="self"`]
}

const iatiFiles = [
  fileOperation({
    id: 'getActivities',
    summary: 'IATI activities, the first segment',
    description:
      'Projects stay in their segment for ever. For example, readers start with this one and take the others from the manifest.',
    path: activitiesPath(1),
    content: { 'application/xml': iatiActivities },
  }),
  fileOperation({
    id: 'getAllActivities',
    summary: 'All IATI activities in one file',
    description:
      'Every segment, one after the other, in one document. For example, a harvester registers this address alone.',
    path: bulkActivitiesPath,
    content: { 'application/xml': iatiActivities },
  }),
  fileOperation({
    id: 'getOrganisations',
    summary: 'The IATI organisation file',
    description:
      'What the publisher says of itself, with its budgets. For example, the registry has this address beside that of the activities.',
    path: organisationsPath,
    content: { 'application/xml': iatiOrganisations },
  }),
  fileOperation({
    id: 'getActivityIndex',
    summary: 'Where each activity lies in its file',
    description:
      'Hash, file and span of bytes by identifier. For example, a reader asks for one activity of a large file by Range.',
    path: activityIndexPath,
    content: { 'application/json': { type: 'object' } },
  }),
  fileOperation({
    id: 'getIatiFile',
    summary: 'Another IATI file that the manifest lists',
    description: 'A later segment. For example, activities-2.xml is the second.',
    path: '/iati/{path}',
    pathExamples: { path: 'activities-2.xml' },
    content: { 'application/xml': values.text },
  }),
]

const { text } = values
const tables = { 'text/csv': text, 'application/vnd.apache.parquet': text }
const descriptions = { 'application/ld+json': {}, 'text/turtle': text, 'application/rdf+xml': text }
const tableFiles = [
  fileOperation({
    id: 'getDataPackage',
    summary: 'The tables with the meaning of their columns',
    description:
      'A data package (Frictionless). For example, the unit of a column of amounts is the column that it names.',
    path: dataPackagePath,
    content: { 'application/json': { type: 'object' } },
  }),
  fileOperation({
    id: 'getCatalogueAsJson',
    summary: 'The catalogue (DCAT) as JSON-LD',
    description: 'What is published, for portals of open data. For example, one harvests this address every night.',
    path: cataloguePath('jsonld'),
    content: { 'application/ld+json': {} },
  }),
  fileOperation({
    id: 'getCatalogueAsTurtle',
    summary: 'The catalogue (DCAT) as Turtle',
    description: 'The same facts as in JSON-LD. For example, a triple store loads it.',
    path: cataloguePath('ttl'),
    content: { 'text/turtle': text },
  }),
  fileOperation({
    id: 'getCatalogueAsRdf',
    summary: 'The catalogue (DCAT) as RDF/XML',
    description: 'The same facts as in JSON-LD. For example, older portals read only this form.',
    path: cataloguePath('rdf'),
    content: { 'application/rdf+xml': text },
  }),
  fileOperation({
    id: 'getTable',
    summary: 'A table of the release in CSV or Parquet',
    description: 'One row for each record. For example, transactions.csv has every gift by month and every payout.',
    path: '/data/{path}',
    pathExamples: { path: 'activities.csv' },
    content: tables,
  }),
]

const feedFiles = [
  fileOperation({
    id: 'getManifest',
    summary: 'The files of the live release, with checksums',
    description:
      'Where readers start: paths, sizes, hashes, what is held. For example, follow immutablePath and every file is of one release.',
    path: manifestPath,
    content: { 'application/json': ref('Manifest') },
    always: true,
  }),
  fileOperation({
    id: 'getReleaseChain',
    summary: 'The record of every release, each linked to the one before',
    description:
      'Manifests by hash, from the first to the live one. For example, a reader notices that an old release was rewritten.',
    path: releaseChainPath,
    content: { 'application/json': { type: 'object' } },
  }),
  fileOperation({
    id: 'getChecked',
    summary: 'That the live release is up to date, signed',
    description:
      'When the publisher last looked for changes. For example, a mirror tells a quiet month from a stopped one.',
    path: checkedPath,
    content: { 'application/json': { type: 'object' } },
  }),
  fileOperation({
    id: 'getReportsFeed',
    summary: 'The newest progress reports of all projects',
    description:
      'An Atom feed with links to archives of older reports (RFC 5005). For example, a news reader subscribes to it.',
    path: reportsFeedPath,
    content: { 'application/atom+xml': atomFeed },
  }),
  fileOperation({
    id: 'getFeedList',
    summary: 'All feeds of progress reports (OPML)',
    description: 'Title and address of the feed of every project. For example, a news reader imports the file.',
    path: feedListPath,
    content: { 'text/x-opml': text },
  }),
  fileOperation({
    id: 'listProjectFeeds',
    summary: 'The feeds of projects, with checksums',
    description: 'Path, size and hash of each. For example, a mirror fetches only the feeds whose hash differs.',
    path: projectFeedIndexPath,
    content: { 'application/json': arrayOf({ type: 'object' }) },
  }),
  fileOperation({
    id: 'getProjectFeed',
    summary: 'Progress reports of a project',
    description:
      'All reports of one project as an Atom feed. For example, projects/2045/reports.atom is that of project 2045.',
    path: '/feeds/projects/{projectId}/reports.atom',
    content: { 'application/atom+xml': atomFeed },
  }),
  fileOperation({
    id: 'getFeedFile',
    summary: 'Another feed that the manifest lists',
    description: 'An archive of older reports. For example, reports/archive-1.atom has the oldest.',
    path: '/feeds/{path}',
    pathExamples: { path: 'reports/archive-1.atom' },
    content: { 'application/atom+xml': atomFeed },
  }),
]

const llmsText = fileOperation({
  id: 'getLlmsText',
  summary: 'What is published here, for language models',
  description:
    'A short text with the addresses that matter (llms.txt). For example, an assistant reads it before it answers.',
  content: { 'text/markdown': text },
})

const publicKey = fileOperation({
  id: 'getPublicKey',
  summary: 'The key that releases are signed with; 404 where they are not signed',
  description: 'An Ed25519 key in PEM. For example, giving verify --key compares a published set with it.',
  content: { 'application/x-pem-file': text },
})

const keptFile = fileOperation({
  id: 'getKeptFile',
  summary: 'A file of a release that is still kept',
  description:
    'The same bytes for ever, while the release is kept. For example, a manifest names each file by such an address.',
  path: `${keptPrefix}{release}/{path}`,
  pathExamples: { path: 'iati/activities.xml' },
  content: {
    ...{ 'application/xml': text, 'application/atom+xml': atomFeed, 'application/json': {}, 'text/markdown': text },
    ...{ ...tables, ...descriptions, 'application/x-pem-file': text, 'text/x-opml': text },
  },
})

/** The error of every feed address before the first release. */
export function noRelease(): ServiceError {
  return new ServiceError('release-missing', 'nothing has been published yet: the first release is being built')
}
