import { describe, expect, it } from 'vitest'
import {
  disableAccount,
  enableAccount,
  getAccountId,
  recordGrant,
  withdrawGrant,
} from '../../../../src/accounts/sql/account-administration.js'
import { listKeys, revokeKey } from '../../../../src/accounts/sql/api-keys.js'
import { createAuthentication } from '../../../../src/http/api/operations/authenticate.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { proxyHeaders, type TestApi, testApi, testConfig } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const password = 'a quiet <river> & 7 stones'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const service = '/api/userservice'

/** The members of a JSON body as the elements of an XML one, passwords in CDATA. */
function toXml(name: string, value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const inner = Object.entries(value).map(([child, one]) => toXml(child, one))
    return `<${name}>${inner.join('')}</${name}>`
  }
  return `<${name}><![CDATA[${String(value)}]]></${name}>`
}

function client(api: TestApi, headers: Record<string, string> = {}) {
  const json = (path: string, body: unknown) =>
    api.app.inject({
      ...{ method: 'POST', url: service + path, payload: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    })
  const xml = (path: string, root: string, body: unknown) =>
    api.app.inject({
      ...{ method: 'POST', url: service + path, payload: toXml(root, body) },
      headers: { 'content-type': 'application/xml', ...headers },
    })
  const newKey = async (email: string): Promise<string> => {
    await json('/accounts', { account_request: { user: { email, password } } })
    return (await json('/keys', { key_request: { user: { email, password } } })).json().key_response.api_key
  }
  const newToken = async (email: string, apiKey: string): Promise<string> =>
    (await json('/tokens', { auth_request: { user: { email, password }, api_key: apiKey } })).json().auth_response
      .access_token
  return { json, xml, newKey, newToken }
}

const messageOf = (answer: { json(): { error_response: { errors: { error: { error_message: string }[] } } } }) =>
  answer.json().error_response.errors.error[0]?.error_message

describe('a person without an account', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  const call = client(api)
  // Believes X-Forwarded-For, since new accounts are counted by address.
  const proxied = await testApi(store, { store, config: { ...testConfig, trustProxy: true } })

  it('makes one, gets a key with it, and reads, in JSON', async () => {
    const user = { email: ' New@example.org ', password }
    const account = await call.json('/accounts', { account_request: { user } })
    expect(account.statusCode).toBe(200)
    expect(account.json()).toEqual({ account_response: { email: 'New@example.org' } })
    const key = await call.json('/keys', { key_request: { user } })
    expect(key.statusCode).toBe(200)
    expect(key.headers['cache-control']).toBe('no-store')
    expect(key.json()).toEqual({ key_response: { api_key: expect.stringMatching(uuid) } })
    const list = await api.app.inject(
      `/api/public/projectservice/all/projects?api_key=${key.json().key_response.api_key}`,
    )
    expect(list.statusCode).toBe(200)
  })

  it('does the same in XML, with the password in CDATA, with suffix or slash', async () => {
    const user = { email: 'xml@example.org', password }
    const account = await call.xml('/accounts/', 'account_request', { user })
    expect(account.headers['content-type']).toBe('application/xml')
    expect(account.body).toMatch(/<account_response><email>xml@example.org<\/email><\/account_response>$/)
    const key = await call.xml('/keys.xml', 'key_request', { user })
    expect(parseElement(key.body).children).toMatchObject([{ name: 'api_key', text: expect.stringMatching(uuid) }])
    expect((await call.xml('/keys.json', 'key_request', { user })).json().key_response.api_key).toMatch(uuid)
  })

  it.each([
    ['a short password', { password: 'short' }, 'account_request.user.password: expected at least 12 characters'],
    ['a common password', { password: 'Password1234' }, 'not easy to guess'],
    ['a repeated password', { password: 'hunter2hunter2' }, 'not easy to guess'],
    ['a sequence', { password: '123456789012' }, 'not easy to guess'],
    ['its own e-mail', { email: 'somebody.else@example.org', password: 'somebody.else' }, 'not easy to guess'],
    ['what is no e-mail', { email: 'nobody' }, 'account_request.user.email: expected an e-mail address'],
    ['a very long e-mail', { email: `${'x'.repeat(300)}@example.org` }, 'user.email: expected at most 254 characters'],
    ['a very long password', { password: 'x'.repeat(2_000) }, 'user.password: expected at most 1024 characters'],
    ['NUL in an e-mail', { email: 'a\0b@example.org' }, 'user.email: expected a text without NUL'],
    ['NUL in a password', { password: `${password}\0` }, 'user.password: expected a text without NUL'],
    ['a member that reaches the prototype', JSON.parse('{"__proto__":{"email":"x"}}'), '__proto__'],
    ['no e-mail', { email: undefined }, 'account_request.user.email: expected a text'],
  ])('is refused %s', async (what, changes, message) => {
    const user = { email: 'somebody.else@example.org', password }
    const payload = JSON.stringify({ account_request: { user: { ...user, ...changes } } }).replace(
      '"user":{',
      Object.hasOwn(changes, '__proto__') ? '"user":{"__proto__":{},' : '"user":{',
    )
    const answer = await proxied.app.inject({
      ...{ method: 'POST', url: `${service}/accounts`, payload },
      headers: { 'content-type': 'application/json', ...proxyHeaders(`198.51.100.${what.length}`) },
    })
    expect(answer.statusCode).toBe(400)
    expect(messageOf(answer)).toContain(message)
  })

  it('learns of an e-mail that is taken only by asking for it, whatever its letter case', async () => {
    await call.json('/accounts', { account_request: { user: { email: 'taken@example.org', password } } })
    const again = await call.json('/accounts', { account_request: { user: { email: 'TAKEN@example.org', password } } })
    expect(again.statusCode).toBe(400)
    expect(messageOf(again)).toContain('exists already')
    const guesses = await Promise.all(
      ['taken@example.org', 'free@example.org'].map((email) =>
        call.json('/keys', { key_request: { user: { email, password: 'not the password' } } }),
      ),
    )
    const [taken, free] = guesses.map((answer) => ({ status: answer.statusCode, body: answer.body }))
    expect(taken).toEqual(free)
    expect(taken?.status).toBe(401)
  })

  it('cannot make accounts without end from one address', async () => {
    const make = (number: number, address = '203.0.113.9') =>
      client(proxied, proxyHeaders(address)).json('/accounts', {
        account_request: { user: { email: `many${number}@example.org`, password } },
      })
    for (let number = 0; number < 10; number++) expect((await make(number)).statusCode).toBe(200)
    const refused = await make(10)
    expect(refused.statusCode).toBe(503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect((await make(10, '203.0.113.10')).statusCode).toBe(200)
    proxied.now = new Date(proxied.now.getTime() + 2_000)
    expect((await make(11)).statusCode).toBe(200)
  })
})

describe('the keys of an account', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  const call = client(api)

  it('end when they are revoked, with their tokens, and only by their owner', async () => {
    const [mine, other] = [await call.newKey('mine@example.org'), await call.newKey('other@example.org')]
    const revoke = (email: string, apiKey: string) =>
      call.json('/keys/revoke', { key_revocation_request: { user: { email, password }, api_key: apiKey } })
    await call.newToken('mine@example.org', mine)
    expect((await revoke('other@example.org', mine)).statusCode).toBe(401)
    const answer = await revoke('mine@example.org', mine)
    expect(answer.json()).toEqual({ revocation_response: { revoked: true } })
    expect((await revoke('mine@example.org', mine)).statusCode).toBe(200)
    expect(
      (await call.json('/tokens', { auth_request: { user: { email: 'mine@example.org', password }, api_key: mine } }))
        .statusCode,
    ).toBe(401)
    const { rowCount } = await store.db.query('select from access_token')
    expect(rowCount).toBe(0)
    const xml = await call.xml('/keys/revoke', 'key_revocation_request', {
      user: { email: 'other@example.org', password },
      api_key: other,
    })
    expect(xml.body).toMatch(/<revocation_response><revoked>true<\/revoked><\/revocation_response>$/)
  })

  it('are at most twenty at a time', async () => {
    await call.newKey('collector@example.org')
    const user = { email: 'collector@example.org', password }
    const answers = []
    // Two at a time: more of one account would have to queue.
    for (let pair = 0; pair < 11; pair++) {
      answers.push(...(await Promise.all([1, 2].map(() => call.json('/keys', { key_request: { user } })))))
    }
    expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(19)
    expect(answers.filter((answer) => answer.statusCode === 400)).toHaveLength(3)
    expect((await listKeys(store.db, 'COLLECTOR@example.org')).length).toBe(20)
  })

  it('are remembered for at most 5 s after they were revoked or their account was disabled', async () => {
    const apiKey = await call.newKey('cached@example.org')
    const id = await getAccountId(store.db, 'cached@example.org')
    let now = 0
    const authenticate = createAuthentication(api.deps, () => now)
    await authenticate(apiKey)
    await disableAccount(store.db, id, api.now)
    now = 4_999
    await expect(authenticate(apiKey)).resolves.toMatchObject({ accountId: id })
    now = 5_000
    await expect(authenticate(apiKey)).rejects.toMatchObject({ code: 'key-unknown' })
    await enableAccount(store.db, id)
    await expect(authenticate(apiKey)).resolves.toMatchObject({ accountId: id })
    const [key] = await listKeys(store.db, 'cached@example.org')
    expect(await revokeKey(store.db, { id: key?.id ?? 0 }, api.now)).toBeDefined()
    now = 10_000
    await expect(authenticate(apiKey)).rejects.toMatchObject({ code: 'key-unknown' })
  })
})

describe('the secure area', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  const email = 'giver@example.org'
  const api = await testApi(store)
  const call = client(api)
  const apiKey = await call.newKey(email)
  const token = await call.newToken(email, apiKey)
  const accountId = await getAccountId(store.db, email)
  await recordGrant(store.db, accountId, 'donations', api.now)

  const get = (query: Record<string, string>, path = '/api/secure/givingservice/nothing') =>
    api.app.inject({ url: `${path}?${new URLSearchParams(query)}`, headers: { accept: 'application/json' } })

  it('is 404 at an unknown address for whoever may ask, in the format that was asked for', async () => {
    expect((await get({ api_key: apiKey, api_token: token })).statusCode).toBe(404)
    expect((await get({ api_key: apiKey.toUpperCase(), api_token: token })).statusCode).toBe(404)
    const xml = await get({ api_key: apiKey, api_token: token }, '/api/secure/nothing.xml')
    expect(xml.statusCode).toBe(404)
    expect(xml.headers['content-type']).toBe('application/xml')
  })

  it('is 401 for everybody else, whatever the address, the method and the body', async () => {
    const otherKey = await call.newKey('second@example.org')
    const cases = {
      'no key': { api_token: token },
      'no token': { api_key: apiKey },
      'an empty token': { api_key: apiKey, api_token: ' ' },
      'an unknown key': { api_key: '5a0c1d2e-0000-4000-8000-00000000beef', api_token: token },
      'an unknown token': { api_key: apiKey, api_token: token.replaceAll(/./g, 'a') },
      'the token of another key': { api_key: otherKey, api_token: token },
      'token and key swapped': { api_key: token, api_token: apiKey },
    }
    for (const [name, query] of Object.entries(cases)) {
      for (const path of ['/api/secure/givingservice/donations', '/api/secure/x/', '/api/%73ecure/y', '/api/secure']) {
        const answer = await get(query as Record<string, string>, path)
        expect([name, path, answer.statusCode]).toEqual([name, path, 401])
        expect(answer.json().error_response.status).toBe('Unauthorized')
      }
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const) {
      const answer = await api.app.inject({
        ...{ method, url: '/api/secure/givingservice/donations', payload: 'x'.repeat(70_000) },
        headers: { 'content-type': 'who/knows' },
      })
      expect([method, answer.statusCode]).toEqual([method, 401])
    }
  })

  it('is open to browsers’ first question', async () => {
    expect((await api.app.inject({ method: 'OPTIONS', url: '/api/secure/givingservice/donations' })).statusCode).toBe(
      204,
    )
  })

  it('ends with the token’s time, the sign-out, the grant, the account, each at once', async () => {
    const status = async (token: string) => (await get({ api_key: apiKey, api_token: token })).statusCode
    const [first, second] = [await call.newToken(email, apiKey), await call.newToken(email, apiKey)]
    expect([await status(token), await status(first), await status(second)]).toEqual([404, 404, 404])

    const signOut = { token_revocation_request: { api_key: apiKey, access_token: first } }
    expect((await call.json('/tokens/revoke', signOut)).json()).toEqual({ revocation_response: { revoked: true } })
    expect((await call.json('/tokens/revoke', signOut)).statusCode).toBe(200)
    expect([await status(first), await status(second)]).toEqual([401, 404])
    const otherKey = await call.newKey('third@example.org')
    const notMine = { token_revocation_request: { api_key: otherKey, access_token: second } }
    expect((await call.json('/tokens/revoke', notMine)).statusCode).toBe(200)
    expect(await status(second)).toBe(404)

    await withdrawGrant(store.db, accountId, 'donations')
    expect(messageOf(await get({ api_key: apiKey, api_token: second }))).toContain('has not been granted')
    await recordGrant(store.db, accountId, 'donations', api.now)
    expect(await status(second)).toBe(404)

    await disableAccount(store.db, accountId, api.now)
    expect(await status(second)).toBe(401)
    await enableAccount(store.db, accountId)
    expect(await status(second)).toBe(401)

    const third = await call.newToken(email, apiKey)
    const before = api.now
    api.now = new Date(before.getTime() + 36_000_000 - 1_000)
    expect(await status(third)).toBe(404)
    api.now = new Date(before.getTime() + 36_000_000)
    expect(await status(third)).toBe(401)
    api.now = before
  })

  it('ends with a pause where TOKEN_IDLE_MINUTES says so', async () => {
    const idle = await testApi(store, { store, config: { ...testConfig, tokenIdleSeconds: 1800 } })
    const start = api.now.getTime()
    const used = await call.newToken(email, apiKey)
    const statusAfter = async (minutes: number, { app } = idle) => {
      idle.now = new Date(start + minutes * 60_000)
      const query = new URLSearchParams({ api_key: apiKey, api_token: used })
      return (await app.inject({ url: `/api/secure/givingservice/nothing?${query}` })).statusCode
    }
    expect([await statusAfter(29), await statusAfter(58), await statusAfter(87)]).toEqual([404, 404, 404])
    // A use of the last five minutes may be unrecorded.
    expect([await statusAfter(117), await statusAfter(118)]).toEqual([401, 401])
    // Elsewhere it is valid for as long as ever.
    expect(await statusAfter(118, api)).toBe(404)
  })

  it('never lets a key, a token or a password into the log', () => {
    const log = JSON.stringify(api.log)
    for (const secret of [apiKey, token, password, 'quiet <river>']) expect(log).not.toContain(secret)
  })
})
