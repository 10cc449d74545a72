import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Format } from '../../wire/write/wire-value.js'
import { requireOrigin } from '../cors.js'
import type { CountKey } from '../limits.js'
import { addLogFields } from '../log-fields.js'
import { responseFormat } from '../negotiation.js'
import { type Authenticate, requireScope } from '../operations/authenticate.js'
import { queryValue } from '../query.js'
import { type ReadAnswer, sendRead } from '../reply.js'

/** Query parameters of reads and their meaning; `query.ts` parses them. */
export const readParameters = {
  nextProjectId: 'Identifier of the first project of the page: an inclusive lower bound.',
  nextOrgId: 'Identifier of the first organisation of the page: an inclusive lower bound.',
  limit: 'Records of the page, 1 to 100; 10 when absent.',
  modifiedSince: 'Only records that changed at this instant (RFC 3339) or later.',
  projectIds: 'At most 10 project identifiers, separated by commas.',
  q: 'Words to search for, at most 32 and 500 characters; * for everything.',
  start: 'Number of the first hit, from 0.',
  filter: 'Pairs such as theme:edu,country:IN.',
  theme: 'Only organisations that work on this theme.',
  country: 'Only organisations that work in this country (two letters).',
} as const

/** A public read: its address, what it is, the query parameters it takes beside `api_key`, and its answer. */
export type Read = {
  readonly path: string
  readonly summary: string
  readonly tag: 'Projects' | 'Search' | 'Organisations' | 'Themes and regions' | 'Progress reports'
  readonly parameters?: readonly (keyof typeof readParameters)[]
  /** Media types that ask for XML beside its own. */
  readonly alsoXml?: readonly string[]
  /** `account`: whose key it is. */
  readonly answer: (request: FastifyRequest, format: Format, account: number) => Promise<ReadAnswer>
}

/** Registers reads, which answer GET and HEAD in both formats; the key is checked before anything else is read. */
export function readRoutes(
  app: FastifyInstance,
  reads: readonly Read[],
  { authenticate, countKey }: { readonly authenticate: Authenticate; readonly countKey: CountKey },
): void {
  for (const { path, summary, tag, parameters = [], alsoXml, answer } of reads) {
    app.get(
      path,
      { schema: { summary, tags: [tag], querystring: querySchema(parameters) } },
      async (request, reply) => {
        const key = await authenticate(queryValue(request, 'api_key'))
        addLogFields(request, { account: key.accountId, key: key.id })
        countKey(key.id)
        requireScope(key, 'read')
        requireOrigin(key, request, reply)
        const format = responseFormat(request, alsoXml)
        return sendRead(request, reply, format, await answer(request, format, key.accountId))
      },
    )
  }
}

function querySchema(parameters: readonly (keyof typeof readParameters)[]) {
  const properties = Object.fromEntries(
    parameters.map((name) => [name, { type: 'string', description: readParameters[name] }]),
  )
  return {
    type: 'object',
    required: ['api_key', ...parameters.filter((name) => name === 'q' || name === 'projectIds')],
    properties: { api_key: { type: 'string', description: 'The key that was issued to the API user.' }, ...properties },
  }
}
