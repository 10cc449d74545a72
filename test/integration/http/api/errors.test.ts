import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/platform/database/store.js'
import { listen, testApi } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

/** What a client may see that sends these very bytes. */
async function raw(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  socket.write(request)
  return await text(socket)
}

describe('error answers', async () => {
  const { store } = await testDatabase()

  const api = await testApi(store)
  const base = await listen(api.app)

  it.each([
    ['an unknown path', 'GET', '/api/public/nothing'],
    ['an unknown path with a body', 'POST', '/api/public/nothing'],
    ['what is not ours', 'GET', '/api/public/projectservice/campaign/1/projects'],
    ['a path that never ends', 'GET', `/api/${'x/'.repeat(4000)}`],
  ] as const)('are 404 for %s, in both formats', async (_case, method, url) => {
    const payload = method === 'POST' ? { payload: '{{', headers: { 'content-type': 'who/knows' } } : {}
    const xml = await api.app.inject({ method: method as 'GET', url, ...payload })
    expect(xml.statusCode).toBe(404)
    expect(xml.headers['content-type']).toBe('application/xml')
    expect(xml.body).toContain('<status>Not Found</status></error_response>')
    const json = await api.app.inject({ method: method as 'GET', url, headers: { accept: 'application/json' } })
    expect(json.headers['content-type']).toBe('application/json')
    expect(json.json()).toEqual({
      error_response: {
        error_code: 404,
        errors: { error: [{ error_message: expect.any(String) }] },
        status: 'Not Found',
      },
    })
  })

  it.each([
    ['an operation that reads', 'DELETE', '/api/public/projectservice/all/projects', 'GET, HEAD, OPTIONS'],
    ['an operation with an id', 'POST', '/api/public/projectservice/projects/7.json', 'GET, HEAD, OPTIONS'],
    ['an operation that writes', 'GET', '/api/userservice/tokens', 'POST, OPTIONS'],
    ['a page, and a method that nobody knows', 'PROPFIND', '/', 'GET, HEAD, OPTIONS'],
  ] as const)('are 405 with what is allowed for %s', async (_case, method, url, allow) => {
    const headers = { accept: 'application/json' }
    const answer = await api.app.inject({ method: method as 'GET', url, headers })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow])
    expect(answer.json().error_response).toMatchObject({
      ...{ error_code: 405, status: 'Method Not Allowed' },
      errors: { error: [{ error_message: `expected ${allow} at this address, got ${method}` }] },
    })
  })

  it('are 400 for a broken percent-encoding, with CORS', async () => {
    const answer = await api.app.inject({ url: '/api/%zz', headers: { accept: 'application/json' } })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error_response.status).toBe('Bad Request')
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  })

  it.each([
    ['bytes that are no HTTP', 'nonsense\r\n\r\n'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['a broken chunk', 'POST /api/userservice/tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['a Content-Length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    // Whoever stands before the API could see another end of these.
    [
      'both a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n'],
    ['chunks inside another coding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no Host but in the address', 'GET http://x/healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a header name before a blank', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nabcde'],
  ])('are 400 in XML for %s', async (_case, request) => {
    const answer = await raw(base, request)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(answer).toMatch(/^Access-Control-Allow-Origin: \*\r$/im)
    expect(answer).toContain('<error_response><error_code>400</error_code>')
  })

  it('are read by a client that goes on sending', async () => {
    const { hostname, port } = new URL(base)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}`)
    let answer = ''
    for await (const part of socket.iterator({ destroyOnReturn: false })) answer += part
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    for (let times = 0; times < 100; times++) {
      await new Promise<void>((resolve, reject) =>
        socket.write('y'.repeat(100_000), (error) => (error ? reject(error) : resolve())),
      )
      await nextTurn()
    }
    await finished(socket.end())
  })

  it('are ordinary answers for requests in absolute form, or of HTTP/1.0 without Host', async () => {
    expect(await raw(base, 'GET http://x/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/ 200 OK/)
    expect(await raw(base, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/ 200 OK/)
  })

  it('of 500 tell nothing but the request id, which the log has with the cause', async () => {
    const broken = await testApi(store, {
      store,
      listRuns: async () => {
        throw new TypeError('the inside of the program')
      },
    })
    const answer = await broken.app.inject('/feeds/status.json')
    expect(answer.statusCode).toBe(500)
    const id = answer.headers['x-request-id']
    expect(answer.body).toContain(`(request ${id})`)
    expect(answer.body).not.toContain('inside')
    expect(JSON.stringify(broken.log.find((line) => line.requestId === id && line.level === 50))).toContain(
      'the inside',
    )
  })

  it('are 503 with Retry-After while the database is away', async () => {
    await using away = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', max: 1, applicationName: 'giving test' })
    const { app } = await testApi(store, { store: away })
    const answer = await app.inject('/api/public/projectservice/all/projects.json?api_key=x')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBeDefined()
    expect(answer.json().error_response.status).toBe('Service Unavailable')
    expect(answer.body).not.toContain('127.0.0.1')
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    expect((await app.inject('/readyz')).statusCode).toBe(503)
  })

  it('never carry a key into the log', () => {
    expect(JSON.stringify(api.log)).not.toContain(api.apiKey)
  })
})

describe('browser apps of any origin', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)

  it.each(['/', '/iati/activities.xml', '/api/userservice/tokens', '/api/public/nothing/', '/nowhere'])(
    'may ask first, with whatever headers they like: OPTIONS %s',
    async (url) => {
      const wanted = 'mode, Access-Control-Allow-Origin, Authorization, Pragma'
      const answer = await api.app.inject({
        ...{ method: 'OPTIONS', url },
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': wanted,
        },
      })
      expect(answer.statusCode).toBe(204)
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-headers': wanted,
        'access-control-max-age': '86400',
      })
      expect(answer.headers['access-control-allow-methods']).toContain('POST')
      expect((await api.app.inject({ method: 'OPTIONS', url })).statusCode).toBe(204)
    },
  )

  it.each(['/', '/iati/activities.xml', '/feeds/status.json', '/api/public/projectservice/all/projects', '/nowhere'])(
    'may read %s, errors included',
    async (url) => {
      const answer = await api.app.inject({ url, headers: { origin: 'https://app.example' } })
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
      expect(answer.headers['access-control-expose-headers']).toContain('ETag')
    },
  )
})
