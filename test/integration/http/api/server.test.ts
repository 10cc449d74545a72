import { execFileSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { sendError } from '../../../../src/http/api/errors.js'
import { refuseUnderPressure } from '../../../../src/http/api/limits.js'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { createServer } from '../../../../src/http/api/server.js'
import { listen, proxyHeaders, type TestApi, testApi, testConfig, testUser } from '../../../support/api/api.js'
import { committedDescription, type Description } from '../../../support/api/api-description.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'
import { standStill } from '../../../support/values/stand-still.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const list = '/api/public/projectservice/all/projects'

const { store } = await testDatabase()

describe('answers that a browser opens', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await testApi(store)
  })

  it.each([`${list}?api_key=x`, '/api/nothing', '/healthz'])('may do nothing there: %s', async (url) => {
    const { headers } = await api.app.inject(url)
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';base-uri 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
    })
    expect(headers['x-powered-by']).toBeUndefined()
  })

  it('have a policy of their own where they are pages', async () => {
    expect((await api.app.inject('/')).headers['content-security-policy']).toMatch(/style-src 'self'/)
    expect((await api.app.inject('/api/docs')).headers['content-security-policy']).toMatch(/script-src 'self'/)
  })

  it('ask for HTTPS from then on only where the public address has it', async () => {
    const plain = await testApi(store, { store, config: { ...testConfig, baseUrl: () => 'http://giving.example' } })
    expect((await api.app.inject('/')).headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await plain.app.inject('/')).headers['strict-transport-security']).toBeUndefined()
  })
})

describe('a limit of requests in a minute', () => {
  let api: TestApi
  let ownKey: string
  let otherKey: string
  let others = 10
  beforeAll(async () => {
    const limits = { ...testConfig.limits, requestsPerKey: 3, requestsPerAddress: 5 }
    api = await testApi(store, { store, config: { ...testConfig, limits, trustProxy: true } })
    ownKey = (await createApiUser(api.deps, { ...testUser, email: 'own@example.org' })).apiKey
    otherKey = (await createApiUser(api.deps, { ...testUser, email: 'other@example.org' })).apiKey
  })

  const get = (apiKey: string, address: string, url = `${list}.json`) =>
    api.app.inject({ url: `${url}?api_key=${apiKey}`, headers: proxyHeaders(address) })

  it('counts each key, wherever its requests come from, and answers the next with 503 and when to come back', async () => {
    for (let count = 0; count < 3; count++) expect((await get(ownKey, `192.0.2.${count}`)).statusCode).toBe(200)
    const refused = await get(ownKey, '192.0.2.9')
    expect(refused.statusCode).toBe(503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.json().error_response.errors.error[0].error_message).toContain('more than 3 requests of this key')
    expect((await get(otherKey, '192.0.2.9')).statusCode).toBe(200)
  })

  it.each([
    ['reads with invented keys', () => get('5a0c1d2e-0000-4000-8000-000000000009', '198.51.100.1'), 401],
    ['the secure area', () => get('x', '198.51.100.2', '/api/secure/givingservice/donations'), 401],
    ['addresses that do not exist', () => get('x', '198.51.100.3', '/nothing'), 404],
    ['the index page', () => get('x', '198.51.100.4', '/'), 200],
    ['single activities', () => get('x', '198.51.100.9', '/iati/activities/XX-1'), 503],
    ['the status of runs', () => get('x', '198.51.100.5', '/feeds/status.json'), 200],
    ['the description of the API', () => get('x', '198.51.100.6', '/api/docs'), 200],
    [
      'sign-ins',
      () =>
        api.app.inject({
          ...{ method: 'POST', url: '/api/userservice/tokens', payload: '{}' },
          headers: { ...proxyHeaders('198.51.100.8'), 'content-type': 'application/json' },
        }),
      400,
    ],
  ])('counts %s by address', async (_what, ask, status) => {
    for (let count = 0; count < 5; count++) expect((await ask()).statusCode).toBe(status)
    const refused = await ask()
    expect(refused.statusCode).toBe(503)
    expect(refused.body).toContain('more than 5 requests from this address in a minute')
    expect((await get('x', `203.0.113.${others++}`, '/nothing')).statusCode).toBe(404)
  })

  it('does not count published files, /healthz and /readyz', async () => {
    for (const url of ['/iati/activities.xml', '/feeds/manifest.json', '/healthz', '/readyz']) {
      for (let count = 0; count < 7; count++)
        expect((await get('x', '203.0.113.1', url)).body).not.toContain('more than')
    }
  })
})

describe('TRUST_PROXY=true', () => {
  it.each([
    [true, 1],
    ['10.0.0.0/8', 0],
    [1, 0],
    [false, 0],
  ])('is warned of once: %s', async (trustProxy, warnings) => {
    const { log } = await testApi(store, { store, config: { ...testConfig, trustProxy } })
    expect(log.filter(({ msg }) => String(msg).includes('TRUST_PROXY=true'))).toHaveLength(warnings)
  })
})

describe('a proxy that is not trusted', () => {
  it('is named in the log when its clients reach the limit of one address', async () => {
    const limits = { ...testConfig.limits, requestsPerAddress: 1 }
    const api = await testApi(store, { store, config: { ...testConfig, limits } })
    const ask = (headers: Record<string, string>) => api.app.inject({ url: '/', headers })
    expect((await ask({})).statusCode).toBe(200)
    expect((await ask({})).statusCode).toBe(503)
    const warnings = () => api.log.filter(({ msg }) => String(msg).includes('TRUST_PROXY'))
    expect(warnings()).toEqual([])
    expect((await ask(proxyHeaders('192.0.2.1'))).statusCode).toBe(503)
    expect(warnings()).toMatchObject([{ address: '127.0.0.1', refused: 1 }])
  })
})

describe('downloads of one address', async () => {
  it('have a limit at a time; the next one is answered with 503 and Retry-After', async () => {
    const limits = { ...testConfig.limits, connectionsPerAddress: 2 }
    const api = await testApi(store, { store, config: { ...testConfig, limits, trustProxy: true } })
    await layRelease(api.feedsDir, {
      id: '20261120T020000Z-1',
      lastModified: '2026-11-20T02:00:00Z',
      files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: `<a>${'x'.repeat(8_000_000)}</a>` }],
    })
    const url = `${await listen(api.app)}/iati/activities.xml`
    const begin = async (address: string) => {
      const stopped = new AbortController()
      const answer = await fetch(url, {
        headers: { ...proxyHeaders(address), 'accept-encoding': 'identity' },
        signal: stopped.signal,
      })
      return { answer, stop: () => stopped.abort() }
    }
    const running = [await begin('192.0.2.1'), await begin('192.0.2.1')]
    const refused = (await begin('192.0.2.1')).answer
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.text()).toContain('more than 2 downloads at a time from this address')
    const other = await begin('192.0.2.2')
    expect(other.answer.status).toBe(200)
    for (const { stop } of [...running, other]) stop()
    const again = async () => {
      const { answer, stop } = await begin('192.0.2.1')
      stop()
      return answer.status
    }
    await expect.poll(again).toBe(200)
  })
})

describe('an event loop that lags', () => {
  it('turns away with 503 what comes while others wait, and serves a few, health and published files on', async () => {
    const { deps } = await testApi(store, { store })
    const app = createServer(deps)
    refuseUnderPressure(app, { ...testConfig.limits, eventLoopDelayMs: 20 }, 100)
    app.setErrorHandler(sendError)
    for (const path of ['/api/x', '/projects', '/iati/*', '/healthz']) app.get(path, async () => 'served')
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    app.get('/slow', async () => {
      await finished
      return 'served'
    })
    const waiting = Array.from({ length: 7 }, () => app.inject('/slow'))
    let answer = await app.inject('/api/x')
    expect(answer.body).toBe('served')
    waiting.push(app.inject('/slow'))
    for (let round = 0; round < 100 && answer.statusCode !== 503; round++) {
      standStill(100)
      await new Promise((resolve) => setTimeout(resolve))
      answer = await app.inject('/api/x')
    }
    expect(answer.statusCode).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(answer.body).toContain('<error_code>503</error_code>')
    expect((await app.inject('/projects')).statusCode).toBe(503)
    expect((await app.inject('/iati/activities.xml')).body).toBe('served')
    expect((await app.inject('/healthz')).body).toBe('served')
    finish()
    expect((await Promise.all(waiting)).map(({ body }) => body)).toEqual(waiting.map(() => 'served'))
    // The loop is as late as before.
    expect((await app.inject('/api/x')).body).toBe('served')
    await app.close()
  })
})

describe('behind a proxy', () => {
  const addressSeen = async (trustProxy: boolean | number | string, forwarded: string) => {
    const { deps } = await testApi(store, { store })
    const app = createServer({ ...deps, config: { ...testConfig, trustProxy } })
    app.get('/address', async (request) => request.ip)
    const { body } = await app.inject({ url: '/address', headers: proxyHeaders(forwarded) })
    await app.close()
    return body
  }

  it.each([
    [false, '192.0.2.7', '127.0.0.1'],
    [true, '192.0.2.7, 10.0.0.1', '192.0.2.7'],
    [1, '192.0.2.66, 192.0.2.7', '192.0.2.7'],
    [2, '192.0.2.66, 192.0.2.7, 10.0.0.1', '192.0.2.7'],
    ['127.0.0.1,10.0.0.0/8', '192.0.2.66, 192.0.2.7, 10.0.0.1', '192.0.2.7'],
    ['10.0.0.0/8', '192.0.2.7', '127.0.0.1'],
  ])('that is trusted as %j, the address of "%s" is %s', async (trustProxy, forwarded, address) => {
    expect(await addressSeen(trustProxy, forwarded)).toBe(address)
  })
})

describe('with a certificate', async () => {
  it('serves HTTPS itself, broken requests included', async (context) => {
    const dir = await temporaryFolder()
    const [keyFile, certFile] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')]
    try {
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
      const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      execFileSync('openssl', [...make, ...subject, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
    } catch {
      await rm(dir, { recursive: true })
      return context.skip('openssl is not installed, so there is no certificate to serve with')
    }
    const tls = { cert: await readFile(certFile), key: await readFile(keyFile) }
    const { app } = await testApi(store, { store, config: { ...testConfig, tls } })
    const base = await listen(app)
    expect(base).toMatch(/^https:/)
    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpsRequest(`${base}/api/nothing.json`, { ca: tls.cert }, (response) =>
        resolve(text(response).then((body) => `${response.statusCode} ${body}`)),
      )
      request.on('error', reject).end()
    })
    expect(answer).toMatch(/^404 \{"error_response"/)
    // Plain HTTP at an HTTPS port gets no answer, and the server lives on.
    const socket = connect(Number(new URL(base).port), '127.0.0.1')
    socket.on('error', () => undefined).end('GET / HTTP/1.1\r\n\r\n')
    await text(socket).catch(() => '')
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    await rm(dir, { recursive: true })
  })
})

describe('the description of the API', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await testApi(store, { store })
  })

  it('is OpenAPI 3.1, made from the routes, with the address of this server', async () => {
    const answer = await api.app.inject('/api/openapi.json')
    expect(answer.headers['content-type']).toBe('application/json')
    const { info, servers, ...document } = answer.json() as Description & { readonly servers: unknown }
    expect(servers).toEqual([{ url: 'https://giving.example' }])
    expect(info.title).toBe('API of Giving <Platform>')
    const { info: _, servers: __, ...committed } = committedDescription() as typeof document & Record<string, unknown>
    delete (committed.paths as Record<string, object>)['/api/public/payments/{gateway}']
    expect(document).toEqual(committed)
  })

  it('has metrics, which answer 404 where there are none to show', async () => {
    for (const accept of ['application/xml', 'application/json']) {
      const { statusCode } = await api.app.inject({ url: '/metrics', headers: { accept } })
      expect(statusCode).toBe(404)
    }
  })

  it('leads from the file of its page to the page, whatever stands behind it', async () => {
    const { statusCode, headers } = await api.app.inject(`/api/docs/static/index.html?q=${'x'.repeat(12_000)}`)
    expect([statusCode, headers.location]).toEqual([302, '/api/docs/'])
  })

  it('is also a page, which loads nothing from elsewhere', async () => {
    for (const url of ['/api/docs', '/api/docs/']) {
      const page = await api.app.inject(url)
      expect(page.statusCode).toBe(200)
      expect(page.headers['content-type']).toMatch(/^text\/html/)
      expect(page.body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
      const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')
      expect(assets.length).toBeGreaterThan(3)
      for (const asset of assets) {
        const { statusCode } = await api.app.inject(new URL(asset, `http://x${url}`).pathname)
        expect([url, asset, statusCode]).toEqual([url, asset, 200])
      }
    }
    for (const form of ['json', 'yaml']) {
      const { body } = await api.app.inject(`/api/docs/${form}`)
      expect(JSON.parse(body), form).toMatchObject({ openapi: '3.1.0' })
    }
  })
})
