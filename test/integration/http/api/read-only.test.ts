import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { migrate } from '../../../../src/platform/database/migrate.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { type TestApi, testApi, testUser } from '../../../support/api/api.js'
import { donationJson } from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const service = '/api/public'
const userService = '/api/userservice'
const json = { 'content-type': 'application/json' }

describe('a read-only database', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const opened = (max: number) => openStore({ url, max, applicationName: 'giving test' })
  const user = { email: testUser.email, password: testUser.password }
  let writable: TestApi
  let readOnlyStore: ReturnType<typeof opened>
  let api: TestApi
  let query = ''

  const post = (to: TestApi, path: string, body: unknown) =>
    to.app.inject({ method: 'POST', url: path, headers: json, payload: JSON.stringify(body) })
  const statusAndRetry = ({ statusCode, headers }: { statusCode: number; headers: Record<string, unknown> }) => [
    statusCode,
    headers['retry-after'],
  ]
  const switchReadOnly = (state: 'on' | 'off') =>
    store.db.query(`begin; set transaction read write; do $$ begin
      execute format('alter database %I set default_transaction_read_only = ${state}', current_database()); end $$; commit`)

  beforeAll(async () => {
    await storeWells(store.db)
    writable = await testApi(store)
    const { rows } = await store.db.query<{ id: number }>('select id from account where email = $1', [user.email])
    await recordGrant(store.db, rows[0]?.id ?? 0, 'donations', writable.now)
    const signIn = { auth_request: { user, api_key: writable.apiKey } }
    const token = (await post(writable, `${userService}/tokens`, signIn)).json().auth_response.access_token
    query = `api_key=${writable.apiKey}&api_token=${token}`
    await switchReadOnly('on')
    // The setting is that of new sessions.
    readOnlyStore = opened(2)
    api = await testApi(readOnlyStore, { store: readOnlyStore })
  })
  afterAll(() => readOnlyStore.close())

  const get = (from: TestApi, path: string) =>
    from.app.inject(`${service}${path}${path.includes('?') ? '&' : '?'}${query}`)
  const reads = [
    ['a list', '/projectservice/all/projects.json'],
    ['a list of organizations', '/orgservice/all/organizations.json'],
    ['one project', '/projectservice/projects/2045.json'],
    ['one organization', '/orgservice/organization/318.json'],
    ['the featured projects', '/projectservice/featured/projects.json'],
    ['a search', '/services/search/projects.json?q=water'],
  ] as const
  const bodies = new Map<string, string>()

  it.each(reads)('answers %s, and stores no text', async (_what, path) => {
    const answer = await get(api, path)
    expect(answer.statusCode, answer.body).toBe(200)
    bodies.set(path, answer.body)
    const { rowCount } = await store.db.query('select from wire_record union all select from organisation_record')
    expect(rowCount).toBe(0)
  })

  it.each(reads)('answers %s as a writable one does', async (_what, path) => {
    expect((await get(writable, path)).body).toBe(bodies.get(path))
  })

  const donation = () => post(api, `/api/secure/givingservice/donationsclient?${query}`, JSON.parse(donationJson))
  const registration = () =>
    post(api, `${userService}/accounts`, {
      account_request: { user: { email: 'new@example.org', password: 'seven quiet rivers run' } },
    })
  const newKey = () => post(api, `${userService}/keys`, { key_request: { user } })
  const signIn = () => post(api, `${userService}/tokens`, { auth_request: { user, api_key: writable.apiKey } })

  it.each([
    ['a donation', donation],
    ['a registration', registration],
    ['a new key', newKey],
    ['a sign-in', signIn],
  ])('answers %s with 503 and Retry-After', async (_what, write) => {
    expect(statusAndRetry(await write())).toEqual([503, '5'])
  })

  it('lets a process start on a schema that is up to date', async () => {
    expect((await migrate(readOnlyStore)).applied).toEqual([])
  })

  it('takes every write again once it is writable, without a restart', async () => {
    await switchReadOnly('off')
    for (const write of [donation, registration, newKey, signIn]) {
      await vi.waitFor(async () => expect((await write()).statusCode).toBe(200), { timeout: 120_000 })
    }
  })
})
