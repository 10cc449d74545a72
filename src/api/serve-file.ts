import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import { type ByteRange, cacheControl, type FileLifetime, type ServedFile } from '../publishing/folder/served-file.js'
import { isUnchanged, validatorsOf, wantedRange } from './conditional.js'
import type { Downloads } from './downloads.js'
import { type Encoding, preferredEncoding } from './encoding.js'
import { mediaTypes, responseFormat } from './negotiation.js'
import { openFile } from './open-files.js'
import { errorDocument } from './representations/error-response.js'
import { type OpenPart, sendPart } from './send-part.js'

const compress = promisify(gzip)

// Above this a file without a gzip twin is sent as it is rather than held in memory.
const compressibleBytes = 1_048_576

export type Served = {
  readonly file: ServedFile
  readonly release: string
  readonly lifetime: FileLifetime
  readonly downloads: Downloads
  /** The value of `Link`; absent or empty where there is none. */
  readonly links?: string
}

/**
 * Answers GET or HEAD with a published file (iati.md 14.1): conditional, compressed when asked for, in part when
 * asked for (of identity only), `Content-Length` always exact. The file is opened before the first header is set, so
 * ENOENT reaches the caller while another answer is still possible.
 */
export async function serveFile(request: FastifyRequest, reply: FastifyReply, served: Served): Promise<FastifyReply> {
  const { file } = served
  const validators = validatorsOf(file)
  const ranged = request.method === 'GET' && request.headers.range !== undefined
  const encoding = ranged ? 'identity' : encodingOf(file, request.headers['accept-encoding'])
  const tag = encoding === 'gzip' ? validators.gzipTag : validators.identityTag
  const stageHeaders = () => {
    if (served.links) reply.header('link', served.links)
    return reply
      .header('etag', tag)
      .header('last-modified', validators.lastModified)
      .header('cache-control', cacheControl[served.lifetime])
      .header('vary', 'Accept-Encoding')
      .header('accept-ranges', 'bytes')
      .header('x-release', served.release)
  }

  if (isUnchanged(request.headers, validators)) return stageHeaders().code(304).send()

  const range = ranged ? wantedRange(request.headers, file.identity.length, validators) : undefined
  if (range === 'unsatisfiable') return sendUnsatisfiable(request, reply, served)
  const download = served.downloads.begin(request.ip)
  const body = await openBody(file, encoding, range).catch((error: unknown) => {
    download.end()
    throw error
  })
  stageHeaders().header('content-type', file.mediaType).header('content-length', String(body.length))
  if (encoding === 'gzip') reply.header('content-encoding', 'gzip')
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.identity.length}`)
  }
  const proxied = ranged ? undefined : proxyAddress(request, served.downloads, body)
  if (proxied !== undefined) reply.header('x-accel-redirect', proxied).header('content-length', '0')
  else if (request.method === 'GET' && !(body instanceof Uint8Array)) return sendPart(reply, body, download)
  download.end()
  if (!(body instanceof Uint8Array)) await body.file.close()
  else if (request.method === 'GET') {
    const delayMs = download.delayMs(body.length)
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    return reply.send(body)
  }
  return reply.send()
}

/** Where the proxy before the API finds the body, so that it sends it in our place. */
function proxyAddress(request: FastifyRequest, downloads: Downloads, body: OpenPart | Buffer): string | undefined {
  if (request.method !== 'GET' || body instanceof Uint8Array || body.length !== body.file.size) return undefined
  // nginx would compare these with tags and dates of its own.
  if (request.headers['if-match'] !== undefined || request.headers['if-unmodified-since'] !== undefined)
    return undefined
  return downloads.proxyAddress(body.path)
}

function sendUnsatisfiable(request: FastifyRequest, reply: FastifyReply, { file, release }: Served): FastifyReply {
  const format = responseFormat(request)
  const message = `the range ${request.headers.range?.slice(0, 64)} lies outside of the file's ${file.identity.length} bytes`
  return reply
    .code(416)
    .header('content-range', `bytes */${file.identity.length}`)
    .header('x-release', release)
    .header('cache-control', 'no-store')
    .header('content-type', mediaTypes[format])
    .send(Buffer.from(errorDocument(format, { status: 416, errors: [{ message }] })))
}

function encodingOf(file: ServedFile, acceptEncoding: string | undefined): Encoding {
  const compressible = file.gzip !== undefined || file.identity.length <= compressibleBytes
  return compressible ? preferredEncoding(acceptEncoding) : 'identity'
}

async function openBody(
  file: ServedFile,
  encoding: Encoding,
  range: { readonly start: number; readonly end: number } | undefined,
): Promise<OpenPart | Buffer> {
  if (encoding === 'gzip' && file.gzip) return await openPart(file.gzip)
  if (encoding === 'gzip') return await compress(await readPart(file.identity), { level: 6 })
  if (!range) return await openPart(file.identity)
  const { path, offset } = file.identity
  return await openPart({ path, offset: offset + range.start, length: range.end - range.start + 1 })
}

async function readPart(part: ByteRange): Promise<Buffer> {
  const { file, offset, length } = await openPart(part)
  try {
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Opens a part of a file and makes sure that it is all there: a response never ends short of its `Content-Length`. */
async function openPart(part: ByteRange): Promise<OpenPart> {
  const { path, offset, length } = part
  const file = await openFile(path)
  if (file.size >= offset + length) return { ...part, file }
  await file.close()
  throw new ServiceError('release-corrupt', `${path} has ${file.size} bytes, expected at least ${offset + length}`)
}
