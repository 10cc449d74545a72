import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { ServiceError } from '../../../kernel/errors.js'
import { escapeText } from '../../../kernel/xml/writer.js'
import { icon, iconAddress } from '../../portal/icon.js'
import { framed } from '../../portal/pages/frame.js'
import { type ListQuery, listParameters } from '../../portal/pages/projects.js'
import { type ShownLedger, statusPage } from '../../portal/pages/status.js'
import type { Portal, RenderedPage } from '../../portal/portal.js'
import { script, scriptAddress } from '../../portal/script.js'
import { style, styleAddress } from '../../portal/style.js'
import { type Language, languages } from '../../portal/view.js'
import { isUnchanged } from '../conditional.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { preferredEncoding } from '../encoding.js'
import { nothingHere } from '../errors.js'
import { sendRead } from '../reply.js'
import { isMissingFile, manifestLink, noRelease } from './feeds.js'

/** Our own script and stylesheet, no other host; a form may search here. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Addresses of pages below each language. */
const pagePaths = [
  '/projects',
  '/projects/:id',
  '/organisations/*',
  '/countries/:key',
  '/sectors/:key',
  '/themes/:key',
  '/quality',
  '/changes',
  '/changes/:pair',
] as const

const codes = Object.keys(languages) as Language[]
const shownRuns = 20
const statusSeconds = 5
// The most that the protocol allows in one sitemap.
const sitemapSize = 50_000

/** The portal's pages, in the language of the URL or the browser. */
export function portalRoutes(app: FastifyInstance, deps: ApiDeps, portal: Portal): void {
  for (const code of [undefined, ...codes]) {
    const prefix = code === undefined ? '' : `/${code}`
    for (const path of pagePaths) {
      app.get(
        `${prefix}${path}`,
        pageForPeople,
        async (request, reply) => await servePage(portal, request as FastifyRequest, reply, code),
      )
    }
    app.get(
      `${prefix}/status`,
      pageForPeople,
      async (request, reply) => await serveStatus(deps, request as FastifyRequest, reply, code),
    )
  }
  app.get('/changes.atom', pageForPeople, async (request, reply) =>
    servePage(portal, request as FastifyRequest, reply, 'en', '/changes.atom'),
  )
  app.get('/robots.txt', pageForPeople, async (_request, reply) =>
    reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('link', manifestLink)
      .send(`User-agent: *\nDisallow: /api/\nSitemap: ${deps.config.baseUrl()}/sitemap.xml\n`),
  )
  sitemapRoutes(app, deps, portal)
}

/** The stylesheet and the script, at addresses that change with them. */
export function assetRoutes(app: FastifyInstance): void {
  const serve = (address: string, mediaType: string, text: string) =>
    app.get(address, pageForPeople, async (_request, reply) =>
      reply
        .header('content-type', `${mediaType}; charset=utf-8`)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(text),
    )
  serve(styleAddress, 'text/css', style)
  serve(scriptAddress, 'text/javascript', script)
  serve(iconAddress, 'image/svg+xml', icon)
}

function sitemapRoutes(app: FastifyInstance, { config }: ApiDeps, portal: Portal): void {
  const send = (reply: FastifyReply, text: string) =>
    reply
      .header('content-type', 'application/xml; charset=utf-8')
      .header('cache-control', 'public, no-cache')
      .header('link', manifestLink)
      .send(text)
  const document = (root: string, items: readonly string[]) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${items.join('')}</${root}>\n`
  app.get('/sitemap.xml', pageForPeople, async (_request, reply) => {
    const found = await portal.sitemap(1, sitemapSize)
    if (!found) throw noRelease()
    const items = Array.from(
      { length: found.pages },
      (_, at) =>
        `<sitemap><loc>${escapeText(`${config.baseUrl()}/sitemap-${at + 1}.xml`)}</loc><lastmod>${found.changed}</lastmod></sitemap>\n`,
    )
    return send(reply, document('sitemapindex', items))
  })
  app.get<{ Params: { page: string } }>('/sitemap-:page.xml', pageForPeople, async (request, reply) => {
    const { page } = request.params
    const found = /^[1-9]\d{0,8}$/.test(page) ? await portal.sitemap(Number(page), sitemapSize) : undefined
    if (!found) throw nothingHere(request as FastifyRequest)
    return send(
      reply,
      document(
        'urlset',
        found.paths.map((path) => `<url><loc>${escapeText(`${config.baseUrl()}${path}`)}</loc></url>\n`),
      ),
    )
  })
}

/** Serves a page; `chosen` is the language that the address names. */
export async function servePage(
  portal: Portal,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Language | undefined,
  address = addressOf(request, chosen),
): Promise<FastifyReply> {
  const page = await drawn(portal, request, chosen, address)
  if (page === 'unready') throw noRelease()
  if (!page && !request.headers.accept?.includes('text/html')) throw nothingHere(request)
  if (!page) {
    const wanted = { address, language: chosen ?? languageOf(request), isChosen: chosen !== undefined }
    return pageHeaders(reply.code(404), chosen)
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(portal.notFound(wanted))
  }
  return await sendPage(request, reply, page, chosen)
}

async function drawn(
  portal: Portal,
  request: FastifyRequest,
  chosen: Language | undefined,
  address: string,
  again = true,
): Promise<RenderedPage | 'unready' | undefined> {
  const query = listQueryOf(request)
  try {
    return await portal.page({
      address,
      query,
      language: chosen ?? languageOf(request),
      isChosen: chosen !== undefined,
    })
  } catch (error) {
    // A sweep removed the release while the page was drawn; the second try draws it from the new one.
    if (!isMissingFile(error) || !again) throw error
    return await drawn(portal, request, chosen, address, false)
  }
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: RenderedPage,
  chosen: Language | undefined,
): Promise<FastifyReply> {
  const zipped = preferredEncoding(request.headers['accept-encoding']) === 'gzip'
  const validators = {
    identityTag: `"${page.tag}"`,
    gzipTag: `"${page.tag}-gz"`,
    lastModified: new Date(page.generated).toUTCString(),
  }
  pageHeaders(reply, chosen)
    .header('content-type', page.mediaType)
    .header('cache-control', 'public, no-cache')
    .header('etag', zipped ? validators.gzipTag : validators.identityTag)
    .header('last-modified', validators.lastModified)
    .header('x-release', page.release)
  if (isUnchanged(request.headers, validators)) return reply.code(304).send()
  if (zipped) reply.header('content-encoding', 'gzip')
  return reply.send(zipped ? await page.gzip() : page.identity)
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

function addressOf(request: FastifyRequest, chosen: Language | undefined): string {
  const path = request.url.split('?', 1)[0] ?? '/'
  if (chosen === undefined) return path
  // The router decodes a path, so `/%65n` leads here too; a page has one address.
  if (!path.startsWith(`/${chosen}`)) throw nothingHere(request)
  return path.slice(chosen.length + 1) || '/'
}

function listQueryOf(request: FastifyRequest): ListQuery {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  return Object.fromEntries(
    listParameters.flatMap((name) => (query.get(name) ? [[name, query.get(name)?.slice(0, 200)]] : [])),
  )
}

async function serveStatus(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Language | undefined,
): Promise<FastifyReply> {
  const [release, ledger] = await Promise.all([deps.releases.live(), readLedger(deps)])
  const view = { ...frameOf(deps, request, chosen, '/status'), release }
  const document = framed(view, statusPage(view, ledger))
  pageHeaders(reply, chosen)
  const mediaType = 'text/html; charset=utf-8'
  return await sendRead(request, reply, 'xml', { document, mediaType, isPublic: true, freshSeconds: statusSeconds })
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
    ...{ language, words: languages[language], prefix: chosen ? `/${chosen}` : '', address },
    ...{ baseUrl: config.baseUrl(), publisherName: config.publisherName },
  }
}
