import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listThemes } from '../../../catalogue/sql/reference-lists.js'
import { InFlight } from '../../../kernel/in-flight.js'
import { developersPage } from '../../pages/developers.js'
import { framed } from '../../pages/frame.js'
import { licenceOf } from '../../pages/linked-data.js'
import type { Language } from '../../pages/page.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps, OpenedPortal } from '../deps.js'
import { assetRoutes, codes, frameOf, pageHeaders, unlessAway } from '../pages.js'
import { sendRead } from '../reply.js'

/** `/` and `/developers`; the page for developers is at `/` too before the first release, and without the portal always. */
export function indexRoutes(app: FastifyInstance, deps: ApiDeps, portal: OpenedPortal | undefined): void {
  assetRoutes(app, deps.config.brand)
  const { store, log } = deps
  const { assumed, registration } = deps.config
  const themesOf = () => unlessAway(log, 'the page for developers shows no themes', [], () => listThemes(store.db))
  const drawing = new InFlight<string>()
  const serve = async (request: FastifyRequest, reply: FastifyReply, chosen: Language | undefined, address: string) => {
    const frame = frameOf(deps, request, chosen, address)
    const document = await drawing.get(`${frame.prefix} ${frame.language} ${address}`, async () => {
      const [release, themes] = await Promise.all([deps.releases.live(), themesOf()])
      const licence = release && (await licenceOf(release))
      const view = { ...frame, release, licence }
      return framed(view, await developersPage(view, { themes, assumed, takesAccounts: registration === 'open' }))
    })
    pageHeaders(reply, chosen)
    return await sendRead(request, reply, 'xml', { document, mediaType: 'text/html; charset=utf-8', isPublic: true })
  }
  for (const chosen of [undefined, ...codes]) {
    const prefix = chosen === undefined ? '' : `/${chosen}`
    app.get(`${prefix}/developers`, pageForPeople, (request, reply) =>
      serve(request as FastifyRequest, reply, chosen, '/developers'),
    )
    app.get(prefix || '/', pageForPeople, async (request, reply) => {
      const isReady = portal !== undefined && (await portal.isReady())
      if (!isReady) return await serve(request as FastifyRequest, reply, chosen, '/')
      return await portal.serve(request as FastifyRequest, reply, chosen)
    })
    if (prefix) app.get(`${prefix}/`, pageForPeople, async (_request, reply) => reply.redirect(prefix, 301))
  }
}
