import { beforeAll, describe, expect, it, vi } from 'vitest'
import { endMaintenance, recordMaintenance } from '../../../../src/accounts/sql/maintenance.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { type TestApi, testApi } from '../../../support/api/api.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'

const release = {
  id: '20261121T020000Z-1',
  lastModified: '2026-11-21T02:00:00Z',
  files: [{ path: '/iati/activities.xml', mediaType: 'application/xml; charset=utf-8', text: '<iati-activities/>' }],
}
const list = '/api/public/projectservice/all/projects'

describe('maintenance', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  let api: TestApi
  let other: TestApi
  beforeAll(async () => {
    api = await testApi(store)
    await layRelease(api.feedsDir, release)
    await api.app.ready()
    const otherStore = openStore({ url, max: 1, applicationName: 'giving test' })
    other = await testApi(store, { store: otherStore })
    await other.app.ready()
    return async () => {
      await other.app.close()
      await otherStore.close()
    }
  })

  const listStatus = async (of: TestApi) => (await of.app.inject(`${list}?api_key=${api.apiKey}`)).statusCode
  const followed = (status: number) =>
    vi.waitFor(
      async () => {
        expect([await listStatus(api), await listStatus(other)]).toEqual([status, status])
      },
      { interval: 50, timeout: 60_000 },
    )

  it('closes every path of the API in every process, with an error in the format asked for and when to come back', async () => {
    expect([await listStatus(api), await listStatus(other)]).toEqual([200, 200])
    await recordMaintenance(store.db, { until: new Date(api.now.getTime() + 20 * 60_000), at: api.now })
    await followed(503)
    for (const [method, path] of [
      ['GET', `${list}.json`],
      ['GET', '/api/%70ublic/projectservice/all/projects.json'],
      ['POST', '/api/userservice/tokens.json'],
      ['GET', '/api/nothing.json'],
      ['POST', '/api/secure/givingservice/donations.json'],
    ] as const) {
      const answer = await api.app.inject({ method, url: path })
      expect([path, answer.statusCode, answer.headers['retry-after']]).toEqual([path, 503, '1200'])
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.json().error_response).toMatchObject({ error_code: 503, status: 'Service Unavailable' })
      expect(answer.body).toContain('closed for maintenance until 2026-11-21T09:20:00Z')
    }
    expect((await api.app.inject(list)).headers['content-type']).toBe('application/xml')
    expect((await api.app.inject({ method: 'OPTIONS', url: list })).statusCode).toBe(204)
  })

  it('leaves published files, the index page, health and the description of the API open', async () => {
    for (const path of [
      '/iati/activities.xml',
      '/feeds/manifest.json',
      '/feeds/status.json',
      '/',
      '/healthz',
      '/readyz',
    ]) {
      expect([path, (await api.app.inject(path)).statusCode]).toEqual([path, 200])
    }
    for (const path of ['/api/docs', '/api/openapi.json', '/api/openapi-json.json'])
      expect((await api.app.inject(path)).statusCode).toBe(200)
  })

  it('ends when its time has come, and when the operator ends it', async () => {
    api.now = new Date(api.now.getTime() + 20 * 60_000)
    expect(await listStatus(api)).toBe(200)
    expect(await listStatus(other)).toBe(503)
    await endMaintenance(store.db)
    await followed(200)
  })

  it('goes on while the database is away', async () => {
    const broken = await testDatabase()
    const brokenStore = openStore({ url: broken.url, max: 2, applicationName: 'giving test' })
    await recordMaintenance(broken.store.db, { until: new Date('2026-11-21T10:00:00Z'), at: new Date() })
    const { app, log } = await testApi(store, { store: brokenStore })
    await app.ready()
    await broken.drop()
    await vi.waitFor(() => expect(JSON.stringify(log)).toContain('cannot read the maintenance state'), {
      timeout: 120_000,
    })
    const answer = await app.inject(`${list}.json`)
    expect(answer.body).toContain('closed for maintenance')
    await app.close()
    await brokenStore.close()
  })
})

describe('without a database', async () => {
  const { store } = await testDatabase()

  it('everything that is published is served on, and the index page', async () => {
    await using away = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', max: 1, applicationName: 'giving test' })
    const { app, feedsDir } = await testApi(store, {
      store: away,
      listRuns: () => away.db.query('select 1').then(() => []),
    })
    expect((await app.inject('/status')).body).toContain('The runs cannot be read at the moment')
    await layRelease(feedsDir, release)
    for (const path of [
      '/iati/activities.xml',
      '/feeds/manifest.json',
      `/feeds/releases/${release.id}/iati/activities.xml`,
    ]) {
      expect([path, (await app.inject(path)).statusCode]).toEqual([path, 200])
    }
    const index = await app.inject('/')
    expect(index.statusCode).toBe(200)
    expect(index.body).toContain('/iati/activities.xml')
    expect((await app.inject(`${list}?api_key=x`)).statusCode).toBe(503)
    await app.close()
  })
})
