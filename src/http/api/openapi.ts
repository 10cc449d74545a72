import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { docsPath, openApiJsonPath, openApiPath } from './api-path.js'
import { openApiDocument, type RoutedOperation } from './contract/document.js'
import { jsonDocument } from './contract/json-document.js'
import { arrayOf, objectOf, values } from './contract/openapi-schema.js'
import type { Operation } from './contract/operation.js'
import type { ApiConfig } from './deps.js'

const object = { type: 'object' }

const docs: Operation = {
  id: 'showReference',
  summary: 'This description as a page for people',
  description: 'Each operation can be tried there: put in a key, choose an operation and send it.',
  tag: 'Service',
  answer: { headers: ['Content-Security-Policy'], content: { 'text/html': values.text } },
  failures: [400, 503],
}

const document = {
  id: 'getOpenApi',
  summary: 'This description for programs',
  description:
    'OpenAPI 3.1 of every operation, in XML and JSON. For example, a program compares it with the copy that it was built with.',
  tag: 'Service',
  path: `${openApiPath}.json`,
  answer: {
    headers: ['Cache-Control'],
    content: {
      'application/json': objectOf({
        ...{ openapi: values.text, info: object, paths: object },
        ...{ 'servers?': arrayOf(object), 'tags?': arrayOf(object), 'components?': object },
      }),
    },
  },
  failures: [400, 503],
} as const satisfies Operation

const documentOfJson: Operation = {
  ...document,
  id: 'getOpenApiOfJson',
  summary: 'The description of JSON alone, for generated clients',
  description: 'Generate clients from this one: their first call gets JSON, whatever type they accept.',
  path: `${openApiJsonPath}.json`,
}

/**
 * Describes the API from the definitions at its routes: `/api/openapi.json` (OpenAPI 3.1), the same for JSON alone, and a page for people at
 * `/api/docs`, which loads nothing from elsewhere. Registered before the routes that it describes; a route without a
 * description is refused.
 */
export async function describeApi(app: FastifyInstance, config: ApiConfig): Promise<void> {
  const operations: RoutedOperation[] = [{ method: 'GET', route: docsPath, operation: docs }]
  app.addHook('onRoute', ({ method, url, config: own }) => {
    // HEAD follows from GET; the page's own files are parts of it.
    const served = [method].flat().find((name) => name === 'GET' || name === 'POST')
    if (served === undefined || url.startsWith(docsPath)) return
    if (!own?.operations) {
      throw new Error(`${served} ${url} has no description: add config.operations (docs/how-to/api-operation.md)`)
    }
    for (const operation of own.operations) operations.push({ method: served, route: url, operation })
  })
  const current = () => openApiDocument(operations, { publisher: config.publisherName, url: config.baseUrl() })

  // Making the documents and their text takes the event loop for some milliseconds; they change with the address alone.
  let kept: { readonly url: string; readonly whole: Buffer; readonly json: Buffer } | undefined
  const texts = () => {
    const url = config.baseUrl()
    if (kept?.url === url) return kept
    const made = current()
    kept = { url, whole: Buffer.from(JSON.stringify(made)), json: Buffer.from(JSON.stringify(jsonDocument(made))) }
    return kept
  }

  const serve = (path: string, operation: Operation, text: () => Buffer) =>
    app.get(path, { config: { operations: [operation] } }, async (_request, reply) =>
      reply.header('content-type', 'application/json').header('cache-control', 'no-cache').send(text()),
    )
  serve(openApiPath, document, () => texts().whole)
  serve(openApiJsonPath, documentOfJson, () => texts().json)
  app.addHook('onRoute', (route) => {
    // With a query it would lead to itself.
    if (route.url === `${docsPath}/static/index.html`) {
      route.handler = async (_request, reply) => reply.redirect(`${docsPath}/`)
    }
    const type = { [`${docsPath}/yaml`]: 'application/x-yaml', [`${docsPath}/json`]: 'application/json' }[route.url]
    if (type === undefined) return
    // Every JSON text is YAML 1.2; block style took the event loop for 70 ms.
    route.handler = async (_request, reply) => reply.type(type).send(texts().whole)
  })
  // The page takes its document from `transformSpecification`, but does not register without this plugin.
  await app.register(swagger, { mode: 'static', specification: { document: { openapi: '3.1.0' } as never } })
  await app.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    transformSpecification: () => current(),
    transformSpecificationClone: false,
    // Otherwise the page calls a validator on another server.
    uiConfig: { validatorUrl: null as never },
  })
}
