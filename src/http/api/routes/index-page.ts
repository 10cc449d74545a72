import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listThemes } from '../../../catalogue/sql/reference-lists.js'
import { ServiceError } from '../../../kernel/errors.js'
import { InFlight } from '../../../kernel/in-flight.js'
import type { ThemeRecord } from '../../../kernel/record.js'
import { developersPage } from '../../pages/developers.js'
import { framed } from '../../pages/frame.js'
import { licenceOf } from '../../pages/linked-data.js'
import type { Language } from '../../pages/page.js'
import { languages } from '../../pages/words/words.js'
import type { Portal } from '../../portal/portal.js'
import { pageForPeople } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { sendRead } from '../reply.js'
import { assetRoutes, frameOf, pageHeaders, servePage } from './portal.js'

/** `/` and `/developers`; the page for developers is at `/` too before the first release, and without the portal always. */
export function indexRoutes(app: FastifyInstance, deps: ApiDeps, portal: Portal | undefined): void {
  assetRoutes(app, deps.config.brand)
  const { assumed, registration } = deps.config
  const drawing = new InFlight<string>()
  const serve = async (request: FastifyRequest, reply: FastifyReply, chosen: Language | undefined, address: string) => {
    const frame = frameOf(deps, request, chosen, address)
    const document = await drawing.get(`${frame.prefix} ${frame.language} ${address}`, async () => {
      const [release, themes] = await Promise.all([deps.releases.live(), themesOf(deps)])
      const licence = release && (await licenceOf(release))
      const view = { ...frame, release, licence, hasPortal: portal !== undefined }
      return framed(view, await developersPage(view, { themes, assumed, takesAccounts: registration === 'open' }))
    })
    pageHeaders(reply, chosen)
    return await sendRead(request, reply, 'xml', { document, mediaType: 'text/html; charset=utf-8', isPublic: true })
  }
  for (const chosen of [undefined, ...(Object.keys(languages) as Language[])]) {
    const prefix = chosen === undefined ? '' : `/${chosen}`
    app.get(`${prefix}/developers`, pageForPeople, (request, reply) =>
      serve(request as FastifyRequest, reply, chosen, '/developers'),
    )
    app.get(prefix || '/', pageForPeople, async (request, reply) => {
      const isReady = portal !== undefined && (await portal.isReady())
      if (!isReady) return await serve(request as FastifyRequest, reply, chosen, '/')
      return await servePage(deps, portal, request as FastifyRequest, reply, chosen)
    })
    if (prefix) app.get(`${prefix}/`, pageForPeople, async (_request, reply) => reply.redirect(prefix, 301))
  }
}

// The page is answered without the database too.
async function themesOf({ store, log }: ApiDeps): Promise<readonly ThemeRecord[]> {
  try {
    return await listThemes(store.db)
  } catch (err) {
    if (!(err instanceof ServiceError && err.code === 'database-unavailable')) throw err
    log.warn({ err }, 'the page for developers shows no themes')
    return []
  }
}
