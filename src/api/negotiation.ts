import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'
import type { Format } from '../wire/wire.js'

/** Media types of the two formats, without parameters: old clients compare the whole header (wire contract 1.1). */
export const mediaTypes: Readonly<Record<Format, string>> = { xml: 'application/xml', json: 'application/json' }

// The suffix of a request's path is gone before routing; this is where it is remembered.
const suffixes = new WeakMap<IncomingMessage, Format>()

/**
 * The URL that is routed: under `/api/` without trailing slashes and without the `.json` or `.xml` that overrides
 * `Accept` (wire contract 1.1); anything else is returned as it came.
 */
export function rewriteApiUrl(request: IncomingMessage): string {
  const url = originForm(request.url ?? '/')
  if (!url.startsWith('/api/')) return url
  const queryStart = url.search(/[?#]/)
  const query = queryStart < 0 ? '' : url.slice(queryStart)
  let path = withoutTrailingSlashes(queryStart < 0 ? url : url.slice(0, queryStart))
  for (const format of ['json', 'xml'] as const) {
    if (!path.endsWith(`.${format}`)) continue
    suffixes.set(request, format)
    path = withoutTrailingSlashes(path.slice(0, -format.length - 1))
    break
  }
  return path + query
}

// RFC 9112 3.2.2: a server accepts the absolute form too.
function originForm(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end--
  return path.slice(0, end)
}

/**
 * The format of the answer: the path's suffix, else the best supported type of `Accept` (nothing supported: XML), else
 * (no `Accept`, or one that leaves the choice open) the format of the request body, else XML. `alsoXml`: further types
 * that ask for XML.
 */
export function responseFormat(
  request: { readonly raw: IncomingMessage; readonly headers: IncomingHttpHeaders },
  alsoXml: readonly string[] = [],
): Format {
  const suffix = suffixes.get(request.raw)
  if (suffix) return suffix
  const open = bodyFormat(request.headers) ?? 'xml'
  const accept = request.headers.accept
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return open
  // Types listed here first win where the client has no preference.
  const offered =
    open === 'json'
      ? ['application/json', 'application/xml', 'text/xml']
      : ['application/xml', 'text/xml', 'application/json']
  return new Negotiator(request).mediaType([...alsoXml, ...offered]) === 'application/json' ? 'json' : 'xml'
}

/** The format that `Content-Type` names; undefined when it names neither. */
export function contentFormat(headers: IncomingHttpHeaders): Format | undefined {
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType === 'application/json') return 'json'
  if (mediaType === 'application/xml' || mediaType === 'text/xml') return 'xml'
  return undefined
}

function bodyFormat(headers: IncomingHttpHeaders): Format | undefined {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return hasBody ? contentFormat(headers) : undefined
}
