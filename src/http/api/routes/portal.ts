import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ServiceError } from '../../../kernel/errors.js'
import { InFlight } from '../../../kernel/in-flight.js'
import { framed } from '../../pages/frame.js'
import { html } from '../../pages/html.js'
import { licenceOf } from '../../pages/linked-data.js'
import { type Asset, type Brand, type Language, to, withColon } from '../../pages/page.js'
import { script, scriptAddress } from '../../pages/script.js'
import { languages } from '../../pages/words/words.js'
import { groupPages } from '../../portal/pages/group.js'
import { listParameters } from '../../portal/pages/projects.js'
import { type ShownLedger, statusPage } from '../../portal/pages/status.js'
import { yearsParameters } from '../../portal/pages/years.js'
import type { PageParameters, Portal, RenderedPage } from '../../portal/portal.js'
import { afterSweep } from '../after-sweep.js'
import { clientNetwork } from '../client-network.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { preferredEncoding } from '../encoding.js'
import { nothingHere, retryAfterSeconds, sendError, sendUnrouted } from '../errors.js'
import { respond, sendRead } from '../reply.js'
import { manifestLink, noRelease } from './feeds.js'

/** Our own script and stylesheet, no other host; a form may search here. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Addresses of pages below each language. */
const pagePaths = [
  '/projects',
  '/projects/:id',
  '/projects/:id/why',
  '/organisations',
  '/organisations/*',
  '/countries',
  '/countries/:key',
  '/sectors',
  '/sectors/:key',
  '/themes',
  '/themes/:key',
  '/years',
  '/data',
  '/quality',
  '/changes',
  '/changes/:pair',
] as const

const codes = Object.keys(languages) as Language[]
/** Of what has another address when it changes. */
const immutable = 'public, max-age=31536000, immutable'

const shownRuns = 20
const statusSeconds = 5

/** The portal's pages, in the language of the URL or the browser. */
export function portalRoutes(app: FastifyInstance, deps: ApiDeps, portal: Portal): void {
  const drawing = new InFlight<string>()
  const serve = (path: string, answer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.get(path, pageForPeople, async (request, reply) => await answer(request as FastifyRequest, reply))
  for (const code of [undefined, ...codes]) {
    const prefix = code === undefined ? '' : `/${code}`
    for (const path of pagePaths) {
      serve(prefix + path, (request, reply) => servePage(deps, portal, request, reply, code))
    }
    serve(`${prefix}/status`, (request, reply) => serveStatus(deps, drawing, request, reply, code))
  }
  const files = [...groupPages, 'months', 'years'].map((name) => `/${name}.csv`)
  for (const file of ['/changes.atom', ...files, '/years.json']) {
    serve(file, (request, reply) => servePage(deps, portal, request, reply, 'en', file))
  }
  for (const form of ['csv', 'json'] as const) {
    serve(`/projects.${form}`, (request, reply) => serveList(portal, request, reply, form))
  }
  serve('/robots.txt', async (_request, reply) =>
    reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('link', manifestLink)
      .send(`User-agent: *\nDisallow: /api/\nSitemap: ${deps.config.baseUrl()}/sitemap.xml\n`),
  )
  for (const path of ['/sitemap.xml', '/sitemap-:page.xml']) {
    serve(path, (request, reply) => servePage(deps, portal, request, reply, 'en', request.url.split('?', 1)[0]))
  }
}

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

/** Serves a page; `chosen` is the language that the address names. */
export async function servePage(
  deps: ApiDeps,
  portal: Portal,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Language | undefined,
  address = addressOf(request, chosen),
): Promise<FastifyReply> {
  const shorter = address.endsWith('/') ? withoutEndSlashes(request) : undefined
  if (shorter !== undefined) return reply.redirect(shorter, 301)
  const query = listQueryOf(request)
  const language = chosen ?? languageOf(request)
  const client = clientNetwork(request.ip)
  const page = await afterSweep(() => portal.page({ address, query, language, isChosen: chosen !== undefined, client }))
  if (!page) return sendNothingHere(deps, request, reply, chosen)
  if (page === 'unready') throw noRelease()
  return await sendPage(request, reply, page, chosen)
}

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
function withoutEndSlashes({ url }: FastifyRequest): string | undefined {
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
  const view = { ...frameOf(deps, request, chosen, '/'), hasPortal: deps.config.portal }
  const way = deps.config.portal
    ? { page: 'projects', name: view.words.nav.projects }
    : { page: 'developers', name: view.words.nav.developers }
  const main = html`<h1>${title}</h1><p>${note}</p>
<p><a href="${to(view, way.page)}">${way.name}</a></p>`
  return pageHeaders(reply, chosen)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .send(framed(view, { title, description: note, isUnlisted: true, main }))
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: RenderedPage,
  chosen: Language | undefined,
): Promise<FastifyReply> {
  pageHeaders(reply, chosen).header('cache-control', 'public, no-cache').header('x-release', page.release)
  const { tag, mediaType, identity, gzip } = page
  const lastModified = new Date(page.generated)
  return await respond(request, reply, { tag, lastModified, mediaType, body: () => identity, gzip })
}

/** The headers of every page for people. */
export function pageHeaders(reply: FastifyReply, chosen: Language | undefined): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .header('link', manifestLink)
    .header('vary', chosen ? 'Accept-Encoding' : 'Accept-Language, Accept-Encoding')
}

/** The best language of `Accept-Language`; English when it names none of ours. */
function languageOf(request: FastifyRequest): Language {
  return (new Negotiator(request.raw).language(codes) as Language | undefined) ?? 'en'
}

/** Serves all projects of a list, in chunks as its reader takes them. */
async function serveList(portal: Portal, request: FastifyRequest, reply: FastifyReply, form: 'csv' | 'json') {
  const list = await portal.projectList(form, listQueryOf(request), clientNetwork(request.ip))
  if (!list) throw noRelease()
  const { tag, generated, text } = list
  reply
    .header('content-disposition', `inline; filename="projects.${form}"`)
    .header('cache-control', 'public, no-cache')
    .header('link', manifestLink)
  const body = () => Readable.from(text, { objectMode: false })
  const [lastModified, mediaType] = [new Date(generated), listTypes[form]]
  return await respond(request, reply, { tag, lastModified, mediaType, body })
}

const listTypes = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json; charset=utf-8' } as const

function addressOf(request: FastifyRequest, chosen: Language | undefined): string {
  const path = request.url.split('?', 1)[0] ?? '/'
  if (chosen === undefined) return path
  // The router decodes a path, so `/%65n` leads here too; a page has one address.
  if (!path.startsWith(`/${chosen}`)) throw nothingHere(request)
  return path.slice(chosen.length + 1) || '/'
}

function listQueryOf(request: FastifyRequest): PageParameters {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  return Object.fromEntries(
    [...listParameters, ...yearsParameters].flatMap((name) =>
      query.get(name) ? [[name, query.get(name)?.slice(0, 200)]] : [],
    ),
  )
}

async function serveStatus(
  deps: ApiDeps,
  drawing: InFlight<string>,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Language | undefined,
): Promise<FastifyReply> {
  const frame = frameOf(deps, request, chosen, '/status')
  const document = await drawing.get(`${frame.prefix} ${frame.language}`, () => drawStatus(deps, frame))
  pageHeaders(reply, chosen)
  const mediaType = 'text/html; charset=utf-8'
  return await sendRead(request, reply, 'xml', { document, mediaType, isPublic: true, freshSeconds: statusSeconds })
}

async function drawStatus(deps: ApiDeps, frame: ReturnType<typeof frameOf>): Promise<string> {
  const [release, ledger] = await Promise.all([deps.releases.live(), readLedger(deps)])
  const view = { ...frame, release, licence: release && (await licenceOf(release)) }
  return framed(view, statusPage(view, ledger))
}

/** The page is answered without the database too. */
async function readLedger({ listRuns, nextRun, log }: ApiDeps): Promise<ShownLedger> {
  try {
    const [runs, next] = await Promise.all([listRuns(shownRuns), nextRun()])
    return { runs, nextRun: next }
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, 'the status page shows no runs')
    return undefined
  }
}

/** What the frame of a page needs that is not drawn from a release. */
export function frameOf({ config }: ApiDeps, request: FastifyRequest, chosen: Language | undefined, address: string) {
  const language = chosen ?? languageOf(request)
  return {
    ...{ language, words: config.brand.words[language], prefix: chosen ? `/${chosen}` : '', address },
    ...{ baseUrl: config.baseUrl(), publisherName: config.publisherName, brand: config.brand },
    contact: config.contact,
  }
}
