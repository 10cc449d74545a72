import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import Negotiator from 'negotiator'
import type { Format } from '../../catalogue/wire/write/wire-value.js'

/** Media types of the two formats, without parameters: old clients compare the whole header (wire.md 1.1). */
export const mediaTypes: Readonly<Record<Format, string>> = { xml: 'application/xml', json: 'application/json' }

// Routing does not see the suffix, so it is kept on the request (a WeakMap costs more than routing).
const suffixFormat = Symbol('format that the path ends in')
type Suffixed = IncomingMessage & { [suffixFormat]?: Format }

/**
 * The URL to route: under `/api/` without trailing or doubled slashes and without the suffix `.json` or `.xml`, in any letter
 * case, which overrides `Accept` (wire.md 1.1). Other URLs stay as they are.
 */
export function rewriteApiUrl(request: Suffixed): string {
  const url = originForm(request.url ?? '/')
  if (!underApi.test(url)) return url
  const queryStart = url.indexOf('?')
  const query = queryStart < 0 ? '' : url.slice(queryStart)
  let path = withoutTrailingSlashes(queryStart < 0 ? url : url.slice(0, queryStart))
  if (path.includes('//')) path = path.replace(/\/{2,}/g, '/')
  const suffix = formatSuffix.exec(path)
  if (suffix) {
    request[suffixFormat] = suffix[1]?.toLowerCase() === 'json' ? 'json' : 'xml'
    path = withoutTrailingSlashes(path.slice(0, suffix.index))
  }
  return path + query
}

// Clients whose base address ends in a slash write two.
const underApi = /^\/+api\//
const formatSuffix = /\.(json|xml)$/i

// RFC 9112 3.2.2: a server accepts the absolute form too. No form has a fragment: the router leaves it out, so all others do.
function originForm(url: string): string {
  const [target = ''] = url.split('#', 1)
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '') || '/'
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (path.charCodeAt(end - 1) === 0x2f) end--
  return path.slice(0, end)
}

/**
 * The format of the answer: the path's suffix, else the best supported type of `Accept` (nothing supported: XML), else
 * (no `Accept`, or one that leaves the choice open) the format of the request body, else XML. `alsoXml`: further types
 * that ask for XML.
 */
export function responseFormat(
  request: { readonly raw: Suffixed; readonly headers: IncomingHttpHeaders },
  alsoXml: readonly string[] = [],
): Format {
  const suffix = request.raw[suffixFormat]
  if (suffix) return suffix
  const open = bodyFormat(request.headers) ?? 'xml'
  const accept = request.headers.accept
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return open
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept).toLowerCase() } })
  // `*/*` accepts the type that the answer has, not its other names: `application/xml;q=0, */*` refuses XML.
  const named = negotiator.mediaTypes()
  const offer = ([type = '', ...others]: readonly string[]) => [
    type,
    ...others.filter((name) => named.includes(name) || (name.startsWith('text/') && named.includes('text/*'))),
  ]
  const xml = offer([...alsoXml, ...xmlTypes])
  const json = offer(jsonTypes)
  // Without a preference of the client the first of these wins.
  const best = negotiator.mediaType(open === 'json' ? [...json, ...xml] : [...xml, ...json])
  return best !== undefined && jsonTypes.includes(best) ? 'json' : 'xml'
}

const jsonTypes = ['application/json', 'text/json']
const xmlTypes = ['application/xml', 'text/xml']

// Parameters other than the weight do not count: `application/json; charset=utf-8` asks for JSON.
function withoutParameters(accept: string): string {
  if (!accept.includes(';')) return accept
  return accept.replace(/;(?!\s*q\s*=)[^;,"=]+(?:=(?:"[^"]*"|[^;,"]*))?/gi, '')
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
