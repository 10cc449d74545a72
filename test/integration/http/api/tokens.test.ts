import { describe, expect, it } from 'vitest'
import { findKey, issueToken, secretHash } from '../../../../src/accounts/sql/accounts.js'
import { findCaller } from '../../../../src/accounts/sql/callers.js'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { testApi, testUser } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const url = '/api/userservice/tokens'
const { email, password } = testUser

describe('the token operation', async () => {
  const { store } = await testDatabase()

  const api = await testApi(store)

  const post = (payload: string | Buffer, type: string, headers: Record<string, string> = {}) =>
    api.app.inject({ method: 'POST', url, payload, headers: { 'content-type': type, ...headers } })
  const json = (body: unknown) => post(JSON.stringify(body), 'application/json')
  const credentials = () => ({ api_key: api.apiKey, user: { email, password } })
  const xml = (user: string, key = api.apiKey) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<auth_request>\n  <user>${user}</user>\n  <api_key>${key}</api_key>\n</auth_request>`

  it('gives a token of 40 small letters and digits for JSON, in JSON', async () => {
    const answer = await json({ auth_request: credentials() })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json()).toEqual({ auth_response: { access_token: expect.stringMatching(/^[0-9a-z]{40}$/) } })
  })

  it('gives a token for XML with the password in CDATA, in XML', async () => {
    const body = xml(`<email> ${email} </email><password><![CDATA[${password}]]></password>`)
    for (const type of ['application/xml', 'text/xml; charset=utf-8', 'APPLICATION/XML']) {
      const answer = await post(body, type)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toBe('application/xml')
      expect(answer.body).toMatch(/<auth_response><access_token>[0-9a-z]{40}<\/access_token><\/auth_response>$/)
    }
  })

  it('issues tokens that are valid side by side, for their own key, until the user’s timeout', async () => {
    const { apiKey } = await createApiUser(api.deps, {
      ...testUser,
      email: 'short@example.org',
      tokenTimeoutSeconds: 60,
    })
    const body = { auth_request: { api_key: apiKey, user: { email: 'SHORT@example.org', password } } }
    const tokens = [await json(body), await json(body)].map((answer) => answer.json().auth_response.access_token)
    const later = (seconds: number) => new Date(api.now.getTime() + seconds * 1000)
    for (const token of tokens) {
      expect(await findCaller(store.db, { apiKey, token, at: later(59) })).toMatchObject({ tokenValid: true })
      expect(await findCaller(store.db, { apiKey, token, at: later(60) })).toMatchObject({ tokenValid: false })
      const ofAnother = { apiKey: api.apiKey, token, at: later(1) }
      expect(await findCaller(store.db, ofAnother)).toMatchObject({ tokenValid: false })
    }
  })

  it('leaves a key its newest hundred tokens', async () => {
    const { apiKey } = await createApiUser(api.deps, { ...testUser, email: 'many@example.org' })
    const keyId = (await findKey(store.db, secretHash(apiKey), api.now))?.id ?? 0
    const at = (second: number) => new Date(api.now.getTime() + second * 1000)
    const tokens: string[] = []
    for (let second = 0; second < 103; second++) {
      tokens.push(await issueToken(store.db, { keyId, timeoutSeconds: 3_600, at: at(second) }))
    }
    const callers = await Promise.all(tokens.map((token) => findCaller(store.db, { apiKey, token, at: at(200) })))
    expect(callers.map((found) => found?.tokenValid)).toEqual(tokens.map((_, index) => index >= 3))
  })

  it('stores neither keys, tokens nor passwords as text', async () => {
    const token = (await json({ auth_request: credentials() })).json().auth_response.access_token
    const { rows } = await store.db.query<{ dump: string }>(
      `select (select json_agg(a) from account a)::text || (select json_agg(k) from api_key k)::text
        || (select json_agg(t) from access_token t)::text as dump`,
    )
    for (const secret of [api.apiKey, token, password]) expect(rows[0]?.dump).not.toContain(secret)
  })

  it.each([
    ['an unknown key', { api_key: '5a0c1d2e-0000-4000-8000-00000000beef' }, 401, 'is not registered'],
    ['an unknown e-mail', { user: { email: 'nobody@example.org', password } }, 401, 'do not belong together'],
    ['a wrong password', { user: { email, password: 'wrong password' } }, 401, 'do not belong together'],
    ['a password with a blank more', { user: { email, password: `${password} ` } }, 401, 'do not belong together'],
    ['no e-mail', { user: { password } }, 400, 'auth_request.user.email: expected a text'],
    ['an empty password', { user: { email, password: '' } }, 400, 'auth_request.user.password'],
    ['a number as e-mail', { user: { email: 1, password } }, 400, 'auth_request.user.email'],
    ['no user', { user: undefined }, 400, 'auth_request.user: expected an object'],
    ['no key', { api_key: undefined }, 400, 'auth_request.api_key'],
  ])('refuses %s', async (_case, changes, status, message) => {
    const answer = await json({ auth_request: { ...credentials(), ...changes } })
    expect(answer.statusCode).toBe(status)
    expect(answer.json().error_response.errors.error[0].error_message).toContain(message)
  })

  it('names every field that is missing or wrong in an entry of its own, in both formats', async () => {
    type Errors = { error_response: { errors: { error: { error_message: string; error_number: number }[] } } }
    const entriesOf = ({ error_response: { errors } }: Errors) =>
      errors.error.map((entry) => [entry.error_message, entry.error_number])
    const missing = [
      ['auth_request.user: expected an object', 101],
      ['auth_request.user.email: expected a text', 101],
      ['auth_request.user.password: expected a text', 101],
      ['auth_request.api_key: expected a text', 101],
    ]
    for (const payload of ['{"auth_request":{}}', '{"auth_request":{"user":""}}']) {
      const answer = await post(payload, 'application/json')
      expect(answer.statusCode).toBe(400)
      expect(entriesOf(answer.json())).toEqual(missing)
    }
    const xml = await post('<auth_request/>', 'application/xml')
    const entries = missing.map(
      ([message, number]) =>
        `<error><error_message>${message}</error_message><error_number>${number}</error_number></error>`,
    )
    expect(xml.body).toContain(`<errors>${entries.join('')}</errors>`)
    const wrong = await json({ auth_request: { ...credentials(), user: { email: 'x'.repeat(300), password: '' } } })
    expect(entriesOf(wrong.json())).toEqual([
      ['auth_request.user.email: expected at most 254 characters', 102],
      ['auth_request.user.password: expected a text that is not empty', 101],
    ])
  })

  it('refuses the key of another account', async () => {
    const { apiKey } = await createApiUser(api.deps, { ...testUser, email: 'other@example.org' })
    expect((await json({ auth_request: { ...credentials(), api_key: apiKey } })).statusCode).toBe(401)
  })

  it('refuses an account that is disabled, and its key', async () => {
    const { apiKey } = await createApiUser(api.deps, { ...testUser, email: 'gone@example.org' })
    await store.db.query(`update account set disabled_at = now() where email = 'gone@example.org'`)
    const body = { auth_request: { api_key: apiKey, user: { email: 'gone@example.org', password } } }
    expect((await json(body)).statusCode).toBe(401)
  })

  const user = `<email>${email}</email><password>x</password>`
  it.each([
    ['single-quoted JSON', () => `{'auth_request':{}}`, 'application/json', 'JSON'],
    ['another JSON root', () => '{"auth":{}}', 'application/json', 'auth_request'],
    ['a JSON array', () => '[]', 'application/json', 'auth_request'],
    ['JSON that ends early', () => '{"auth_request":', 'application/json', 'JSON'],
    ['JSON that is not UTF-8', () => Buffer.from([0x22, 0xff, 0x22]), 'application/json', 'UTF-8'],
    [
      'JSON of too many members',
      () => `{"auth_request":[${'1,'.repeat(1_001)}1]}`,
      'application/json',
      '1000 elements',
    ],
    [
      'JSON that is too deep',
      () => `${'{"auth_request":'.repeat(20)}1${'}'.repeat(20)}`,
      'application/json',
      '16 levels',
    ],
    ['an empty body', () => '', 'application/json', 'no body'],
    ['another XML root', () => '<donation></donation>', 'application/xml', 'auth_request'],
    ['broken XML', () => '<auth_request><user></auth_request>', 'application/xml', 'XML'],
    ['a DOCTYPE', () => `<!DOCTYPE a [<!ENTITY x "y">]>${xml(user)}`, 'application/xml', 'DOCTYPE'],
    ['an unknown entity', () => xml('<email>&x;</email>'), 'application/xml', 'XML'],
    ['a missing XML field', () => xml('<email>a@b.example</email>'), 'application/xml', 'auth_request.user.password'],
    ['XML fields twice', () => xml(user + user), 'application/xml', 'auth_request.user.email'],
    ['another media type', () => 'a=b', 'application/x-www-form-urlencoded', 'Content-Type'],
    ['a media type that is none', () => '{}', 'json', 'Content-Type'],
    ['a body over 64 KB', () => JSON.stringify({ a: 'x'.repeat(70_000) }), 'application/json', '64 KB'],
  ])('answers %s with 400', async (_case, body, type, message) => {
    const answer = await post(body(), type, { accept: 'application/json' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error_response).toMatchObject({ error_code: 400, status: 'Bad Request' })
    expect(answer.body).toContain(message)
  })
})

describe('creating an API user', async () => {
  const { store } = await testDatabase()

  it('refuses what is no e-mail, a short password and a timeout of nothing, naming each', async () => {
    const { deps } = await testApi(store)
    const wrong = { email: 'nobody', password: 'short', tokenTimeoutSeconds: 0 }
    await expect(createApiUser(deps, wrong)).rejects.toMatchObject({
      code: 'request-invalid',
      problems: [{ field: 'email' }, { field: 'password' }, { field: 'tokenTimeoutSeconds' }],
    })
  })

  it('refuses an e-mail that has an account, whatever its letter case', async () => {
    const { deps } = await testApi(store, { store })
    await createApiUser(deps, { ...testUser, email: 'Twice@example.org' })
    await expect(createApiUser(deps, { ...testUser, email: 'tWICE@example.org' })).rejects.toMatchObject({
      code: 'request-invalid',
      problems: [{ field: 'email' }],
    })
  })
})
