import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fresh from 'fresh'
import type { Format } from '../wire/wire.js'
import { mediaTypes } from './negotiation.js'

/**
 * Sends a finished document of the API; it may change at any moment, so nobody keeps it unasked. It goes as bytes: to a
 * JSON text the framework would add a charset that the wire contract does not have.
 */
export function sendDocument(
  reply: FastifyReply,
  format: Format,
  document: string,
  cacheControl = 'private, no-cache',
): FastifyReply {
  return reply
    .header('content-type', mediaTypes[format])
    .header('vary', 'Accept')
    .header('cache-control', cacheControl)
    .send(Buffer.from(document))
}

/** What a read answers with. */
export type ReadAnswer = {
  readonly document: string
  /** Names this document among all that this address and format may ever give; undefined: its bytes are hashed. */
  readonly version?: string | undefined
  /** When it is not the format's own. */
  readonly mediaType?: string | undefined
  /** Of a list with `modifiedSince`: where the client's next one should begin; undefined when that is not known. */
  readonly modifiedUntil?: Date | undefined
}

/**
 * Sends what was read, named by its version or a hash of its bytes, so that a client which has them gets 304 instead
 * (RFC 9110 13.1.2).
 */
export function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  { document, version, mediaType = mediaTypes[format], modifiedUntil }: ReadAnswer,
): FastifyReply {
  const body = Buffer.from(document)
  const etag = `"${hash('sha1', version === undefined ? body : `${format} ${version}`, 'base64url')}"`
  reply.header('vary', 'Accept').header('cache-control', 'private, no-cache').header('etag', etag)
  if (modifiedUntil) reply.header('x-modified-until', modifiedUntil.toISOString())
  const condition = request.headers['if-none-match']
  if (condition !== undefined && fresh({ 'if-none-match': condition.trim() }, { etag })) return reply.code(304).send()
  return reply.header('content-type', mediaType).send(body)
}
