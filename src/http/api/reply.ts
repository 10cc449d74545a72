import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pieces } from '../../catalogue/wire/write/list.js'
import type { Format } from '../../catalogue/wire/write/wire-value.js'
import { isUnchanged } from './conditional.js'
import { setVary } from './cors.js'
import { preferredEncoding } from './encoding.js'
import { mediaTypes } from './negotiation.js'

/**
 * Sends the document that answers a POST; it is not cached. It is sent as bytes, since the framework adds a charset to JSON
 * texts, which clients do not expect (wire.md 1.1).
 */
export function sendDocument(reply: FastifyReply, format: Format, document: string): FastifyReply {
  return reply
    .header('content-type', mediaTypes[format])
    .header('vary', 'Accept')
    .header('cache-control', 'no-store')
    .send(Buffer.from(document))
}

export type ReadAnswer = {
  readonly document: string | Pieces
  /** Identifies this document among all of its address and format; undefined: its hash does. */
  readonly version?: string | undefined
  /** The languages of its texts, where they were asked for; undefined: it does not depend on that. */
  readonly languages?: readonly string[] | undefined
  /** Undefined: the format's own. */
  readonly mediaType?: string | undefined
  /** The address of the published file that says the same, where there is one (RFC 6596). */
  readonly canonical?: string | undefined
  /** Whether caches that many people share may keep the answer: it needs no key. */
  readonly isPublic?: boolean
  /** How long such caches may keep it without asking; they always ask when not given. */
  readonly freshSeconds?: number
  /** When this document was first published, where that is known. */
  readonly lastModified?: Date | undefined
  /** Of a list: the `modifiedSince` of the client's next round; undefined when it is not known. */
  readonly modifiedUntil?: Date | undefined
}

// Smaller answers fit into one packet anyway.
const compressedFromBytes = 1_024
const compress = promisify(gzip)

/**
 * Sends what was read under an `ETag` made of its version or a hash of its bytes, or 304 to a client that has it
 * (RFC 9110 13.1.2); in gzip when the client accepts that.
 */
export function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  {
    document,
    version,
    languages,
    mediaType = mediaTypes[format],
    canonical,
    isPublic = false,
    freshSeconds,
    lastModified,
    modifiedUntil,
  }: ReadAnswer,
): FastifyReply | Promise<FastifyReply> {
  const body = typeof document === 'string' ? Buffer.from(document) : toBytes(document)
  setVary(reply, languages ? 'Accept, Accept-Encoding, Accept-Language' : 'Accept, Accept-Encoding').header(
    'cache-control',
    `${isPublic ? 'public' : 'private'}, ${freshSeconds === undefined ? 'no-cache' : `max-age=${freshSeconds}`}`,
  )
  if (languages && languages.length > 0) reply.header('content-language', languages.join(', '))
  if (canonical !== undefined) reply.header('link', `<${canonical}>; rel="canonical"`)
  if (modifiedUntil) reply.header('x-modified-until', modifiedUntil.toISOString())
  return respond(request, reply, {
    tag: hash('sha1', version === undefined ? body : `${format} ${version}`, 'base64url'),
    lastModified,
    mediaType,
    body: () => body,
    // The fastest level; it reduces a page of projects to a quarter.
    ...(body.length >= compressedFromBytes && { gzip: () => compress(body, { level: constants.Z_BEST_SPEED }) }),
  })
}

/**
 * Answers with bytes that have a tag, or 304 to a client that has them (RFC 9110 13.1.2); in gzip, which has a tag of its own,
 * where there is one and the client accepts it.
 */
export function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    tag,
    lastModified,
    mediaType,
    body,
    gzip: zip,
  }: {
    readonly tag: string
    readonly lastModified?: Date | undefined
    readonly mediaType: string
    readonly body: () => Buffer | Readable
    readonly gzip?: () => Promise<Buffer>
  },
): FastifyReply | Promise<FastifyReply> {
  const zipped = zip !== undefined && preferredEncoding(request.headers['accept-encoding']) === 'gzip'
  const validators = {
    identityTag: `"${tag}"`,
    gzipTag: `"${tag}-gz"`,
    ...(lastModified && { lastModified: lastModified.toUTCString() }),
  }
  reply.header('etag', zipped ? validators.gzipTag : validators.identityTag)
  if (validators.lastModified !== undefined) reply.header('last-modified', validators.lastModified)
  if (isUnchanged(request.headers, validators)) return reply.code(304).send()
  reply.header('content-type', mediaType)
  if (!zipped) return reply.send(body())
  return zip().then((bytes) => reply.header('content-encoding', 'gzip').send(bytes))
}

function toBytes(pieces: Pieces): Buffer {
  let length = 0
  for (const piece of pieces) length += Buffer.byteLength(piece)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) at += bytes.write(piece, at)
  return bytes
}
