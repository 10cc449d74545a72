import type { OpenApiSchema } from './openapi-schema.js'
import type { QueryParameter } from './parameters.js'
import type { ErrorStatus, HeaderName } from './responses.js'

/** The groups of operations, with what each is for. */
export const tagDescriptions = {
  Accounts: 'Accounts, their keys and their tokens: what a program needs before its first read or donation.',
  Donations:
    'Gifts to projects, through the client of a payment gateway. They need a key, a token and a grant of the operator.',
  Projects: 'Records of projects: in pages, by identifier, whole or in short. They need a key.',
  Search: 'Active projects by words, themes and countries.',
  Organisations: 'Records of the organisations that carry out projects.',
  'Themes and regions': 'The lists by which projects are sorted, and how many projects each has.',
  'Progress reports': 'What organisations report of their projects, as Atom feeds.',
  'Published files':
    'The open data of the live release: IATI files, tables, feeds and what describes and proves them. They need no key.',
  Service: 'The state of the service, and its own description.',
} as const

export type Tag = keyof typeof tagDescriptions

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
  /** What it does beyond its summary, with an example in words. */
  readonly description: string
  readonly tag: Tag
  /** The described address where the route's own pattern takes several: `/a/{b}`. */
  readonly path?: string
  /** Examples of path parameters, where those of `parameters.ts` lead to nothing here. */
  readonly pathExamples?: Readonly<Record<string, string>>
  /** What it needs: the key, or key and token. */
  readonly security?: 'key' | 'token'
  readonly query?: readonly QueryParameter[]
  /** Whether it looks at `Accept-Language`. */
  readonly hasLanguages?: true
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
