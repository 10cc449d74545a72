import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { themeListPaths } from '../../feeds/addresses.js'
import { listThemes } from '../../store/catalogue/reference-lists.js'
import type { ApiDeps } from '../deps.js'
import { sendRead } from '../reply.js'
import { themesDocument } from '../representations/reference-lists.js'

/** `/themes.xml` and `/themes.json`: the document of the API's list of themes. */
export function themeListRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  for (const format of ['xml', 'json'] as const) {
    app.get(themeListPaths[format], async (request, reply) => {
      const document = themesDocument(format, await listThemes(store.db))
      return sendRead(request as FastifyRequest, reply as FastifyReply, format, { document })
    })
  }
}
