import { get } from 'node:http'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openStore } from '../../../../src/platform/database/store.js'
import { listen, type TestApi, testApi } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const path = '/api/public/services/search/projects.json'

describe('searches', async () => {
  const { store, url } = await testDatabase()
  const patient = openStore({ url, max: 2, applicationName: 'searches' })
  const hasty = openStore({ url, max: 2, applicationName: 'searches', statementTimeoutMs: 100 })

  await storeWells(store.db)
  const api = await testApi(store, { searches: patient })
  const hastyApi = await testApi(store, { store, searches: hasty })
  afterAll(async () => {
    await patient.close()
    await hasty.close()
  })

  const search = async (of: TestApi, q: string) =>
    await of.app.inject(`${path}?api_key=${api.apiKey}&q=${encodeURIComponent(q)}`)
  const running = async () => {
    const { rows } = await store.db.query<{ n: number }>(
      `select count(*) as n from pg_stat_activity
        where datname = current_database() and application_name = 'searches' and state = 'active'`,
    )
    return rows[0]?.n
  }
  /** Keeps every search waiting while `work` goes on. */
  const whileSearchesWait = (work: () => Promise<void>) =>
    store.transaction(async (db) => {
      await db.query('lock table project_search in access exclusive mode')
      await work()
    })

  it.each([
    ['33 words', Array.from({ length: 33 }, (_, index) => `-q${index}`).join(' ')],
    ['501 characters', 'q'.repeat(501)],
    ['16 KB', '-q '.repeat(5_000)],
  ])('of %s are refused, naming q and what is allowed', async (_what, q) => {
    const answer = await search(api, q)
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('the query parameter q must be at most 32 words and 500 characters')
  })

  it('of 32 words and 500 characters are done', async () => {
    const words = Array.from({ length: 32 }, (_, index) => `w${index}`).join(' ')
    expect((await search(api, words.padEnd(500, 'x'))).statusCode).toBe(200)
  })

  it('that take too long are ended by the server, and answered with 503 and when to come back', async () => {
    await whileSearchesWait(async () => {
      const answer = await search(hastyApi, 'water')
      expect(answer.statusCode).toBe(503)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      expect(answer.body).toContain('this search takes too long')
      await expect.poll(() => running()).toBe(0)
    })
    expect((await search(hastyApi, 'water')).statusCode).toBe(200)
  })

  it('keep no other read waiting', async () => {
    await whileSearchesWait(async () => {
      const searches = Array.from({ length: 8 }, (_, index) => search(hastyApi, `water ${index}`))
      const list = await hastyApi.app.inject(`/api/public/projectservice/all/projects.json?api_key=${api.apiKey}`)
      expect(list.statusCode).toBe(200)
      for (const answer of await Promise.all(searches)) expect(answer.statusCode).toBe(503)
    })
  })

  it('end at the server when the client goes away', async () => {
    const baseUrl = await listen(api.app)
    await whileSearchesWait(async () => {
      const request = get(`${baseUrl}${path}?api_key=${api.apiKey}&q=water`).on('error', () => undefined)
      await expect.poll(() => running()).toBe(1)
      request.destroy()
      await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 120_000 })
    })
  })
})
