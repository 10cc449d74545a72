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
import type { ReadableRelease } from '../../../release/read/release-reader.js'
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
    const file = await (path === checkedPath && lifetime === 'live' ? releases.checked() : release.find(path))
    if (!file) throw nothingHere(request)
    const described = descriptionLinks(path, lifetime === 'live' ? '' : `${keptPrefix}${release.id}`)
    const links = [...described, ...(lifetime === 'live' ? hubLinks(config, path) : [])].join(', ')
    return await serveFile(request, reply, { file, release: release.id, lifetime, downloads, links })
  }

  // A sweep may remove a file between its look-up and its opening; the second look-up finds the new release.
  const serveLive = async (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    again = true,
  ): Promise<FastifyReply> => {
    const release = await releases.live()
    if (!release) throw noRelease()
    try {
      return await servePath(request, reply, release, path, 'live')
    } catch (error) {
      if (!isMissingFile(error) || !again) throw error
      return await serveLive(request, reply, path, false)
    }
  }

  const serveKept = async (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> => {
    const [id = '', ...rest] = path.slice(keptPrefix.length).split('/')
    const release = await releases.byId(id)
    if (!release) throw new ServiceError('not-found', `release ${id.slice(0, 64)} is unknown or no longer kept`)
    try {
      return await servePath(request, reply, release, `/${rest.join('/')}`, 'immutable')
    } catch (error) {
      if (isMissingFile(error)) throw new ServiceError('not-found', `release ${id} is no longer kept`, { cause: error })
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
function descriptionLinks(path: string, prefix: string): string[] {
  const describing = [manifestPath, ...(path.startsWith('/data/') ? [dataPackagePath] : [])]
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
  fileOperation(
    { id: 'getActivities', summary: 'IATI activities, the first segment', path: activitiesPath(1) },
    { 'application/xml': iatiActivities },
  ),
  fileOperation(
    { id: 'getAllActivities', summary: 'All IATI activities in one file', path: bulkActivitiesPath },
    { 'application/xml': iatiActivities },
  ),
  fileOperation(
    { id: 'getOrganisations', summary: 'The IATI organisation file', path: organisationsPath },
    { 'application/xml': iatiOrganisations },
  ),
  fileOperation(
    { id: 'getActivityIndex', summary: 'Where each activity lies in its file', path: activityIndexPath },
    { 'application/json': { type: 'object' } },
  ),
  fileOperation(
    {
      ...{ id: 'getIatiFile', summary: 'Another IATI file that the manifest lists', path: '/iati/{path}' },
      pathExamples: { path: 'activities-2.xml' },
    },
    { 'application/xml': values.text },
  ),
]

const { text } = values
const tables = { 'text/csv': text, 'application/vnd.apache.parquet': text }
const descriptions = { 'application/ld+json': {}, 'text/turtle': text, 'application/rdf+xml': text }
const tableFiles = [
  fileOperation(
    { id: 'getDataPackage', summary: 'The tables with the meaning of their columns', path: dataPackagePath },
    { 'application/json': { type: 'object' } },
  ),
  fileOperation(
    { id: 'getCatalogueAsJson', summary: 'The catalogue (DCAT) as JSON-LD', path: cataloguePath('jsonld') },
    { 'application/ld+json': {} },
  ),
  fileOperation(
    { id: 'getCatalogueAsTurtle', summary: 'The catalogue (DCAT) as Turtle', path: cataloguePath('ttl') },
    { 'text/turtle': text },
  ),
  fileOperation(
    { id: 'getCatalogueAsRdf', summary: 'The catalogue (DCAT) as RDF/XML', path: cataloguePath('rdf') },
    { 'application/rdf+xml': text },
  ),
  fileOperation(
    {
      ...{ id: 'getTable', summary: 'A table of the release in CSV or Parquet', path: '/data/{path}' },
      pathExamples: { path: 'activities.csv' },
    },
    tables,
  ),
]

const feedFiles = [
  fileOperation(
    { id: 'getManifest', summary: 'The files of the live release, with checksums', path: manifestPath },
    { 'application/json': ref('Manifest') },
    { always: true },
  ),
  fileOperation(
    {
      id: 'getReleaseChain',
      summary: 'The record of every release, each linked to the one before',
      path: releaseChainPath,
    },
    { 'application/json': { type: 'object' } },
  ),
  fileOperation(
    { id: 'getChecked', summary: 'That the live release is up to date, signed', path: checkedPath },
    { 'application/json': { type: 'object' } },
  ),
  fileOperation(
    { id: 'getReportsFeed', summary: 'The newest progress reports of all projects', path: reportsFeedPath },
    { 'application/atom+xml': atomFeed },
  ),
  fileOperation(
    { id: 'getFeedList', summary: 'All feeds of progress reports (OPML)', path: feedListPath },
    { 'text/x-opml': text },
  ),
  fileOperation(
    { id: 'listProjectFeeds', summary: 'The feeds of projects, with checksums', path: projectFeedIndexPath },
    { 'application/json': arrayOf({ type: 'object' }) },
  ),
  fileOperation(
    {
      id: 'getProjectFeed',
      summary: 'Progress reports of a project',
      path: '/feeds/projects/{projectId}/reports.atom',
    },
    { 'application/atom+xml': atomFeed },
  ),
  fileOperation(
    {
      ...{ id: 'getFeedFile', summary: 'Another feed that the manifest lists', path: '/feeds/{path}' },
      pathExamples: { path: 'reports/archive-1.atom' },
    },
    { 'application/atom+xml': atomFeed },
  ),
]

const llmsText = fileOperation(
  { id: 'getLlmsText', summary: 'What is published here, for language models' },
  { 'text/markdown': text },
)

const publicKey = fileOperation(
  { id: 'getPublicKey', summary: 'The key that releases are signed with; 404 where they are not signed' },
  { 'application/x-pem-file': text },
)

const keptFile = fileOperation(
  {
    ...{ id: 'getKeptFile', summary: 'A file of a release that is still kept', path: `${keptPrefix}{release}/{path}` },
    pathExamples: { path: 'iati/activities.xml' },
  },
  {
    ...{ 'application/xml': text, 'application/atom+xml': atomFeed, 'application/json': {}, 'text/markdown': text },
    ...{ ...tables, ...descriptions, 'application/x-pem-file': text, 'text/x-opml': text },
  },
)

/** The error of every feed address before the first release. */
export function noRelease(): ServiceError {
  return new ServiceError('release-missing', 'nothing has been published yet: the first release is being built')
}

/** Whether a file of a release is gone, because the release was removed. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
