import { describe, expect, it } from 'vitest'
import { proxyHeaders, type TestApi, testApi, testConfig } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const secured = [
  '/api/userservice/tokens',
  '/api/userservice/accounts',
  '/api/userservice/keys/revoke',
  '/api/secure',
  '/api/secure/givingservice/donationsclient',
  '/subscriptions',
]
const message =
  'this address answers over HTTPS only: a password or token that was sent over plain HTTP should be replaced'

describe('plain HTTP from another machine', async () => {
  const { store } = await testDatabase()
  const direct = await testApi(store)
  const proxied = await testApi(store, { store, config: { ...testConfig, trustProxy: true } })
  const post = async (
    { app }: TestApi,
    url: string,
    { remoteAddress = '192.0.2.1', ...headers }: Readonly<Record<string, string>> = {},
  ) =>
    await app.inject({
      ...{ method: 'POST', url: `${url}?api_key=x&api_token=y`, payload: '{}', remoteAddress },
      headers: { 'content-type': 'application/json', ...headers },
    })

  it.each(secured)('is refused with 403 before anything is read: %s', async (url) => {
    const answer = await post(direct, url)
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toEqual({
      error_response: { error_code: 403, errors: { error: [{ error_message: message }] }, status: 'Forbidden' },
    })
    expect((await post(direct, url, { accept: 'application/xml' })).body).toContain(
      `<error_response><error_code>403</error_code><errors><error><error_message>${message}</error_message></error></errors>`,
    )
  })

  it.each(secured)('is refused also where a proxy took the request over plain HTTP: %s', async (url) => {
    expect((await post(proxied, url, { ...proxyHeaders('192.0.2.1'), 'x-forwarded-proto': 'http' })).statusCode).toBe(
      403,
    )
    expect((await post(proxied, url, { 'x-forwarded-for': '192.0.2.1' })).statusCode).toBe(403)
    expect((await post(proxied, url, proxyHeaders('192.0.2.1'))).statusCode).not.toBe(403)
  })

  it('is refused where a proxy that is not trusted says that it was HTTPS', async () => {
    expect((await post(direct, '/api/secure', proxyHeaders('127.0.0.1'))).statusCode).toBe(403)
  })

  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])(
    'is taken from the same machine: %s',
    async (remoteAddress) => {
      expect((await post(direct, '/api/userservice/tokens', { remoteAddress })).statusCode).toBe(400)
      expect((await post(direct, '/api/secure/x', { remoteAddress })).statusCode).toBe(401)
    },
  )

  it('is taken where the operator allows it', async () => {
    const open = await testApi(store, { store, config: { ...testConfig, allowPlainHttp: true } })
    expect((await post(open, '/api/userservice/tokens')).statusCode).toBe(400)
  })

  it('is taken for everything else', async () => {
    const ask = async (url: string) => (await direct.app.inject({ url, remoteAddress: '192.0.2.1' })).statusCode
    expect([await ask('/'), await ask('/healthz'), await ask('/api/public/projectservice/themes')]).toEqual([
      200, 200, 401,
    ])
    const preflight = await direct.app.inject({
      method: 'OPTIONS',
      url: '/api/userservice/tokens',
      remoteAddress: '192.0.2.1',
    })
    expect(preflight.statusCode).toBe(204)
  })
})
