import { beforeAll, describe, expect, it } from 'vitest'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { proxyHeaders, type TestApi, testApi, testConfig, testUser } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const { password } = testUser

describe('failed sign-ins', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  // Two processes, as far as the API can tell: each with connections and memory of its own.
  let one: TestApi
  let two: TestApi
  const keys = new Map<string, string>()
  const owner = 'owner@example.org'

  beforeAll(async () => {
    const config = { ...testConfig, trustProxy: true }
    one = await testApi(store, { store, config })
    const other = openStore({ url, max: 2, applicationName: 'giving test' })
    two = await testApi(store, { store: other, config })
    for (const email of [owner, 'other@example.org', 'third@example.org']) {
      keys.set(email, (await createApiUser(one.deps, { ...testUser, email })).apiKey)
    }
    return async () => {
      await two.app.close()
      await other.close()
    }
  })

  const signIn = async (api: TestApi, address: string, email: string, tried: string) => {
    const answer = await api.app.inject({
      ...{ method: 'POST', url: '/api/userservice/tokens' },
      headers: { 'content-type': 'application/json', ...proxyHeaders(address) },
      payload: JSON.stringify({
        auth_request: { user: { email, password: tried }, api_key: keys.get(email) ?? keys.get(owner) },
      }),
    })
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], body: answer.body }
  }
  const later = (seconds: number) => {
    for (const api of [one, two]) api.now = new Date(api.now.getTime() + seconds * 1000)
  }

  it('are refused for a while after five, by every process, even with the right password; then they count again', async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await signIn(attempt % 2 ? one : two, '192.0.2.1', owner, 'wrong')).status).toBe(401)
    }
    for (const api of [one, two]) {
      expect(await signIn(api, '192.0.2.1', owner, password)).toMatchObject({ status: 503, retryAfter: '1' })
    }
    // While refused, nothing is counted.
    for (let attempt = 0; attempt < 20; attempt++) await signIn(one, '192.0.2.1', owner, 'wrong')
    later(1)
    expect((await signIn(one, '192.0.2.1', owner, 'wrong')).status).toBe(401)
    expect(await signIn(two, '192.0.2.1', owner, password)).toMatchObject({ status: 503, retryAfter: '2' })
    later(2)
    expect((await signIn(two, '192.0.2.1', owner, password)).status).toBe(200)
    expect((await signIn(one, '192.0.2.1', owner, 'wrong')).status).toBe(401)
  })

  it('look the same for an e-mail that has no account', async () => {
    const outcomes = []
    for (const email of ['third@example.org', 'nobody@example.org']) {
      const address = email.startsWith('third') ? '192.0.2.20' : '192.0.2.21'
      const seen = []
      for (let attempt = 0; attempt < 6; attempt++) seen.push(await signIn(one, address, email, 'wrong'))
      outcomes.push(seen)
    }
    expect(outcomes[0]).toEqual(outcomes[1])
    expect(outcomes[0]?.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 503])
  })

  it('of many accounts are refused by address', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      expect((await signIn(one, '192.0.2.30', `guess${attempt}@example.org`, 'wrong')).status).toBe(401)
    }
    expect((await signIn(two, '192.0.2.30', 'other@example.org', password)).status).toBe(503)
    expect((await signIn(two, '192.0.2.31', 'other@example.org', password)).status).toBe(200)
  })

  it('from everywhere keep nobody out who has signed in from the same place before', async () => {
    expect((await signIn(one, '192.0.2.40', owner, password)).status).toBe(200)
    for (let attempt = 0; attempt < 25; attempt++) await signIn(one, `198.51.100.${attempt}`, owner, 'wrong')
    expect((await signIn(one, '198.51.100.200', owner, password)).status).toBe(503)
    expect((await signIn(one, '192.0.2.40', owner, password)).status).toBe(200)
    // A stranger waits a minute at most.
    later(60)
    expect((await signIn(one, '198.51.100.200', owner, password)).status).toBe(200)
  })

  it('are forgotten after an hour', async () => {
    for (let attempt = 0; attempt < 11; attempt++) {
      later(40)
      expect((await signIn(one, '192.0.2.50', 'other@example.org', 'wrong')).status).toBe(401)
    }
    expect(Number((await signIn(one, '192.0.2.50', 'other@example.org', password)).retryAfter)).toBeGreaterThan(20)
    later(3_600)
    expect((await signIn(one, '192.0.2.50', 'other@example.org', 'wrong')).status).toBe(401)
    expect((await signIn(one, '192.0.2.50', 'other@example.org', password)).status).toBe(200)
    const { rows } = await store.db.query<{ count: number }>('select count(*) from attempt_count where attempts > 5')
    expect(rows[0]?.count).toBeLessThan(20)
  })

  it('are counted before the password is checked, so that many at once are counted like one after the other', async () => {
    const guesses = Array.from({ length: 40 }, () => signIn(one, '192.0.2.60', owner, 'wrong'))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5)
    // A burst is no more than a few guesses: the right password waits for seconds, not for a quarter of an hour.
    const next = await signIn(one, '192.0.2.60', owner, password)
    expect([200, 503]).toContain(next.status)
    expect(Number(next.retryAfter ?? 0)).toBeLessThanOrEqual(2)
    later(2)
    expect((await signIn(one, '192.0.2.60', owner, password)).status).toBe(200)
  })

  it('are counted for the account, however its e-mail is written', async () => {
    const turkish = 'istanbul@example.org'
    keys.set(turkish, (await createApiUser(one.deps, { ...testUser, email: turkish })).apiKey)
    const { rows } = await store.db.query<{ written: string }>(`select lower('İSTANBUL@EXAMPLE.ORG') as written`)
    const variants = ['ISTANBUL@example.org', 'Istanbul@EXAMPLE.org', 'istanbul@example.org', ' istanbul@example.org ']
    if (rows[0]?.written === turkish) variants.push('İstanbul@example.org')
    const statuses = []
    for (const email of [...variants, ...variants]) {
      statuses.push((await signIn(one, '192.0.2.70', email, 'wrong')).status)
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  })

  it('beyond the limit of an address get the same answers for known and unknown e-mails', async () => {
    const address = '192.0.2.80'
    expect((await signIn(one, address, 'third@example.org', password)).status).toBe(200)
    for (let attempt = 0; attempt < 20; attempt++) await signIn(one, address, `guess${attempt}@example.org`, 'wrong')
    const answersTo = async (email: string) => {
      const answers = []
      for (let attempt = 0; attempt < 7; attempt++) answers.push(await signIn(one, address, email, 'wrong'))
      return answers
    }
    const known = await answersTo('third@example.org')
    expect(known).toEqual(await answersTo('nobody2@example.org'))
    expect(known.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 503))
  })

  it('that are right are not counted, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => signIn(one, '192.0.2.95', owner, password)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  })

  it('of processes whose clocks differ do not make a right one wait', async () => {
    one.now = new Date(two.now.getTime() + 1)
    expect((await signIn(one, '192.0.2.97', owner, 'wrong')).status).toBe(401)
    expect((await signIn(two, '192.0.2.97', owner, password)).status).toBe(200)
    two.now = one.now
  })

  it('take nothing away when they succeed', async () => {
    const address = '192.0.2.90'
    for (let attempt = 0; attempt < 19; attempt++) await signIn(one, address, `other${attempt}@example.org`, 'wrong')
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await signIn(one, address, 'other@example.org', password)).status).toBe(200)
    }
    expect((await signIn(one, address, 'guess99@example.org', 'wrong')).status).toBe(401)
    expect((await signIn(one, address, 'guess98@example.org', 'wrong')).status).toBe(503)
  })

  it('leave neither addresses nor e-mails in the table', async () => {
    const { rows } = await store.db.query<{ dump: string }>('select json_agg(a)::text as dump from attempt_count a')
    expect(rows[0]?.dump).toMatch(/subject/)
    expect(rows[0]?.dump).not.toMatch(/192\.0|example/)
  })
})

describe('new accounts', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store, { store })

  it('from one address are counted also when many are asked for at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 44 }, (_, index) =>
        api.app.inject({
          ...{ method: 'POST', url: '/api/userservice/accounts', headers: { 'content-type': 'application/json' } },
          payload: JSON.stringify({
            account_request: { user: { email: `new${index}@example.org`, password: 'seven quiet rivers run' } },
          }),
        }),
      ),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 503).length).toBeGreaterThanOrEqual(34)
    const { rows } = await store.db.query<{ n: number }>('select count(*) as n from account')
    expect(rows[0]?.n).toBeLessThanOrEqual(10)
  })
})
