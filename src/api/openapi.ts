import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { errorCatalogue } from '../domain/errors.js'
import { docsPath, openApiPath } from './api-path.js'
import type { ApiConfig } from './deps.js'
import { needsHttps } from './plain-http.js'

/**
 * Describes the API from the schemas of its routes: `/api/openapi.json` (OpenAPI 3.1) and a page for people at
 * `/api/docs`, which loads nothing from elsewhere. Registered before the routes that it describes.
 */
export async function describeApi(app: FastifyInstance, config: ApiConfig): Promise<void> {
  // Schemas only describe: our own parsers read requests, and answers are sent as finished bytes.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: `API of ${config.publisherName}`,
        version: '1',
        description:
          'Every operation answers in XML and JSON: by Accept, or by .xml or .json at the end of its address; XML when nothing is said. The two forms say the same.',
      },
      components: {
        securitySchemes: {
          api_key: { type: 'apiKey', in: 'query', name: 'api_key', description: 'The key of the API user.' },
          api_token: { type: 'apiKey', in: 'query', name: 'api_token', description: 'A token of that key.' },
        },
      },
    },
    hideUntagged: true,
    transform: ({ schema, url, route }) => ({ schema: withAnswers(schema, String(route.method), url), url }),
  })
  app.get(openApiPath, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('content-type', 'application/json')
      .header('cache-control', 'no-cache')
      .send(Buffer.from(JSON.stringify(here(app.swagger(), config)))),
  )
  await app.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    transformSpecification: (document) => here(document, config),
    // Otherwise the page calls a validator on another server.
    uiConfig: { validatorUrl: null as never },
  })
}

/** The document with the address of this server, which is known only after it listens. */
function here<Document extends object>(document: Document, { baseUrl }: ApiConfig) {
  return { ...document, servers: [{ url: baseUrl() }] }
}

const statuses: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is missing or wrong.',
  401: 'The key, the token or the credentials are missing or not valid, or the operation is not granted.',
  403: 'The request came over plain HTTP from another machine.',
  404: 'Nothing exists at this address.',
  410: 'The project has become inactive.',
  500: 'A defect of the service; the message has the id of the request.',
  503: 'Maintenance, overload or too many requests; Retry-After says when to come back.',
}

const errorNumber =
  "101: a field or parameter is missing; 102: it has a wrong value; from 1000 on: the payment processor's code."

const errorResponse = {
  type: 'object',
  required: ['error_code', 'errors', 'status'],
  properties: {
    error_code: {
      type: 'integer',
      enum: [...new Set(Object.values(errorCatalogue).map(({ status }) => status))].sort(),
    },
    errors: {
      type: 'object',
      properties: {
        error: {
          type: 'array',
          items: {
            type: 'object',
            required: ['error_message'],
            properties: {
              error_message: { type: 'string' },
              error_number: { type: 'integer', description: errorNumber },
            },
          },
        },
      },
    },
    status: { type: 'string' },
  },
}

/** The 200 answer in a route's schema: its root and, as JSON Schema, its fields. */
export type Success = { readonly description?: string; readonly root?: string; readonly fields?: object }

type Example = { readonly xml: string; readonly json: string }

/** Example answers by operation (`GET /api/...`): the golden documents of the tests. */
const examples = JSON.parse(readFileSync(new URL('./examples/answers.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Example>
>

/** The schema of an operation with the answers that all operations have. */
function withAnswers(schema: FastifySchema | undefined, method: string, url: string): FastifySchema {
  if (schema === undefined || schema.tags === undefined) return { ...schema, hide: true }
  const example = examples[`${method} ${url}`]
  const response = (schema.response ?? {}) as Record<string, unknown>
  const errors = Object.entries(statuses)
    .filter(([status]) => (status !== '410' || url.includes('Id')) && (status !== '403' || needsHttps(url)))
    .map(([status, description]) => [
      status,
      { description, ...inBothFormats('error_response', errorResponse, examples.error) },
    ])
  const { description = 'Done.', root, fields = { type: 'object' } } = (response[200] ?? {}) as Success
  const success = { description, ...inBothFormats(root, fields, example) }
  return { ...schema, response: { ...response, 200: success, ...Object.fromEntries(errors) } }
}

/** Content in both formats: in JSON the root is the one member of an object, in XML it is the root element. */
export function inBothFormats(root: string | undefined, fields: object, example?: Example) {
  const json = root === undefined ? fields : { type: 'object', required: [root], properties: { [root]: fields } }
  const xml = root === undefined ? fields : { ...fields, xml: { name: root } }
  return {
    content: {
      'application/json': { schema: json, ...(example && { example: JSON.parse(example.json) as unknown }) },
      'application/xml': { schema: xml, ...(example && { example: example.xml }) },
    },
  }
}
