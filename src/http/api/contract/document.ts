import { readFileSync } from 'node:fs'
import { type OpenApiSchema, ref, rootOf } from './openapi-schema.js'
import { type DescribedAnswer, type Operation, pathTemplate, tagDescriptions } from './operation.js'
import { pathParameters, queryParameters } from './parameters.js'
import { type FailureStatus, failures, type HeaderName, headers, headersOfFailure } from './responses.js'
import { schemas } from './schemas.js'

/** A described operation with the method and pattern of its route. */
export type RoutedOperation = { readonly method: string; readonly route: string; readonly operation: Operation }

type Example = { readonly xml: string; readonly json: string }

/** Real answers by operation (`GET /api/...`) and by status of errors: the golden documents of the tests. */
const examples = JSON.parse(readFileSync(new URL('../examples/answers.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Example>
>

const description = `Every operation below /api answers in XML and JSON, which say the same. The format is that of .xml or .json at the end of its address, else of Accept, else of the request's body, else XML. HEAD answers as GET does, without a body; OPTIONS answers any origin. Clients must ignore fields that they do not know, since fields may be added; nothing is removed, renamed, retyped or made required.

Every answer also has the headers of its transport (Content-Length or Transfer-Encoding, Date, Connection) and of CORS (Access-Control-Allow-Origin: *, Access-Control-Expose-Headers). Those of browser security are Content-Security-Policy, Cross-Origin-Resource-Policy, Referrer-Policy, X-Content-Type-Options and, where the service has HTTPS, Strict-Transport-Security.`

/** The description of all operations as OpenAPI 3.1. */
export function openApiDocument(
  operations: readonly RoutedOperation[],
  { publisher, url }: { readonly publisher: string; readonly url: string },
) {
  const paths: Record<string, Record<string, object>> = {}
  for (const routed of operations) {
    const path = pathOf(routed)
    paths[path] = { ...paths[path], [routed.method.toLowerCase()]: operationObject(routed, path) }
  }
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: `API of ${publisher}`, version: '1', description },
      contact: { name: publisher, url },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    tags: [...new Set(operations.map(({ operation }) => operation.tag))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths,
    components: {
      securitySchemes: {
        api_key: { type: 'apiKey', in: 'query', name: 'api_key', description: 'A key of an account.' },
        api_token: { type: 'apiKey', in: 'query', name: 'api_token', description: 'A token of that key.' },
        key_header: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'The same key as a header.' },
        token_header: { type: 'http', scheme: 'bearer', description: 'The same token as a header.' },
      },
      parameters: {
        ...Object.fromEntries(
          Object.entries(queryParameters).map(([name, parameter]) => [name, { name, in: 'query', ...parameter }]),
        ),
        acceptLanguage: {
          ...{ name: 'Accept-Language', in: 'header', schema: { type: 'string' }, example: 'fr, en;q=0.5' },
          description:
            'Texts of records in the first of these languages that they have (RFC 9110 12.5.4); without it, and else, in their own.',
        },
      },
      responses: Object.fromEntries(
        (Object.keys(failures) as `${FailureStatus}`[]).map((status) =>
          failureResponse(Number(status) as FailureStatus),
        ),
      ),
      schemas,
    },
  }
}

/** How to send key and token: in the query first, as old clients do. A request may also mix them. */
function alternatives(security: Operation['security']) {
  if (security === undefined) return []
  if (security === 'key') return [{ api_key: [] }, { key_header: [] }]
  return [
    { api_key: [], api_token: [] },
    { key_header: [], token_header: [] },
  ]
}

/** The address of an operation as the document has it. */
function pathOf({ route, operation }: RoutedOperation): string {
  return operation.path ?? pathTemplate(route)
}

function operationObject({ method, operation }: RoutedOperation, path: string) {
  const {
    id,
    summary,
    tag,
    pathExamples = {},
    security,
    query = [],
    hasLanguages = false,
    body,
    ownBody,
    answer,
    conditional = [],
    otherAnswers = {},
  } = operation
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name, pathExamples[name])),
    ...query.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ...(hasLanguages ? [{ $ref: '#/components/parameters/acceptLanguage' }] : []),
  ]
  const named = examples[`${method} ${path}`]
  const statuses = [...conditional, ...operation.failures].sort()
  return {
    operationId: id,
    summary,
    description: operation.description,
    tags: [tag],
    security: alternatives(security),
    ...(parameters.length > 0 && { parameters }),
    ...((body || ownBody) && {
      requestBody: {
        required: true,
        content: body ? inBothFormats(body, examples[`request ${method} ${path}`]) : withSchemas(ownBody ?? {}),
      },
    }),
    responses: {
      200: responseObject(answer, named),
      ...Object.fromEntries(statuses.map((status) => [status, otherResponse(status, answer)])),
      ...Object.fromEntries(Object.entries(otherAnswers).map(([status, other]) => [status, responseObject(other)])),
    },
  }
}

function pathParameter(name: string, example?: string) {
  const parameter = pathParameters[name]
  if (!parameter) throw new TypeError(`the path parameter ${name} is not described in parameters.ts`)
  return { name, in: 'path', required: true, ...parameter, ...(example !== undefined && { example }) }
}

function responseObject(answer: DescribedAnswer, example?: Example) {
  const { description = 'Done.', headers: names } = answer
  return { description, headers: headerObjects(names), content: contentOf(answer, example) }
}

function contentOf(answer: DescribedAnswer, example?: Example) {
  if ('document' in answer) return inBothFormats(answer.document, example)
  return Object.fromEntries(
    Object.entries(answer.content).map(([type, schema]) => {
      const shown = type === 'application/json' ? example && (JSON.parse(example.json) as unknown) : example?.xml
      return [type, { schema, ...(shown !== undefined && { example: shown }) }]
    }),
  )
}

function otherResponse(status: 206 | 304 | FailureStatus, answer: DescribedAnswer) {
  if (status === 304) {
    const kept = answer.headers.filter((name) => !/^(?:Content-Encoding|Content-Security-Policy)/.test(name))
    return { description: 'The copy of the client is still right; no body.', headers: headerObjects(kept) }
  }
  if (status === 206) {
    const whole = answer.headers.filter((name) => !name.startsWith('Content-Encoding'))
    const content = 'content' in answer ? answer.content : {}
    return {
      description: 'The part that Range asks for.',
      headers: headerObjects([...whole, 'Content-Range']),
      content: withSchemas(Object.fromEntries(Object.keys(content).map((type) => [type, {}]))),
    }
  }
  return { $ref: `#/components/responses/${failures[status][0]}` }
}

function withSchemas(content: Readonly<Record<string, OpenApiSchema>>) {
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]))
}

function failureResponse(status: FailureStatus): readonly [name: string, response: object] {
  const [name, meaning] = failures[status]
  const content = inBothFormats(ref('ErrorResponse'), examples[status])
  return [name, { description: meaning, headers: headerObjects(headersOfFailure(status)), content }]
}

function headerObjects(names: readonly (HeaderName | `${HeaderName}?`)[]) {
  return Object.fromEntries(
    names.map((entry) => {
      const name = entry.replace('?', '') as HeaderName
      return [name, entry === name ? { required: true, ...headers[name] } : headers[name]]
    }),
  )
}

/**
 * Content in both formats: in JSON the root is the one member of an object, in XML it is the root element. OpenAPI has examples of XML as
 * values, which `xml` of the schemas makes elements of.
 */
function inBothFormats(schema: OpenApiSchema, example: Example | undefined) {
  const root = rootOf(typeof schema.$ref === 'string' ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema)
  if (root === undefined) throw new TypeError('a document needs a root: xml.name')
  const shown = example && (JSON.parse(example.json) as Readonly<Record<string, unknown>>)
  return {
    'application/json': {
      schema: { type: 'object', required: [root], properties: { [root]: schema } },
      ...(shown && { example: shown }),
    },
    'application/xml': { schema, ...(shown && { example: shown[root] }) },
  }
}
