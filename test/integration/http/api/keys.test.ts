import { describe, expect, it } from 'vitest'
import { recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { testApi, testUser } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const user = { email: testUser.email, password: testUser.password }
const page = 'https://www.example.org'
const read = '/api/public/projectservice/themes'
const secure = '/api/secure/givingservice/nothing'

describe('a key', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  await recordGrant(store.db, 1, 'donations', api.now)

  const post = (path: string, body: object) =>
    api.app.inject({
      ...{ method: 'POST', url: `/api/userservice/${path}`, payload: JSON.stringify(body) },
      headers: { 'content-type': 'application/json' },
    })
  const newKey = async (limits: object = {}): Promise<string> =>
    (await post('keys', { key_request: { user, ...limits } })).json().key_response.api_key
  const askToken = (apiKey: string) => post('tokens', { auth_request: { user, api_key: apiKey } })
  const get = (apiKey: string, origin?: string, path = read) =>
    api.app.inject({
      url: `${path}?api_key=${apiKey}&api_token=${'x'.repeat(40)}`,
      headers: { accept: 'application/json', ...(origin !== undefined && { origin }) },
    })
  const restricted = (answer: Awaited<ReturnType<typeof get>>) => [answer.statusCode, api.log.at(-1)?.error]

  it('and its token may be headers, and may not differ from the parameters', async () => {
    const key = await newKey()
    const token = (await askToken(key)).json().auth_response.access_token
    const asked = async (url: string, headers: Record<string, string>) => {
      const answer = await api.app.inject({ url, headers: { accept: 'application/json', ...headers } })
      return [answer.statusCode, answer.json().error_response?.errors.error[0].error_message]
    }
    const bearer = { authorization: `bearer  ${token} ` }
    expect(await asked(read, { 'x-api-key': ` ${key} `, authorization: 'Bearer of-a-proxy' })).toEqual([200, undefined])
    expect(await asked(`${read}?api_key=${key}`, { 'x-api-key': key })).toEqual([200, undefined])
    expect(await asked(`${read}?api_key=${key}`, { 'x-api-key': '' })).toEqual([200, undefined])
    expect((await asked(secure, { 'x-api-key': key, ...bearer }))[0]).toBe(404)
    expect((await asked(`${secure}?api_token=${token}`, { 'x-api-key': key, authorization: 'Basic YTpi' }))[0]).toBe(
      404,
    )
    expect((await asked(`${secure}?api_key=${key}&api_token=${token}`, bearer))[0]).toBe(404)
    expect(await asked(`${read}?api_key=other`, { 'x-api-key': key })).toEqual([
      400,
      'X-Api-Key and the query parameter api_key differ: send one of them',
    ])
    expect(await asked(`${secure}?api_key=${key}&api_token=other`, bearer)).toEqual([
      400,
      'Authorization and the query parameter api_token differ: send one of them',
    ])
    expect((await asked(secure, { 'x-api-key': key }))[1]).toBe(
      'the query parameter api_token or the header Authorization: Bearer is missing',
    )
  })

  it('for reads gets no token and does nothing secure', async () => {
    const key = await newKey({ scope: 'read' })
    expect((await get(key)).statusCode).toBe(200)
    expect(restricted(await askToken(key))).toEqual([401, 'key-restricted'])
    expect(restricted(await get(key, undefined, secure))).toEqual([401, 'key-restricted'])
    expect(
      (await post('tokens', { auth_request: { user: { ...user, password: 'wrong' }, api_key: key } })).body,
    ).toMatch('do not belong together')
  })

  it('for donations reads nothing, and does both where nothing is said', async () => {
    const key = await newKey({ scope: 'donate' })
    expect((await askToken(key)).statusCode).toBe(200)
    expect(restricted(await get(key))).toEqual([401, 'key-restricted'])
    for (const both of [await newKey(), await newKey({ scope: ' donate  read ' })]) {
      expect([(await askToken(both)).statusCode, (await get(both)).statusCode]).toEqual([200, 200])
    }
  })

  it('ends at its instant, with its tokens', async () => {
    const before = api.now
    const expires = new Date(before.getTime() + 3_600_000)
    const key = await newKey({ expires_at: expires.toISOString() })
    const token = (await askToken(key)).json().auth_response.access_token
    const status = async () => [
      (await askToken(key)).statusCode,
      (await api.app.inject(`${secure}?api_key=${key}&api_token=${token}`)).statusCode,
    ]
    expect(await status()).toEqual([200, 404])
    api.now = expires
    expect([...(await status()), (await get(key)).statusCode]).toEqual([401, 401, 401])
    api.now = before
  })

  it('of web pages reads for pages of its origins only, which alone may see the answer', async () => {
    const key = await newKey({ origins: `${page} http://localhost:3000` })
    for (const origin of [page, 'http://localhost:3000']) {
      const { statusCode, headers } = await get(key, origin)
      expect([statusCode, headers['access-control-allow-origin'], headers.vary]).toEqual([
        ...[200, origin, 'Accept, Accept-Encoding, Origin'],
      ])
    }
    for (const origin of [
      undefined,
      'https://example.org',
      `${page}.evil.example`,
      `${page}:8443`,
      'null',
      page.slice(1),
    ]) {
      const answer = await get(key, origin)
      expect([origin, ...restricted(answer)]).toEqual([origin, 401, 'key-restricted'])
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
      expect(answer.headers.vary).toBe('Accept, Origin')
    }
    expect(restricted(await get(key, page, secure))).toEqual([401, 'key-restricted'])
    expect(restricted(await askToken(key))).toEqual([401, 'key-restricted'])
    const { headers } = await get(await newKey(), 'https://anywhere.example')
    expect([headers['access-control-allow-origin'], headers.vary]).toEqual(['*', 'Accept, Accept-Encoding'])
  })

  it.each([
    ['a scope that is none', { scope: 'write' }, 'key_request.scope: expected read, donate'],
    ['a name of the prototype', { scope: 'constructor' }, 'key_request.scope: expected read, donate'],
    ['a page that donates', { scope: 'read donate', origins: page }, 'key_request.scope: expected read, since'],
    ['an origin with a path', { origins: `${page}/` }, 'key_request.origins: expected web origins'],
    ['an origin that is none', { origins: 'null' }, 'key_request.origins: expected web origins'],
    ['an end that is none', { expires_at: 'tomorrow' }, 'key_request.expires_at: expected an instant'],
    ['an end that is past', { expires_at: '2026-11-21T09:00:00Z' }, 'key_request.expires_at: expected an instant'],
  ])('is refused %s', async (_, limits, message) => {
    const answer = await post('keys', { key_request: { user, ...limits } })
    expect([answer.statusCode, answer.json().error_response.errors.error]).toEqual([
      400,
      [{ error_message: expect.stringContaining(message), error_number: 102 }],
    ])
  })

  it('tells when it was used, and writes that at most once in five minutes', async () => {
    const writes = async () => (await store.db.query('select id, last_used_at, xmin from api_key order by id')).rows
    const key = await newKey()
    const list = async () =>
      (await post('keys/list', { key_list_request: { user } })).json().key_list_response.keys.key as {
        readonly id: number
        readonly last_used_at?: string
      }[]
    expect((await list()).at(-1)).not.toHaveProperty('last_used_at')
    const start = api.now.getTime()
    const token = (await askToken(key)).json().auth_response.access_token
    const written = await writes()
    expect((await list()).at(-1)?.last_used_at).toBe('2026-11-21T09:00:00+00:00')
    api.now = new Date(start + 299_000)
    for (const use of [
      () => get(key),
      () => askToken(key),
      () => api.app.inject(`${secure}?api_key=${key}&api_token=${token}`),
    ]) {
      await use()
      expect(await writes()).toEqual(written)
    }
    api.now = new Date(start + 300_000)
    await askToken(key)
    expect((await list()).at(-1)?.last_used_at).toBe('2026-11-21T09:05:00+00:00')
    api.now = new Date(start)
  })

  it('is listed without its text, and revoked by its number, by its owner alone', async () => {
    const key = await newKey({ origins: page, expires_at: '2027-01-01T00:00:00Z' })
    const answer = await post('keys/list', { key_list_request: { user } })
    expect(answer.body).not.toContain(key)
    const listed = answer.json().key_list_response.keys.key
    expect(listed.at(-1)).toEqual({
      ...{ id: expect.any(Number), scope: 'read', origins: page },
      ...{ created_at: '2026-11-21T09:00:00+00:00', expires_at: '2027-01-01T00:00:00+00:00' },
    })
    const xml = parseElement((await post('keys/list.xml', { key_list_request: { user } })).body)
    expect(xml.children[0]?.children.at(-1)?.children.map(({ name }) => name)).toEqual([
      ...['created_at', 'expires_at', 'id', 'origins', 'scope'],
    ])
    const other = { email: 'other@example.org', password: 'seven quiet rivers' }
    await post('accounts', { account_request: { user: other } })
    const revoke = (who: object) =>
      post('keys/revoke', { key_revocation_request: { user: who, api_key: String(listed.at(-1).id) } })
    expect((await revoke(other)).statusCode).toBe(401)
    expect((await get(key, page)).statusCode).toBe(200)
    expect((await revoke(user)).statusCode).toBe(200)
    const left = (await post('keys/list', { key_list_request: { user } })).json().key_list_response.keys.key
    expect(left).toHaveLength(listed.length - 1)
  })

  it('counts towards the most of an account while it is valid', async () => {
    const before = api.now
    const expires_at = new Date(before.getTime() + 3_600_000).toISOString()
    const issue = async () => (await post('keys', { key_request: { user, expires_at } })).statusCode
    let issued = 0
    while ((await issue()) === 200) issued++
    expect(issued).toBeGreaterThan(0)
    api.now = new Date(expires_at)
    const again = (await post('keys', { key_request: { user } })).statusCode
    api.now = before
    expect(again).toBe(200)
  })
})
