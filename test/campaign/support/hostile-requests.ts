import { connect } from 'node:net'
import fc from 'fast-check'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import type { TestApi } from '../../support/api/api.js'

/** Addresses of every operation, with `:name` for what stands in the path. */
export async function operationPaths(app: FastifyInstance): Promise<string[]> {
  const { paths } = (await app.inject('/api/openapi.json')).json() as { paths: Record<string, object> }
  return Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
}

const nasty = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e3',
    '007',
    '9223372036854775808',
    '9'.repeat(400),
    'NaN',
    'null',
    'true',
    '\0',
  ),
  fc.constantFrom('__proto__', 'constructor', '../../etc/passwd', "' or 1=1 --", '<x/>', '*', '%', '\\', '{}', '[]'),
  fc.constantFrom('1,2,3', ',,,', '2026-01-01T00:00:00Z', '2026-13-45', 'theme:edu,country:IN', ':::', 'IN', 'edu'),
  fc.nat().map(String),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 20 }),
)

const encoded = (text: string) => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '?'))
// As a careful client writes it, as a careless one does, and as none does.
const inUrl = fc.oneof(
  { weight: 6, arbitrary: nasty.map(encoded) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%', '%zz', '%00', '%ff', '%c0%af', '%2F', '%2e%2e', '+', '%ud800', ';a', '#b', '?c'),
  },
)

const queryNames = [
  ...['api_key', 'api_token', 'nextProjectId', 'nextOrgId', 'projectIds', 'q', 'start', 'filter', 'limit'],
  ...['modifiedSince', 'theme', 'country', 'is_test', '__proto__', 'constructor', 'x'],
]

function urls(paths: readonly string[], apiKey: string): fc.Arbitrary<string> {
  const path = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(fc.constantFrom(...paths), fc.array(inUrl, { minLength: 4, maxLength: 4 }))
        .map(([pattern, values]) => {
          let next = 0
          return pattern.replaceAll(/:\w+/g, () => values[next++] ?? 'x')
        }),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '/',
        '/iati/activities.xml',
        '/feeds/manifest.json',
        '/feeds/releases/x/iati/a',
        '/healthz',
        '/readyz',
        '/api',
        '/api/docs',
        '/api/openapi',
        '/api/secure/givingservice/donations',
        '*',
      ),
    },
    { weight: 2, arbitrary: fc.array(inUrl, { maxLength: 5 }).map((parts) => `/api/${parts.join('/')}`) },
    { weight: 1, arbitrary: fc.array(inUrl, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`) },
  )
  const end = fc.constantFrom('', '', '', '/', '.json', '.xml', '.json/', '.xml.json', '//')
  const parameter = fc.oneof(
    { weight: 3, arbitrary: fc.constant(`api_key=${apiKey}`) },
    {
      weight: 5,
      arbitrary: fc.tuple(fc.constantFrom(...queryNames), inUrl).map(([name, value]) => `${name}=${value}`),
    },
    { weight: 1, arbitrary: inUrl },
  )
  return fc
    .tuple(path, end, fc.array(parameter, { maxLength: 5 }))
    .map(([address, suffix, query]) => address + suffix + (query.length > 0 ? `?${query.join('&')}` : ''))
}

const bodyRoots = [
  'auth_request',
  'token_revocation_request',
  'account_request',
  'key_request',
  'key_revocation_request',
  'donation',
]

function bodies(apiKey: string): fc.Arbitrary<{ type: string; body: Buffer }> {
  const text = fc.oneof(nasty, fc.constant(apiKey), fc.constantFrom('a@b.example', 'x'.repeat(3_000)))
  const fields = fc.record(
    {
      user: fc.oneof(fc.record({ email: fc.oneof(text, fc.constant(7)), password: text }, { requiredKeys: [] }), nasty),
      api_key: fc.oneof(text, fc.constant(null), fc.constant([]), fc.constant({})),
      access_token: text,
      __proto__: nasty,
    },
    { requiredKeys: [] },
  )
  const root = fc.constantFrom(...bodyRoots)
  const json = fc
    .tuple(root, fc.oneof(fields, fc.jsonValue()))
    .map(([name, value]) => JSON.stringify({ [name]: value }))
  const xml = fc
    .tuple(root, fc.array(fc.tuple(fc.constantFrom('user', 'email', 'password', 'api_key', '__proto__', 'a b'), text)))
    .map(([name, children]) => {
      const inner = children.map(([child, value]) => `<${child}>${value.replaceAll('<', '&lt;')}</${child}>`)
      return `<?xml version="1.0"?><${name}>${inner.join('')}</${name}>`
    })
  const odd = fc.constantFrom(
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><auth_request>&x;</auth_request>',
    '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><auth_request>&b;</auth_request>',
    '<auth_request>'.repeat(2_000),
    '['.repeat(30_000),
    '{"auth_request":'.repeat(3_000),
    'x'.repeat(70_000),
    "{'auth_request':{}}",
    '{"auth_request":{"user":{"email":"\\ud800","password":"\\u0000"},"api_key":"\\ud800"}}',
    '{"key_request":{"user":{"email":"a@b.example","password":"\\ud800\\udfff"}}}',
  )
  const bytes = fc
    .tuple(fc.oneof(json, xml, odd), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }))
    .map(([body, changes]) => {
      const buffer = Buffer.from(body)
      for (const [at, byte] of changes) if (buffer.length > 0) buffer[at % buffer.length] = byte
      return buffer
    })
  return fc.record({
    type: fc.constantFrom(
      'application/json',
      'application/xml',
      'text/xml; charset=utf-8',
      'application/json;charset=utf-16',
      'text/plain',
      '',
      'a/b;c',
      'multipart/form-data',
    ),
    body: fc.oneof(
      { weight: 4, arbitrary: bytes },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)) },
    ),
  })
}

const headers = fc.dictionary(
  fc.constantFrom(
    'accept',
    'accept-encoding',
    'if-none-match',
    'if-modified-since',
    'range',
    'if-range',
    'origin',
    'x-forwarded-for',
    'expect',
    'x',
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      '*/*',
      'text/html',
      ';;q=,',
      'application/json;q=0',
      'bytes=0-0',
      'bytes=-1,9-',
      '"x"',
      '100-continue',
      'gzip;q=0',
      'null',
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
  ),
  { maxKeys: 3 },
)

const methods = fc.constantFrom(
  'GET',
  'GET',
  'GET',
  'POST',
  'POST',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
)

/** Requests that no client should send, most of them close to ones that some do. */
export function hostileRequests(
  paths: readonly string[],
  apiKey: string,
): fc.Arbitrary<InjectOptions & { url: string }> {
  return fc
    .tuple(methods, urls(paths, apiKey), headers, fc.option(bodies(apiKey), { nil: undefined }))
    .map(([method, url, extra, body]) => ({
      method: method as 'GET',
      url,
      headers: { ...extra, ...(body && { 'content-type': body.type }) },
      ...(body && { payload: body.body }),
    }))
}

const expected = new Set([200, 204, 206, 304, 400, 401, 404, 405, 410, 412, 416, 503])

/** Sends one request; throws unless its status is one of wire.md 1.7 and its body is whole. */
export async function expectSoundAnswer(api: TestApi, request: InjectOptions): Promise<void> {
  const answer = await api.app.inject(request)
  const { statusCode, body } = answer
  if (!expected.has(statusCode)) throw new Error(`status ${statusCode}: ${body.slice(0, 500)}`)
  // A 503 that the client did not bring about shows its request id instead of a reason.
  if (statusCode === 503 && body.includes('(request ')) throw new Error(`503 for an inner reason: ${body}`)
  if (statusCode < 400 || request.method === 'HEAD') return
  const type = String(answer.headers['content-type'])
  // People are told on a page.
  if (type.startsWith('text/html') && /^<!doctype html>.*<\/html>\s*$/is.test(body)) return
  const code = type.startsWith('application/json')
    ? (JSON.parse(body) as { error_response: { error_code: number } }).error_response.error_code
    : Number(parseElement(body, recordLimits).children.find(({ name }) => name === 'error_code')?.text)
  if (code !== statusCode) throw new Error(`error_code ${code} under status ${statusCode}: ${body.slice(0, 500)}`)
}

/** Bytes that are nearly HTTP: whole requests, cut, changed or run together. */
export function hostileBytes(paths: readonly string[], apiKey: string): fc.Arbitrary<Buffer> {
  const line = fc
    .tuple(methods, urls(paths, apiKey), fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2', 'http/1.1', ''))
    .map((parts) => parts.join(' '))
  const field = fc.oneof(
    headers.map((fields) =>
      Object.entries(fields)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\r\n'),
    ),
    fc.constantFrom(
      'Host: x',
      'Host:',
      'Connection: close',
      'Connection: upgrade\r\nUpgrade: websocket',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: gzip',
      'Content-Length: 5',
      'Content-Length: -1',
      'Content-Length: 5\r\nContent-Length: 6',
      'Expect: 100-continue',
      ': x',
      ' folded',
      'X: \0',
      `Y: ${'z'.repeat(9_000)}`,
    ),
  )
  const whole = fc
    .tuple(line, fc.array(field, { maxLength: 4 }), fc.option(bodies(apiKey), { nil: undefined }), fc.boolean())
    .map(([first, fields, body, honest]) => {
      const length = body && honest ? [`Content-Type: ${body.type}`, `Content-Length: ${body.body.length}`] : []
      const head = [first, ...fields.filter(Boolean), ...length].join('\r\n')
      return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body?.body ?? Buffer.alloc(0)])
    })
  const changed = fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.option(fc.nat(), { nil: undefined }))
    .map(([bytes, changes, cut]) => {
      const copy = Buffer.from(bytes)
      for (const [at, byte] of changes) copy[at % copy.length] = byte
      return cut === undefined ? copy : copy.subarray(0, cut % copy.length)
    })
  return fc.array(fc.oneof(whole, changed), { minLength: 1, maxLength: 3 }).map((parts) => Buffer.concat(parts))
}

const patienceMs = 200
const hangMs = 20_000

/**
 * Writes bytes to a socket, waits a little for answers, ends its own side and waits for the server to end the other.
 * Throws when an answer is none of HTTP, is 500, or the server never ends.
 */
export async function expectSoundConversation(base: string, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(base)
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const hang = setTimeout(() => {
      socket.destroy()
      reject(new Error('the server neither answered nor closed'))
    }, hangMs)
    let quiet = setTimeout(() => socket.end(), patienceMs)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(quiet)
      quiet = setTimeout(() => socket.end(), 20)
    })
    // A server may reset a connection whose bytes it does not want; what it said before counts.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(hang)
      clearTimeout(quiet)
      resolve()
    })
    socket.write(bytes)
  })
  const answer = Buffer.concat(chunks).toString('latin1')
  if (answer !== '' && !answer.startsWith('HTTP/1.1 ')) throw new Error(`no HTTP: ${answer.slice(0, 200)}`)
  if (/^HTTP\/1\.1 (?!503)5\d\d /m.test(answer)) throw new Error(`a server error: ${answer.slice(0, 500)}`)
}
