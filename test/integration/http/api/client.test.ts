import { describe, expect, it, vi } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { endMaintenance, recordMaintenance } from '../../../../src/accounts/sql/maintenance.js'
import { AnswerError, type Client, createClient } from '../../../../src/client/client.js'
import { listen, testApi } from '../../../support/api/api.js'
import { insertDonationTargets } from '../../../support/money/donations.js'
import { insertOrganisation } from '../../../support/store/catalogue.js'
import { testDatabase } from '../../../support/store/database.js'

const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
const list = '/api/public/projectservice/all/projects'
const one = '/api/public/projectservice/projects/{projectId}'
const donate = '/api/secure/givingservice/donationsclient'

const failureOf = async (answer: Promise<unknown>) => {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AnswerError)
  return error as AnswerError
}

describe('the published client', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  let apiKey = ''
  let client: Client
  const waits: number[] = []
  /** The test's clock moves instead. */
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds)
    api.now = new Date(api.now.getTime() + milliseconds)
  }
  const api = await testApi(store)
  const url = await listen(api.app)
  await insertDonationTargets(store.db, [2045, 2061])
  await store.db.query(
    `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
        values (1, 2045, 'The pump runs', 'Tara Water Trust', now(), now(), '<p>Water.</p>', 'https://giving.example/1')`,
  )
  const donation = (transactionId: string) => ({
    donation: {
      ...{ refcode: 'spring-drive', transactionId, email: 'lina@example.org', amount: 40, project: { id: 2045 } },
      payment_detail: {
        ...{ firstname: 'Lina', lastname: 'Okoro', paymentGateway: 'braintree' },
        ...{ paymentGatewayKey: 'sandbox_demo_key', paymentGatewayNonce: 'fake-valid-nonce' },
      },
    },
  })

  it('makes an account and a key', async () => {
    const person = createClient({ url })
    const { account_response } = await person.post('/api/userservice/accounts', { body: { account_request: { user } } })
    expect(account_response).toEqual({ email: user.email })
    const { key_response } = await person.post('/api/userservice/keys', { body: { key_request: { user } } })
    apiKey = key_response.api_key
    client = createClient({ url: `${url}/`, apiKey, user, wait })
  })

  it('reads a list page by page, a project and its reports', async () => {
    const { projects } = await client.get(list, { query: { limit: 1 } })
    expect(projects).toMatchObject({ numberFound: 2, nextProjectId: 2061, project: [{ id: 2045 }] })
    const next = await client.get(list, { query: { limit: 1, nextProjectId: projects.nextProjectId ?? 0 } })
    expect(next.projects.project?.map(({ id }) => id)).toEqual([2061])
    const { project } = await client.get(one, { path: { projectId: 2045 } })
    expect(project.title).toBe('Wells for Tara')
    const feed = await client.get('/api/public/projectservice/projects/{projectId}/reports', {
      path: { projectId: 2045 },
    })
    expect(feed.entries.map(({ title }) => title)).toEqual(['The pump runs'])
  })

  it('reads every record of a list, page after page', async () => {
    const ids: number[] = []
    for await (const { id } of client.records(list, { query: { limit: 1 } })) ids.push(id)
    expect(ids).toEqual([2045, 2061])
    const names: string[] = []
    for (const id of [31, 32, 33]) await insertOrganisation(store.db, id)
    for await (const { name } of client.records('/api/public/orgservice/all/organizations', { query: { limit: 1 } }))
      names.push(name)
    expect(names).toEqual(['Organisation 31', 'Organisation 32', 'Organisation 33'])
  })

  it('gets a token for a donation, and another one when that has expired', async () => {
    expect(await failureOf(client.post(donate, { body: donation('tx-1') }))).toMatchObject({ status: 401 })
    await recordGrant(store.db, await getAccountId(store.db, user.email), 'donations', api.now)
    for (const [transactionId, funding] of [
      ['tx-1', 1290],
      ['tx-2', 1330],
    ] as const) {
      const answer = await client.post(donate, { body: donation(transactionId) })
      expect(answer.donation).toMatchObject({ transactionId, project: { funding } })
      api.now = new Date(api.now.getTime() + 11 * 3_600_000)
    }
    const test = await client.post(donate, { query: { is_test: 'true' }, body: donation('tx-3') })
    expect(test.donation.project.funding).toBe(1370)
  })

  it('sends a donation with a transactionId again after a lost connection, and it is charged once', async () => {
    let lost = 0
    const losing: typeof fetch = async (...request) => {
      const answer = await fetch(...request)
      if (!String(request[0]).includes('donationsclient') || lost > 0) return answer
      lost += 1
      throw new TypeError('fetch failed')
    }
    const waitedBefore = waits.length
    const other = createClient({ url, apiKey, user, wait, fetch: losing })
    expect((await other.post(donate, { body: donation('tx-4') })).donation.project.funding).toBe(1370)
    expect([lost, waits.splice(waitedBefore)]).toEqual([1, [1000]])
    lost = 0
    const { donation: without } = donation('')
    await expect(other.post(donate, { body: { donation: without } })).rejects.toThrow('fetch failed')
  })

  it('takes a token of the caller', async () => {
    const { auth_response } = await client.post('/api/userservice/tokens', {
      body: { auth_request: { user, api_key: apiKey } },
    })
    const other = createClient({ url, apiKey, apiToken: auth_response.access_token })
    const address = '/api/secure/givingservice/clienttoken'
    expect((await other.get(address)).client_token.paymentGateway).toBe('sandbox')
    expect(await failureOf(createClient({ url, apiKey }).get(address))).toMatchObject({ status: 401 })
  })

  it('has the entries of an error, and in the message the address without its query', async () => {
    const gone = await failureOf(client.get(one, { path: { projectId: 9 } }))
    expect(gone).toMatchObject({ status: 404, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(gone.message).toBe(`GET ${one}: 404 ${gone.entries[0]?.error_message}`)
    const body = { auth_request: {} } as never
    const several = await failureOf(client.post('/api/userservice/tokens', { body }))
    expect(several.status).toBe(400)
    expect(several.entries.length).toBeGreaterThan(1)
    expect(new Set(several.entries.map(({ error_number }) => error_number))).toEqual(new Set([101]))
  })

  it('refuses a value that would lead to another address', async () => {
    for (const themeId of ['', '.', '..']) {
      await expect(
        client.get('/api/public/projectservice/themes/{themeId}/projects', { path: { themeId } }),
      ).rejects.toThrow(`path.themeId: expected a value for`)
    }
    const slash = client.get('/api/public/projectservice/themes/{themeId}/projects', { path: { themeId: 'a/../b' } })
    expect((await failureOf(slash)).entries[0]?.error_message).toContain('a/../b')
  })

  it('sends a read again after the seconds of a 503, never a write', async () => {
    const closed = async (seconds: number) => {
      await recordMaintenance(store.db, { until: new Date(api.now.getTime() + seconds * 1000), at: api.now })
      const status = async () => (await api.app.inject(`${list}.json?api_key=${apiKey}`)).statusCode
      await vi.waitFor(async () => expect(await status()).toBe(503), { interval: 50, timeout: 60_000 })
    }
    await closed(30)
    const written = client.post('/api/userservice/keys', { body: { key_request: { user } } })
    expect(await failureOf(written)).toMatchObject({ status: 503, retryAfter: 30 })
    expect(await failureOf(createClient({ url, apiKey, wait, retries: 0 }).get(list))).toMatchObject({ status: 503 })
    expect(waits).toEqual([])
    expect((await client.get(list)).projects.numberFound).toBe(2)
    expect(waits).toEqual([30_000])
    await closed(600)
    expect(await failureOf(client.get(list))).toMatchObject({ status: 503, retryAfter: 600 })
    expect(waits).toEqual([30_000])
    await endMaintenance(store.db)
  })
})
