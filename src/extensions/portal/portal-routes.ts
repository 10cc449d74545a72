import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { donationOptionsOf } from '../../catalogue/sql/donation-options.js'
import { organisationGraphs } from '../../catalogue/sql/organisations.js'
import { afterSweep } from '../../http/api/after-sweep.js'
import { clientNetwork } from '../../http/api/client-network.js'
import { pageForPeople } from '../../http/api/contract/operation.js'
import type { ApiDeps, OpenedPortal, OpenPortal } from '../../http/api/deps.js'
import { nothingHere } from '../../http/api/errors.js'
import {
  codes,
  frameOf,
  languageOf,
  pageHeaders,
  sendNothingHere,
  unlessAway,
  withoutEndSlashes,
} from '../../http/api/pages.js'
import { respond, sendRead } from '../../http/api/reply.js'
import { manifestLink, noRelease } from '../../http/api/routes/feeds.js'
import { framed } from '../../http/pages/frame.js'
import { licenceOf } from '../../http/pages/linked-data.js'
import type { Language } from '../../http/pages/page.js'
import { demoPath } from '../../iati/addresses.js'
import { InFlight } from '../../kernel/in-flight.js'
import { groupPages } from './pages/group.js'
import { listParameters } from './pages/projects.js'
import { statusPage } from './pages/status.js'
import { yearsParameters } from './pages/years.js'
import { type PageParameters, Portal } from './portal.js'
import type { Gifts } from './view.js'

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

const shownRuns = 20
const statusSeconds = 5

/** Opens the portal, with its routes. */
export function openPortal(...[app, deps]: Parameters<OpenPortal>): OpenedPortal {
  const { config, releases, readIndex, turns, takesSubscriptions, explain } = deps
  const site = { ...config, takesSubscriptions, explain, gifts: giftsOf(deps) }
  const portal = new Portal(releases, readIndex, turns, site)
  portalRoutes(app, deps, portal)
  let stop = () => {}
  app.addHook('onListen', async () => {
    stop = portal.openAhead()
  })
  app.addHook('onClose', async () => stop())
  return {
    isReady: () => portal.isReady(),
    serve: (...asked) => servePage(deps, portal, ...asked),
    addressOfDemo: (kind, name) => addressOfDemo(deps, portal, kind, name),
  }
}

/** What gifts do, of the store; none while that is away, since pages need no database. */
function giftsOf({ reads, payments, log }: ApiDeps): Gifts {
  const optionsOf = async (project: number) => {
    try {
      return await donationOptionsOf(reads.db, project)
    } catch (err) {
      log.warn({ err, project }, 'a page of a project shows no donation options')
      return []
    }
  }
  return { currency: payments.currency, optionsOf }
}

/** The portal's pages, in the language of the URL or the browser. */
function portalRoutes(app: FastifyInstance, deps: ApiDeps, portal: Portal): void {
  const { releases, listRuns, nextRun, log } = deps
  const drawing = new InFlight<string>()
  const readLedger = async () => {
    const [runs, next] = await Promise.all([listRuns(shownRuns), nextRun()])
    return { runs, nextRun: next }
  }
  const serveStatus = async (request: FastifyRequest, reply: FastifyReply, chosen: Language | undefined) => {
    const frame = frameOf(deps, request, chosen, '/status')
    const document = await drawing.get(`${frame.prefix} ${frame.language}`, async () => {
      const ledgerIfThere = unlessAway(log, 'the status page shows no runs', undefined, readLedger)
      const [release, ledger] = await Promise.all([releases.live(), ledgerIfThere])
      const view = { ...frame, release, licence: release && (await licenceOf(release)) }
      return framed(view, statusPage(view, ledger))
    })
    pageHeaders(reply, chosen)
    const mediaType = 'text/html; charset=utf-8'
    return await sendRead(request, reply, 'xml', { document, mediaType, isPublic: true, freshSeconds: statusSeconds })
  }
  const serve = (path: string, answer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.get(path, pageForPeople, async (request, reply) => await answer(request as FastifyRequest, reply))
  for (const code of [undefined, ...codes]) {
    const prefix = code === undefined ? '' : `/${code}`
    for (const path of pagePaths) {
      serve(prefix + path, (request, reply) => servePage(deps, portal, request, reply, code))
    }
    serve(`${prefix}/status`, (request, reply) => serveStatus(request, reply, code))
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

/** Serves a page; `chosen` is the language that the address names. */
async function servePage(
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
  pageHeaders(reply, chosen).header('cache-control', 'public, no-cache').header('x-release', page.release)
  const { tag, mediaType, identity, gzip } = page
  const lastModified = new Date(page.generated)
  return await respond(request, reply, { tag, lastModified, mediaType, body: () => identity, gzip })
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

/** The page of the portal that an address of the demo leads to. */
async function addressOfDemo(
  { store, log }: ApiDeps,
  portal: Portal,
  kind: string,
  name: string,
): Promise<string | undefined> {
  if (kind !== 'organizations') {
    const project = await portal.projectOfPage(`${demoPath}/projects/${name}/`)
    return project === undefined ? undefined : `/projects/${project}`
  }
  if (!/^\d{1,15}$/.test(name)) return undefined
  const graphs = () => organisationGraphs(store.db, [Number(name)])
  const [graph] = await unlessAway(log, 'the page of a demo organisation is not found', [], graphs)
  const key = graph && (await portal.partnerNamed(graph.organisation.name))
  return key === undefined ? undefined : `/organisations/${encodeURIComponent(key)}`
}
