import { gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { committedDescription, type DescribedResponse, operationsOf, responseOf } from './api-description.js'
import { DocumentCheck } from './document-check.js'
import { seenTraffic } from './seen-traffic.js'

/** Headers that the description names once, for every answer. */
const transport = new Set([
  ...['content-length', 'content-type', 'transfer-encoding', 'connection', 'keep-alive', 'date'],
  ...['access-control-allow-origin', 'access-control-expose-headers'],
  ...['content-security-policy', 'cross-origin-resource-policy', 'referrer-policy', 'x-content-type-options'],
  ...['strict-transport-security'],
  // Is for the proxy alone, which takes it out.
  'x-accel-redirect',
])

// Compiling its schemas takes as long as building an API: all files of a worker share them.
let described: ReturnType<typeof readDescription> | undefined

function readDescription() {
  const description = committedDescription()
  const operations = operationsOf(description).map((one) => ({ ...one, pattern: patternOf(one.path) }))
  return { description, check: new DocumentCheck(description), operations }
}

/**
 * Compares every answer of this API with the committed description: its status, headers and body must be in it. The test
 * file fails at its end when something is not.
 */
export function recordTraffic(app: FastifyInstance): void {
  described ??= readDescription()
  const { description, check, operations } = described
  const { seen, problems } = seenTraffic
  const bodies = new WeakMap<FastifyRequest, Buffer>()

  app.addHook('onSend', async (request, _reply, payload) => {
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) bodies.set(request, Buffer.from(payload))
  })
  app.addHook('onResponse', async (request, reply) => {
    const answered = findOperation(request)
    if (!answered) return
    const { name, responses } = answered
    const report = (problem: string) => problems.add(`${name} ${reply.statusCode}: ${problem} (${request.originalUrl})`)
    const response = responses[reply.statusCode]
    if (!response) return void report('the status is not in the description')
    const type = checkHeaders(reply, responseOf(description, response), report)
    seen.add([name, reply.statusCode, ...(type === undefined ? [] : [type])].join(' '))
    const body = bodies.get(request)
    if (type === undefined || !body || body.length === 0 || request.method === 'HEAD') return
    const schema = responseOf(description, response).content?.[type]?.schema ?? {}
    for (const problem of checkBody(type, schema, decoded(reply, body))) report(problem)
  })

  function findOperation(request: FastifyRequest) {
    const { url: route = '', config } = request.routeOptions
    // The page is registered by a plugin.
    const named = /^\/api\/docs\/?$/.test(route) ? [{ id: 'showReference' }] : config?.operations
    if (!named || named.length === 0) return undefined
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const address = request.url.split('?', 1)[0] ?? ''
    const found = operations.find((one) => {
      const known = named.some(({ id }) => id === one.operation.operationId)
      return one.method === method && known && (named.length === 1 || one.pattern.test(address))
    })
    if (found) return { name: `${method} ${found.path}`, responses: found.operation.responses }
    // A wildcard also answers what none of its descriptions means.
    if (named.length > 1) return undefined
    problems.add(`${method} ${address}: not in openapi.json; run npm run api:describe`)
    return undefined
  }

  function checkHeaders(reply: FastifyReply, response: DescribedResponse, report: (problem: string) => void) {
    const sent = reply.getHeaders()
    const { headers = {}, content } = response
    const known = new Set(Object.keys(headers).map((header) => header.toLowerCase()))
    for (const header of Object.keys(sent)) {
      if (!known.has(header) && !transport.has(header)) report(`the header ${header} is not in the description`)
    }
    for (const [header, { required }] of Object.entries(headers)) {
      if (required && sent[header.toLowerCase()] === undefined) report(`the header ${header} is missing`)
    }
    if (!content) return undefined
    const type = String(sent['content-type']).split(';', 1)[0] ?? ''
    if (content[type]) return type
    report(`the media type ${type} is not in the description`)
    return undefined
  }

  function checkBody(type: string, schema: Readonly<Record<string, unknown>>, body: Buffer): string[] {
    if (type === 'application/json') return check.json(schema, JSON.parse(body.toString()))
    if (type !== 'application/xml' || schema.type === 'string') return []
    return check.xml(schema, parseElement(body.toString(), recordLimits))
  }
}

function decoded(reply: FastifyReply, body: Buffer): Buffer {
  return reply.getHeader('content-encoding') === 'gzip' ? gunzipSync(body) : body
}

function patternOf(address: string): RegExp {
  const parts = address.split(/\{(\w+)\}/)
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    // Names of regions and addresses of files may have slashes.
    return part === 'path' || part === 'region' ? '.+' : '[^/]+'
  })
  return new RegExp(`^${source.join('')}$`)
}
