import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listThemes } from '../../../catalogue/sql/reference-lists.js'
import type { Format } from '../../../catalogue/wire/write/wire-value.js'
import { themeListPaths } from '../../../iati/addresses.js'
import { objectOf, ref } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { sendRead } from '../reply.js'
import { themesDocument } from '../representations/reference-lists.js'

const described = { tag: 'Themes and regions', conditional: [304], failures: alwaysPossible } as const
const description = 'The list of the operation listThemes. For example, a form for searches offers them.'
const headers = ['Cache-Control', 'Content-Encoding?', 'ETag', 'Vary'] as const
const operations: Readonly<Record<Format, Operation>> = {
  xml: {
    ...{ ...described, id: 'getThemesXml', summary: 'Themes in XML, without a key' },
    description,
    answer: { headers, content: { 'application/xml': ref('Themes') } },
  },
  json: {
    ...{ ...described, id: 'getThemesJson', summary: 'Themes in JSON, without a key' },
    description,
    answer: { headers, content: { 'application/json': objectOf({ themes: ref('Themes') }) } },
  },
}

/** `/themes.xml` and `/themes.json`: the document of the API's list of themes. */
export function themeListRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  for (const format of ['xml', 'json'] as const) {
    app.get(themeListPaths[format], { config: { operations: [operations[format]] } }, async (request, reply) => {
      const document = themesDocument(format, await listThemes(store.db))
      return sendRead(request as FastifyRequest, reply as FastifyReply, format, { document })
    })
  }
}
