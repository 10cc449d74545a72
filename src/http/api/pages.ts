import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ServiceError } from '../../kernel/errors.js'
import type { Log } from '../../platform/observability/log.js'
import { framed } from '../pages/frame.js'
import { html } from '../pages/html.js'
import { type Asset, type Brand, type Language, to, withColon } from '../pages/page.js'
import { script, scriptAddress } from '../pages/script.js'
import { languages } from '../pages/words/words.js'
import { pageForPeople } from './contract/operation.js'
import type { ApiDeps } from './deps.js'
import { preferredEncoding } from './encoding.js'
import { retryAfterSeconds, sendError, sendUnrouted } from './errors.js'
import { manifestLink } from './routes/feeds.js'

/** Our own script and stylesheet, no other host; a form may search here. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The languages of pages. */
export const codes = Object.keys(languages) as Language[]
/** Of what has another address when it changes. */
const immutable = 'public, max-age=31536000, immutable'

/** The stylesheet, the script and the logo of all pages, at addresses that change with them. */
export function assetRoutes(app: FastifyInstance, { style, logo }: Brand): void {
  const serve = ({ address, mediaType, bytes }: Asset) => {
    const isText = typeof bytes === 'string'
    const zipped = isText ? gzipSync(bytes) : undefined
    app.get(address, pageForPeople, async (request, reply) => {
      const sent = preferredEncoding(request.headers['accept-encoding']) === 'gzip' ? zipped : undefined
      if (sent) reply.header('content-encoding', 'gzip')
      return reply
        .header('content-type', isText ? `${mediaType}; charset=utf-8` : mediaType)
        .header('cache-control', immutable)
        .header('vary', 'Accept-Encoding')
        .send(sent ?? bytes)
    })
  }
  for (const one of [style, ...(logo ? [logo] : [])]) serve(one)
  serve({ address: scriptAddress, mediaType: 'text/javascript', bytes: script })
}

const maxRedirectLength = 2_048

/**
 * Answers a failure: where nothing is, or nothing was published yet, a page for who asks for HTML; the API's error for others
 * and from operations of the API.
 */
export function sendFailure(deps: ApiDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { operations = [] } = request.routeOptions.config
  const code = error instanceof ServiceError && operations.length === 0 && isForPeople(request) ? error.code : undefined
  if (code === 'not-found') return sendNothingHere(deps, request, reply)
  if (code !== 'release-missing') return sendError(error, request, reply)
  const chosen = chosenIn(request)
  const language = chosen ?? languageOf(request)
  const { openData, developers } = deps.config.brand.words[language]
  reply.code(503).header('retry-after', String(retryAfterSeconds))
  const title = `${withColon({ language }, deps.config.publisherName)} ${openData}`
  return sendNotice(deps, request, reply, chosen, title, developers.nothing)
}

function chosenIn({ url }: FastifyRequest): Language | undefined {
  return codes.find((code) => url.startsWith(`/${code}/`))
}

/** The address of a request without slashes at its end; undefined where it has none, or nothing else. */
export function withoutEndSlashes({ url }: FastifyRequest): string | undefined {
  // The answer's header can be three times as long, since signs are encoded in it; clients refuse more than 16 KB.
  if (url.length > maxRedirectLength) return undefined
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  let end = path.length
  while (path[end - 1] === '/') end--
  // What begins with two slashes is an address of another host.
  const isOwn = end > 1 && path[1] !== '/' && path[1] !== '\\'
  return isOwn && end < path.length ? path.slice(0, end) + url.slice(path.length) : undefined
}

/** Answers 404, or leads to the address without a slash at its end: a page for who asks for HTML. */
export function sendNothingHere(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen = chosenIn(request),
): FastifyReply {
  if (!isForPeople(request)) return sendUnrouted(request, reply)
  const shorter = withoutEndSlashes(request)
  if (shorter !== undefined) return reply.redirect(shorter, 301)
  const { notFound, notFoundNote } = deps.config.brand.words[chosen ?? languageOf(request)]
  return sendNotice(deps, request, reply.code(404), chosen, notFound, notFoundNote)
}

function isForPeople({ method, url, headers }: FastifyRequest): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    !/^\/api(?:[/?]|$)/.test(url) &&
    headers.accept?.includes('text/html') === true
  )
}

/** A page that says one thing, with the way to the others. */
function sendNotice(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Language | undefined,
  title: string,
  note: string,
): FastifyReply {
  const view = frameOf(deps, request, chosen, '/')
  const way = view.hasPortal
    ? { page: 'projects', name: view.words.nav.projects }
    : { page: 'developers', name: view.words.nav.developers }
  const main = html`<h1>${title}</h1><p>${note}</p>
<p><a href="${to(view, way.page)}">${way.name}</a></p>`
  return pageHeaders(reply, chosen)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .send(framed(view, { title, description: note, isUnlisted: true, main }))
}

/** The headers of every page for people. */
export function pageHeaders(reply: FastifyReply, chosen: Language | undefined): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .header('link', manifestLink)
    .header('vary', chosen ? 'Accept-Encoding' : 'Accept-Language, Accept-Encoding')
}

/** The best language of `Accept-Language`; English when it names none of ours. */
export function languageOf(request: FastifyRequest): Language {
  return (new Negotiator(request.raw).language(codes) as Language | undefined) ?? 'en'
}

/** What the frame of a page needs that is not drawn from a release. */
export function frameOf(
  { config, openPortal }: ApiDeps,
  request: FastifyRequest,
  chosen: Language | undefined,
  address: string,
) {
  const language = chosen ?? languageOf(request)
  return {
    ...{ language, words: config.brand.words[language], prefix: chosen ? `/${chosen}` : '', address },
    ...{ baseUrl: config.baseUrl(), publisherName: config.publisherName, brand: config.brand },
    ...{ contact: config.contact, hasPortal: openPortal !== undefined },
  }
}

/** What the database says to a page, or `absent` while it is away: pages are answered without it too. */
export async function unlessAway<T>(log: Log, told: string, absent: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, told)
    return absent
  }
}
