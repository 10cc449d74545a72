import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  claimDueCode,
  type MailedRequest,
  newCode,
  storeMailedRequest,
} from '../../../../src/accounts/sql/account-codes.js'
import { endMaintenance, recordMaintenance } from '../../../../src/accounts/sql/maintenance.js'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { type TestApi, testApi, testConfig, testUser } from '../../../support/api/api.js'
import { committedDescription, operationsOf } from '../../../support/api/api-description.js'
import { type ReadRequest, readRequests } from '../../../support/api/read-operations.js'
import { donationJson, donationXml } from '../../../support/money/donations.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { someOf } from '../../../support/runner/some-of.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const described = operationsOf(committedDescription()).filter(({ path }) =>
  /^\/api\/(?:public\/(?!payments\/)|secure\/|userservice\/)/.test(path),
)

const projects = '/api/public/projectservice'
const organizations = '/api/public/orgservice'
const mediaTypes = { xml: 'application/xml', json: 'application/json' } as const
const phrases = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  410: 'Gone',
  503: 'Service Unavailable',
} as const
type Failure = keyof typeof phrases

/** Requests of a read that fail: path and query without the key. */
const failingReads = ({ route, operation, path: good }: ReadRequest): Partial<Record<Failure, readonly string[]>> => {
  if (route.includes('/projects/:projectId')) {
    const at = (id: string) => route.replace(':projectId', id)
    return { 400: [at('abc'), at('-1'), at('1.5')], 404: [at('77'), at('9'.repeat(30))], 410: [at('2046')] }
  }
  if (route.includes('/projects/collection/')) {
    const ids = (text: string) => `${route}?projectIds=${text}`
    return {
      400: [route, ids(''), ids('2045,x')],
      404: [ids('77'), ids('77,2046')],
      410: [ids('2046'), ids('2046,2046')],
    }
  }
  if (route.includes('/search/')) return { 400: [route, `${route}?q=`, `${route}?q=a&start=x`, `${route}?q=a&limit=0`] }
  if (route.includes('/organization/')) {
    const at = (id: string) => route.replace(/:\w+/, id)
    return { 400: [at('abc')], 404: [at('77'), at('9'.repeat(30))] }
  }
  const page = [`${good}?limit=0`, `${good}?modifiedSince=yesterday`]
  if (route.startsWith(`${organizations}/all/`) && !route.endsWith('/download')) {
    return { 400: [...page, `${good}?nextOrgId=x`, `${good}?country=SLE`], 404: [`${good}?theme=fire`] }
  }
  if (route.endsWith('/ids') && route.includes('/all/')) return { 400: [`${good}?modifiedSince=2026-11-21`] }
  if (operation.includes('/{region}/')) return { 404: [good.replace(/regions\/[^/]+/, 'regions/Atlantis')] }
  if (route.endsWith('/*')) return {}
  const cursor = [...page, `${good}?nextProjectId=-1`, `${good}?nextProjectId=x`]
  if (route.includes('/countries/:')) return { 400: [...cursor, good.replace('/sl/', '/SLE/')] }
  if (route.includes('/themes/:')) return { 400: cursor, 404: [good.replace('/water/', '/fire/')] }
  if (route.includes('/organizations/:')) {
    return { 400: [...cursor, good.replace('/318/', '/x/')], 404: [good.replace('/318/', '/77/')] }
  }
  return route.includes('/all/projects') && !route.endsWith('/download') ? { 400: cursor } : {}
}

type Body = { readonly format: 'xml' | 'json'; readonly text: string }
/** Requests with a body: what succeeds, and what fails beside a body that cannot be read. */
type Post = {
  readonly root: string
  readonly good: (api: TestApi) => Body | Promise<Body>
  readonly unauthorized?: (api: TestApi) => Body
}

const user = { email: testUser.email, password: testUser.password }
const json = (root: string, fields: object): Body => ({ format: 'json', text: JSON.stringify({ [root]: fields }) })
// A key to be revoked, again and again.
let spareKey = ''
// Its password is changed again and again, which ends its tokens.
const changing = { ...user, email: 'changing@example.org' }

/** The code of a request, as its mail has it. */
async function mailedCode({ deps: { store, clock } }: TestApi, asked: AskedCode): Promise<string> {
  const [at, code] = [clock(), newCode()]
  await store.db.query('delete from account_code')
  await storeMailedRequest(store.db, { ...asked, at, expiresAt: new Date(at.getTime() + 60_000) })
  await claimDueCode(store.db, code, at)
  return code
}

type AskedCode = MailedRequest extends infer One ? (One extends unknown ? Omit<One, 'at' | 'expiresAt'> : never) : never

const stranger = { ...user, password: 'not the password' }

const posts: Readonly<Record<string, Post>> = {
  '/api/userservice/accounts': {
    root: 'account_request',
    good: () =>
      json('account_request', { user: { email: `new${Math.random()}@example.org`, password: 'seven quiet rivers' } }),
  },
  '/api/userservice/accounts/verify': {
    root: 'verification_request',
    good: async (api) => {
      const email = `verified${Math.random()}@example.org`
      const passwordHash = await api.deps.passwords.hash(user.password)
      const code = await mailedCode(api, { purpose: 'verification', email, passwordHash, invitationId: undefined })
      return json('verification_request', { user: { ...user, email }, verification_code: code })
    },
    unauthorized: () => json('verification_request', { user, verification_code: 'x' }),
  },
  '/api/userservice/passwords': {
    root: 'password_change_request',
    good: () => json('password_change_request', { user: changing, new_password: user.password }),
    unauthorized: () => json('password_change_request', { user: stranger, new_password: 'seven quiet rivers' }),
  },
  '/api/userservice/passwords/forgotten': {
    root: 'password_reset_request',
    good: () => json('password_reset_request', { email: `forgotten${Math.random()}@example.org` }),
  },
  '/api/userservice/passwords/reset': {
    root: 'new_password_request',
    good: async (api) => {
      const reset_code = await mailedCode(api, { purpose: 'reset', email: changing.email })
      return json('new_password_request', { reset_code, new_password: user.password })
    },
    unauthorized: () => json('new_password_request', { reset_code: 'x', new_password: 'seven quiet rivers' }),
  },
  '/api/userservice/keys': {
    root: 'key_request',
    good: () => json('key_request', { user }),
    unauthorized: () => json('key_request', { user: stranger }),
  },
  '/api/userservice/keys/list': {
    root: 'key_list_request',
    good: () => json('key_list_request', { user }),
    unauthorized: () => json('key_list_request', { user: stranger }),
  },
  '/api/userservice/keys/revoke': {
    root: 'key_revocation_request',
    good: () => json('key_revocation_request', { user, api_key: spareKey }),
    unauthorized: () => json('key_revocation_request', { user: stranger, api_key: 'x' }),
  },
  '/api/userservice/tokens': {
    root: 'auth_request',
    good: (api) => json('auth_request', { user, api_key: api.apiKey }),
    unauthorized: () => json('auth_request', { user, api_key: '5a0c1d2e-0000-4000-8000-00000000beef' }),
  },
  '/api/userservice/tokens/revoke': {
    root: 'token_revocation_request',
    good: (api) => json('token_revocation_request', { api_key: api.apiKey, access_token: 'gone' }),
    unauthorized: () => json('token_revocation_request', { api_key: 'nobody', access_token: 'x' }),
  },
  '/api/secure/givingservice/donations': { root: 'donation', good: () => ({ format: 'xml', text: donationXml }) },
  '/api/secure/givingservice/donationsclient': {
    root: 'donation',
    good: () => ({ format: 'json', text: donationJson }),
  },
}

describe('every operation of openapi.json', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  let api: TestApi
  let token: string

  beforeAll(async () => {
    api = await testApi(store, { config: { ...testConfig, sendsMail: true } })
    await createApiUser(api.deps, { ...testUser, email: changing.email })
    await storeWells(store.db)
    await (await testPublisher(store, { feedsDir: api.feedsDir })).publish()
    await store.db.query(`insert into account_grant select id, 'donations', now() from account`)
    const issued = await post('/api/userservice/keys.json', json('key_request', { user }))
    spareKey = issued.json().key_response.api_key
    const answer = await post('/api/userservice/tokens.json', await posts['/api/userservice/tokens']?.good(api))
    token = answer.json().auth_response.access_token
  })

  const withKey = (url: string, key = api.apiKey) => `${url}${url.includes('?') ? '&' : '?'}api_key=${key}`
  const get = (url: string, accept: string, method: 'GET' | 'HEAD' = 'GET') =>
    api.app.inject({ method, url, headers: { accept } })
  const post = (url: string, body: Body | undefined, accept = '*/*') =>
    api.app.inject({
      ...{ method: 'POST' as const, url },
      headers: { accept, ...(body && { 'content-type': `${mediaTypes[body.format]};charset=UTF-8` }) },
      ...(body && { payload: body.text }),
    })
  const secured = (route: string, query = `api_key=${api.apiKey}&api_token=${token}`) =>
    route.startsWith('/api/secure/') ? `${route}?is_test=true&${query}` : route

  type Answer = Awaited<ReturnType<typeof get>>
  const expectFailure = (status: Failure, what: string, answer: Answer, format: 'xml' | 'json') => {
    expect([what, answer.statusCode]).toEqual([what, status])
    expect([what, answer.headers['content-type']]).toEqual([what, mediaTypes[format]])
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    if (format === 'json') {
      expect(answer.json()).toEqual({
        error_response: {
          error_code: status,
          errors: {
            error: expect.arrayContaining([expect.objectContaining({ error_message: expect.stringMatching(/./) })]),
          },
          status: phrases[status],
        },
      })
      return
    }
    const root = parseElement(answer.body)
    expect([root.name, ...root.children.map(({ name }) => name)]).toEqual([
      ...['error_response', 'error_code', 'errors', 'status'],
    ])
    expect(root.children.map(({ text }) => text)).toEqual([String(status), '', phrases[status]])
  }
  /** The failure in both formats, each chosen by Accept and by the path, and to HEAD. */
  const expectFailingRead = async (status: Failure, url: string) => {
    const [at = '', query] = url.split('?')
    for (const format of ['xml', 'json'] as const) {
      const other = format === 'xml' ? mediaTypes.json : mediaTypes.xml
      const plain = await get(url, mediaTypes[format])
      expectFailure(status, `${format} ${url}`, plain, format)
      for (const ending of [`.${format}`, `.${format}/`]) {
        const suffixed = `${at}${ending}${query === undefined ? '' : `?${query}`}`
        expectFailure(status, suffixed, await get(suffixed, other), format)
      }
      const head = await get(url, mediaTypes[format], 'HEAD')
      expect([head.statusCode, head.body]).toEqual([status, ''])
      expect(head.headers['content-type']).toBe(mediaTypes[format])
    }
  }

  it('is in these tables, and nothing else is', () => {
    const here = [
      ...readRequests.map(({ operation }) => `GET ${operation}`),
      ...Object.keys(posts).map((route) => `POST ${route}`),
      // The only read of the secure area; what it answers is tested with the donations.
      'GET /api/secure/givingservice/clienttoken',
    ]
    expect(here.toSorted()).toEqual(described.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  describe.each(someOf(readRequests, 3))('GET $operation', (read) => {
    const { route, operation, path: good, query } = read
    const failures = failingReads(read)

    it('has the statuses that the description lists', () => {
      const own = ['404', '410'].filter((status) => status in failures)
      const responses = described.find(({ method, path }) => method === 'GET' && path === operation)?.operation
        .responses
      expect(Object.keys(responses ?? {})).toEqual(['200', '304', '400', '401', ...own, '500', '503'])
    })

    it('answers 200', async () => {
      const url = withKey(query === undefined ? good : `${good}?${query}`)
      for (const method of ['GET', 'HEAD'] as const)
        expect((await get(url, 'application/json', method)).statusCode).toBe(200)
    })

    it('answers 401 without a key and with one that is not registered', async () => {
      await expectFailingRead(401, good)
      await expectFailingRead(401, `${good}?api_key=`)
      await expectFailingRead(401, withKey(good, '5a0c1d2e-0000-4000-8000-00000000beef'))
    })

    it.each(Object.entries(failures))('answers %s where that applies', async (status, urls) => {
      for (const url of urls) await expectFailingRead(Number(status) as Failure, withKey(url))
    })

    it('answers 405 to other methods, and 404 below its address', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
        const answer = await api.app.inject({ method, url: withKey(good), headers: { accept: 'application/json' } })
        expectFailure(405, method, answer, 'json')
        expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS')
      }
      if (!route.endsWith('/*')) await expectFailingRead(404, withKey(`${good}/nothing/here`))
    })
  })

  describe.each(Object.entries(posts))('POST %s', (route, { root, good, unauthorized }) => {
    it('answers 200, in the format of the body or of Accept', async () => {
      const body = await good(api)
      const answer = await post(secured(route), body)
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, mediaTypes[body.format]])
      for (const format of ['xml', 'json'] as const) {
        for (const [at, accept] of [
          [route, `${mediaTypes[format]}; charset=utf-8`],
          [`${route}.${format}`, 'text/html'],
          [`${route}.${format}/`, '*/*'],
        ] as const) {
          const same = await post(secured(at), await good(api), accept)
          expect([at, same.statusCode, same.headers['content-type']]).toEqual([at, 200, mediaTypes[format]])
        }
      }
    })

    it('answers 400 to a body that it cannot read', async () => {
      const bodies: readonly [string, string | undefined, string | Buffer][] = [
        ['nothing', 'application/json', ''],
        ['no Content-Type', undefined, '{}'],
        ['another Content-Type', 'text/plain', '{}'],
        ['broken JSON', 'application/json', '{"'],
        ['broken XML', 'application/xml', `<${root}>`],
        ['another root in JSON', 'application/json', '{"other":{}}'],
        ['another root in XML', 'text/xml', '<other/>'],
        ['an empty root', 'application/json', JSON.stringify({ [root]: {} })],
        ['an empty root element', 'application/xml', `<${root}/>`],
        ['a DOCTYPE', 'application/xml', `<!DOCTYPE ${root}><${root}/>`],
        ['a packed body', 'application/json', gzipSync(JSON.stringify({ [root]: {} }))],
        ['more than 64 KB', 'application/json', JSON.stringify({ [root]: 'x'.repeat(70_000) })],
      ]
      for (const [what, contentType, payload] of bodies) {
        for (const format of ['xml', 'json'] as const) {
          const headers = {
            accept: mediaTypes[format],
            ...(contentType && { 'content-type': contentType }),
            ...(Buffer.isBuffer(payload) && { 'content-encoding': 'gzip' }),
          }
          const answer = await api.app.inject({ method: 'POST', url: secured(route), headers, payload })
          expectFailure(400, `${what} in ${format}`, answer, format)
          if (Buffer.isBuffer(payload)) expect(answer.body).toContain('this one is gzip: send it unpacked')
        }
      }
    })

    it('answers 401 to strangers', async () => {
      const secure = route.startsWith('/api/secure/')
      const attempts = secure
        ? [
            '',
            `api_key=${api.apiKey}`,
            `api_token=${token}`,
            `api_key=x&api_token=${token}`,
            `api_key=${api.apiKey}&api_token=x`,
          ]
        : []
      for (const query of attempts) {
        for (const format of ['xml', 'json'] as const) {
          expectFailure(401, query, await post(secured(route, query), await good(api), mediaTypes[format]), format)
        }
      }
      if (unauthorized === undefined) return
      for (const format of ['xml', 'json'] as const) {
        expectFailure(401, route, await post(route, unauthorized(api), mediaTypes[format]), format)
      }
    })

    it('answers 405 to other methods', async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'TRACE' as 'PUT'] as const) {
        const answer = await api.app.inject({ method, url: secured(route), headers: { accept: 'application/json' } })
        expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'POST, OPTIONS'])
      }
    })
  })

  it('answers 404 below regions to what is no count', async () => {
    for (const end of ['Africa', 'countries/projects'])
      await expectFailingRead(404, withKey(`${projects}/regions/${end}`))
  })

  it('answers 503 in maintenance, with when to come back, before it looks at key or body', async () => {
    await recordMaintenance(store.db, { until: new Date(api.now.getTime() + 20 * 60_000), at: api.now })
    await vi.waitFor(async () => expect((await get(`${projects}/themes`, '*/*')).statusCode).toBe(503), {
      timeout: 120_000,
      interval: 50,
    })
    for (const format of ['xml', 'json'] as const) {
      for (const { path: url } of readRequests) {
        for (const method of ['GET', 'HEAD'] as const) {
          const answer = await get(url, mediaTypes[format], method)
          if (method === 'GET') expectFailure(503, url, answer, format)
          expect([url, answer.statusCode, answer.headers['retry-after']]).toEqual([url, 503, '1200'])
        }
      }
      for (const route of Object.keys(posts)) {
        const answer = await post(route, { format, text: '' }, mediaTypes[format])
        expectFailure(503, route, answer, format)
        expect(answer.headers['retry-after']).toBe('1200')
        await expect(answer.body).toMatchFileSnapshot(`../../../golden/api/maintenance.${format}`)
      }
    }
    await endMaintenance(store.db)
  })
})
