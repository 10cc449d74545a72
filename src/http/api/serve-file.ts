import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Body, tooShort } from '../../release/folder/body.js'
import { cacheControl, type FileLifetime, type ServedFile } from '../../release/folder/served-file.js'
import { isChanged, isUnchanged, validatorsOf, wantedRange } from './conditional.js'
import type { Downloads } from './downloads.js'
import { type Encoding, preferredEncoding } from './encoding.js'
import { mediaTypes, responseFormat } from './negotiation.js'
import { openFile } from './open-files.js'
import { errorDocument } from './representations/error-response.js'
import { closeBody, type OpenBody, type OpenPart, sendBody } from './send-body.js'

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

  if (isChanged(request.headers, tag, validators.lastModified)) {
    return sendRefused(
      request,
      reply,
      served,
      412,
      'the file is not the one that If-Match or If-Unmodified-Since names',
    )
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
  else if (request.method === 'GET' && !(body instanceof Uint8Array)) return sendBody(reply, body, download)
  download.end()
  if (!(body instanceof Uint8Array)) await closeBody(body)
  else if (request.method === 'GET') {
    const delayMs = download.delayMs(body.length)
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    return reply.send(body)
  }
  return reply.send()
}

/** Where the proxy before the API finds the body, so that it sends it in our place. */
function proxyAddress(request: FastifyRequest, downloads: Downloads, body: OpenBody | Buffer): string | undefined {
  if (request.method !== 'GET' || body instanceof Uint8Array) return undefined
  const [part] = body.parts
  if (!part || part instanceof Uint8Array || body.length !== part.file.size) return undefined
  // nginx would compare these with tags and dates of its own.
  if (request.headers['if-match'] !== undefined || request.headers['if-unmodified-since'] !== undefined)
    return undefined
  return downloads.proxyAddress(part.path)
}

function sendUnsatisfiable(request: FastifyRequest, reply: FastifyReply, served: Served): FastifyReply {
  const { length } = served.file.identity
  const message = `the range ${request.headers.range?.slice(0, 64)} lies outside of the file's ${length} bytes`
  reply.header('content-range', `bytes */${length}`)
  return sendRefused(request, reply, served, 416, message)
}

function sendRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  { release }: Served,
  status: 412 | 416,
  message: string,
): FastifyReply {
  const format = responseFormat(request)
  return reply
    .code(status)
    .header('x-release', release)
    .header('cache-control', 'no-store')
    .header('content-type', mediaTypes[format])
    .send(Buffer.from(errorDocument(format, { status, errors: [{ message }] })))
}

function encodingOf(file: ServedFile, acceptEncoding: string | undefined): Encoding {
  const compressible = file.gzip !== undefined || file.identity.length <= compressibleBytes
  return compressible ? preferredEncoding(acceptEncoding) : 'identity'
}

async function openBody(
  file: ServedFile,
  encoding: Encoding,
  range: { readonly start: number; readonly end: number } | undefined,
): Promise<OpenBody | Buffer> {
  if (encoding === 'gzip' && file.gzip) return await open(file.gzip)
  if (encoding === 'gzip') return await compress(await file.identity.bytes(), { level: 6 })
  return await open(range ? file.identity.slice(range.start, range.end + 1) : file.identity)
}

/** Opens the files of a body and makes sure that all is there: a response never ends short of its `Content-Length`. */
async function open(body: Body): Promise<OpenBody> {
  const parts: OpenPart[] = []
  try {
    for (const part of body.parts) {
      if (part instanceof Uint8Array) {
        parts.push(part)
        continue
      }
      const file = await openFile(part.path)
      parts.push({ ...part, file })
      if (file.size < part.offset + part.length) throw tooShort(part.path, file.size, part.offset + part.length)
    }
    return { parts, length: body.length }
  } catch (error) {
    await closeBody({ parts })
    throw error
  }
}
