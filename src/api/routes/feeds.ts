import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import { checkedPath, dataPackagePath, llmsTextPath, manifestPath, publicKeyPath } from '../../feeds/addresses.js'
import type { ReadableRelease } from '../../publishing/release/read/release-reader.js'
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
  { releases, downloads }: ApiDeps & { readonly downloads: Downloads },
): void {
  const route = (
    prefix: string,
    serve: (request: FastifyRequest, reply: FastifyReply, path: string) => Promise<FastifyReply>,
  ) =>
    app.route<{ Params: { '*': string } }>({
      method: ['GET', 'HEAD'],
      url: `${prefix}*`,
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
    reply.header('link', descriptionLinks(path, lifetime === 'live' ? '' : `${keptPrefix}${release.id}`))
    return await serveFile(request, reply, { file, release: release.id, lifetime, downloads })
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

  route('/iati/', serveLive)
  route('/data/', serveLive)
  route('/feeds/', serveLive)
  route(keptPrefix, serveKept)
  for (const url of [llmsTextPath, publicKeyPath]) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => serveLive(request, reply as FastifyReply, url),
    })
  }
}

const keptPrefix = '/feeds/releases/'

/** Links from a file to what describes it (RFC 8288): the manifest of its release, and for a table its columns. */
function descriptionLinks(path: string, prefix: string): string {
  const describing = [manifestPath, ...(path.startsWith('/data/') ? [dataPackagePath] : [])]
  return describing
    .filter((address) => address !== path)
    .map((address) => `<${prefix}${address}>; rel="describedby"; type="application/json"`)
    .join(', ')
}

/** The error of every feed address before the first release. */
export function noRelease(): ServiceError {
  return new ServiceError('release-missing', 'nothing has been published yet: the first release is being built')
}

/** Whether a file of a release is gone, because the release was removed. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
