import type { OpenApiSchema } from './openapi-schema.js'
import type { QueryParameter } from './parameters.js'
import type { ErrorStatus, HeaderName } from './responses.js'

export type Tag =
  | 'Accounts'
  | 'Projects'
  | 'Search'
  | 'Organisations'
  | 'Themes and regions'
  | 'Progress reports'
  | 'Donations'
  | 'Published files'
  | 'Service'

/** What an operation sends with a success: the same document in both formats, or content by media type. */
export type DescribedAnswer = {
  readonly description?: string
  /** Headers of the answer; one that ends in `?` may be absent. */
  readonly headers: readonly (HeaderName | `${HeaderName}?`)[]
} & ({ readonly document: OpenApiSchema } | { readonly content: Readonly<Record<string, OpenApiSchema>> })

/**
 * The description of an operation, which stands at its route (`config.operations`): the document served at
 * `/api/openapi.json`, the committed `openapi.json`, the types of the client and the tables of docs/reference/api.md are made of it.
 */
export type Operation = {
  /** Name of the operation in clients that are generated. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: Tag
  /** The described address where the route's own pattern takes several: `/a/{b}`. */
  readonly path?: string
  /** Examples of path parameters, where those of `parameters.ts` lead to nothing here. */
  readonly pathExamples?: Readonly<Record<string, string>>
  /** What it needs: the key, or key and token. */
  readonly security?: 'key' | 'token'
  readonly query?: readonly QueryParameter[]
  /** The body in both formats; `xml.name` is its root. */
  readonly body?: OpenApiSchema
  /** A body that is not ours, by media type. */
  readonly ownBody?: Readonly<Record<string, OpenApiSchema>>
  readonly answer: DescribedAnswer
  /** Other statuses of a conditional request: 304 for a current copy, 412 for one that is not, 206 and 416 for a part of a file. */
  readonly conditional?: readonly (206 | 304 | 412 | 416)[]
  readonly failures: readonly ErrorStatus[]
  /** Answers of these statuses that are not, or not always, an `error_response`. */
  readonly otherAnswers?: Readonly<Record<number, DescribedAnswer>>
}

/** What every operation may answer: a broken request, a defect, too much work. */
export const alwaysPossible = [400, 500, 503] as const satisfies readonly ErrorStatus[]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The descriptions of a route; `[]` where it only answers what does not exist. */
    operations?: readonly Operation[]
  }
}

/** A route's pattern as OpenAPI writes it: `/a/:b` as `/a/{b}`. */
export function pathTemplate(pattern: string): string {
  return pattern.replaceAll(/:(\w+)/g, '{$1}')
}

/** Of routes of the portal: its pages, and what only serves them, are no operations of the API. */
export const pageForPeople = { config: { operations: [] } }
