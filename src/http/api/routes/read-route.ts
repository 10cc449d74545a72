import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Format } from '../../../catalogue/wire/write/wire-value.js'
import { Turns } from '../../../kernel/turns.js'
import { clientNetwork } from '../client-network.js'
import type { OpenApiSchema } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation, pathTemplate, type Tag } from '../contract/operation.js'
import type { QueryParameter } from '../contract/parameters.js'
import { atomFeed } from '../contract/schemas.js'
import { requireOrigin } from '../cors.js'
import { keyOf } from '../credentials.js'
import type { CountKey } from '../limits.js'
import { addLogFields } from '../log-fields.js'
import { responseFormat } from '../negotiation.js'
import { type Authenticate, requireScope } from '../operations/authenticate.js'
import { Spoken } from '../operations/spoken.js'
import { queryValue } from '../query.js'
import { type ReadAnswer, sendRead } from '../reply.js'

/** The media type of Atom feeds, in which the API says no charset. */
export const atomMediaType = 'application/atom+xml'

/** What the descriptions of reads at one wildcard differ in. */
export type DescribedRead = Pick<Required<Operation>, 'id' | 'summary' | 'description' | 'path' | 'failures'>

/** A public read: its address, its description, the query parameters it takes beside `api_key`, and its answer. */
export type Read = {
  readonly path: string
  /** Name of the operation in generated clients. */
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: Tag
  readonly parameters?: readonly QueryParameter[]
  /** What it answers with: a schema of `schemas.ts`. */
  readonly schema: OpenApiSchema
  /** Statuses beside those that every read has. */
  readonly failures?: readonly (404 | 410)[]
  /** Where the address has a wildcard: the addresses that it stands for, in place of one description. */
  readonly described?: readonly DescribedRead[]
  /** Whether its XML is an Atom feed, which may be asked for by that name too. */
  readonly atom?: true
  /** Whether the answer has all projects at once, so that clients take turns, and those who wait for the same share one. */
  readonly isLong?: true
  /** Whether its texts are in the languages of `Accept-Language`, where records have those. */
  readonly hasLanguages?: true
  /** `account`: whose key it is; `spoken`: the languages that are asked for. */
  readonly answer: (
    request: FastifyRequest,
    format: Format,
    account: number,
    spoken: Spoken | undefined,
  ) => Promise<ReadAnswer>
}

/** Registers reads, which answer GET and HEAD in both formats; the key is checked before anything else is read. */
export function readRoutes(
  app: FastifyInstance,
  reads: readonly Read[],
  {
    authenticate,
    countKey,
    language,
  }: {
    readonly authenticate: Authenticate
    readonly countKey: CountKey
    /** That of records which name none. */
    readonly language: string
  },
): void {
  const turns = new Turns(2)
  /** Long answers that have not had their turn: who asks for one meanwhile shares it, as new as his own would be. */
  const waiting = new Map<string, Promise<ReadAnswer>>()
  const inTurn = (request: FastifyRequest, what: string, read: () => Promise<ReadAnswer>) => {
    const shared =
      waiting.get(what) ??
      turns.take(clientNetwork(request.ip), () => {
        waiting.delete(what)
        return read()
      })
    waiting.set(what, shared)
    return shared
  }
  for (const read of reads) {
    const { path, parameters = [], atom, isLong = false, hasLanguages = false, answer } = read
    app.get(path, { config: { operations: operationsOf(read) } }, async (request, reply) => {
      const key = await authenticate(keyOf(request))
      addLogFields(request, { account: key.accountId, key: key.id })
      countKey(key.id)
      requireScope(key, 'read')
      requireOrigin(key, request, reply)
      const format = responseFormat(request, atom && [atomMediaType])
      const spoken = hasLanguages ? Spoken.of(request.headers['accept-language'], language) : undefined
      const read = () => answer(request, format, key.accountId, spoken)
      const wanted = () => JSON.stringify([format, path, ...parameters.map((name) => queryValue(request, name))])
      const { version, ...answered } = await (isLong ? inTurn(request, wanted(), read) : read())
      const languages = hasLanguages ? (spoken?.used ?? []) : undefined
      const named = version && version + (spoken?.version ?? '')
      return await sendRead(request, reply, format, { ...answered, version: named, languages })
    })
  }
}

const readHeaders = ['Cache-Control', 'Content-Encoding?', 'ETag', 'Vary'] as const

function operationsOf({ id, summary, description, tag, parameters = [], schema, ...read }: Read): Operation[] {
  const { atom = false, failures = [] } = read
  const { described = [{ id, summary, description, path: pathTemplate(read.path), failures }] } = read
  const headers = [
    ...readHeaders,
    ...(parameters.includes('modifiedSince') ? (['X-Modified-Until?'] as const) : []),
    ...(atom ? (['Link?'] as const) : []),
    ...(read.hasLanguages ? (['Content-Language?'] as const) : []),
  ]
  const answer = atom
    ? { headers, content: { 'application/json': schema, 'application/atom+xml': atomFeed } }
    : { headers, document: schema }
  return described.map((one) => ({
    ...{ ...one, tag, security: 'key', query: parameters, answer, conditional: [304] },
    ...(read.hasLanguages && { hasLanguages: true }),
    failures: [...alwaysPossible, 401, ...one.failures],
  }))
}
