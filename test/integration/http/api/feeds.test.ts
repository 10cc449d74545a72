import { rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import type { ReleaseReader } from '../../../../src/release/read/release-reader.js'
import { createRun } from '../../../../src/work/sql/runs.js'
import { listen, testApi, testConfig } from '../../../support/api/api.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'

const xmlType = 'application/xml; charset=utf-8'
const activities = (text: string) => ({ path: '/iati/activities.xml', mediaType: xmlType, text })
const oldText = `<iati-activities>${'<a/>'.repeat(500)}</iati-activities>`
const newText = `<iati-activities>${'<b/>'.repeat(600)}</iati-activities>`
const first = { id: '20261120T020000Z-1', lastModified: '2026-11-20T02:00:00Z', files: [activities(oldText)] }
const second = {
  id: '20261121T020000Z-2',
  lastModified: '2026-11-21T02:00:00Z',
  files: [
    activities(newText),
    { path: '/feeds/reports.atom', mediaType: 'application/atom+xml; charset=utf-8', text: '<feed/>' },
    { path: '/iati/organisations.xml', mediaType: xmlType, text: '' },
  ],
}

describe('before the first release', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)

  it.each(['/iati/activities.xml', '/feeds/manifest.json', '/feeds/reports.atom', '/feeds/projects/1/reports.atom'])(
    'answers %s with 503 and when to come back',
    async (url) => {
      const answer = await api.app.inject({ url, headers: { accept: 'application/json' } })
      expect(answer.statusCode).toBe(503)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      expect(answer.json().error_response.status).toBe('Service Unavailable')
    },
  )

  it('tells people that the first release is being built, and scripts what runs', async () => {
    const page = await api.app.inject('/')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('the first release is being built')
    await createRun(store.db, { trigger: 'manual', at: new Date('2026-11-21T08:00:00Z') })
    const status = (await api.app.inject('/feeds/status.json')).json()
    expect(status.release).toBeUndefined()
    expect(status.runs).toMatchObject([{ trigger: 'manual', state: 'queued', queuedAt: '2026-11-21T08:00:00Z' }])
  })

  it('is alive, but not ready', async () => {
    expect((await api.app.inject('/healthz')).statusCode).toBe(200)
    const ready = await api.app.inject('/readyz')
    expect(ready.statusCode).toBe(503)
    expect(ready.json()).toEqual({
      ready: false,
      database: 'reachable',
      overdue: false,
      needs: ['nothing-published'],
    })
  })
})

describe('published files', async () => {
  const { store } = await testDatabase()

  const api = await testApi(store)
  await layRelease(api.feedsDir, first)
  const manifest = await layRelease(api.feedsDir, second)
  const base = await listen(api.app)

  const fetchPath = async (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    const answer = await request(base + url, { method, headers })
    const body = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body }
  }
  const sha = () => manifest.files[0]?.sha256

  it('are served whole, of the live release, with everything a consumer compares', async () => {
    const { status, headers, body } = await fetchPath('/iati/activities.xml')
    expect(status).toBe(200)
    expect(body.toString()).toBe(newText)
    expect(headers).toMatchObject({
      'content-type': xmlType,
      'content-length': String(newText.length),
      etag: `"${sha()}"`,
      'last-modified': 'Sat, 21 Nov 2026 02:00:00 GMT',
      'accept-ranges': 'bytes',
      vary: 'Accept-Encoding',
      'x-release': second.id,
      'cache-control': 'public, no-cache',
      'access-control-allow-origin': '*',
    })
    expect(headers['content-encoding']).toBeUndefined()
  })

  it('are left to a proxy that has them, with all headers, when nothing is to be compared or cut', async () => {
    const proxyFiles = { location: '/giving-files/', folder: api.feedsDir }
    const config = { ...testConfig, proxyFiles }
    const { app } = await testApi(store, { store, releases: api.deps.releases, config })
    const url = '/iati/activities.xml'
    const left = await app.inject({ url })
    expect(left.body).toBe('')
    expect(left.headers).toMatchObject({
      ...{ 'x-accel-redirect': `/giving-files/releases/${second.id}${url}`, 'content-length': '0' },
      ...{ 'content-type': xmlType, etag: `"${sha()}"`, 'x-release': second.id },
    })
    for (const headers of [{ range: 'bytes=0-9' }, { range: 'bytes=0-9', 'if-range': '"x"' }, { 'if-match': '*' }]) {
      const sent = await app.inject({ url, headers })
      expect(sent.headers['x-accel-redirect'], JSON.stringify(headers)).toBeUndefined()
      expect(newText.startsWith(sent.body) && sent.body.length > 0).toBe(true)
    }
    const { statusCode } = await app.inject({ url, headers: { 'if-none-match': `"${sha()}"` } })
    expect(statusCode).toBe(304)
    expect((await app.inject({ method: 'HEAD', url })).headers['content-length']).toBe(String(newText.length))
  })

  it.each([
    ['/iati/activities.xml', {}],
    ['/iati/activities.xml', { 'accept-encoding': 'gzip' }],
    ['/feeds/manifest.json', {}],
    ['/feeds/manifest.json', { 'accept-encoding': 'gzip' }],
    [`/feeds/releases/${first.id}/iati/activities.xml`, {}],
    ['/iati/organisations.xml', {}],
    ['/', {}],
    ['/healthz', {}],
    ['/iati/none.xml', {}],
  ])('have the same headers for HEAD and GET: %s %j', async (url, headers) => {
    // Of the connection and of the request, not of the file.
    const own = new Set(['date', 'connection', 'keep-alive', 'x-request-id'])
    const comparable = (all: Record<string, string>) => Object.entries(all).filter(([name]) => !own.has(name))
    const [get, head] = [await fetchPath(url, headers), await fetchPath(url, headers, 'HEAD')]
    expect(head.status).toBe(get.status)
    expect(comparable(head.headers)).toEqual(comparable(get.headers))
    expect(head.body.length).toBe(0)
    expect(Number(get.headers['content-length'])).toBe(get.body.length)
  })

  it('are compressed for those who ask for it, under a tag of their own', async () => {
    const { headers, body } = await fetchPath('/iati/activities.xml', { 'accept-encoding': 'gzip, deflate' })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: `"${sha()}-gz"`, vary: 'Accept-Encoding' })
    expect(gunzipSync(body).toString()).toBe(newText)
  })

  it('are compressed on the way where no compressed twin exists', async () => {
    const plain = await fetchPath('/feeds/manifest.json')
    const { headers, body } = await fetchPath('/feeds/manifest.json', { 'accept-encoding': 'gzip' })
    expect(headers['content-encoding']).toBe('gzip')
    expect(Number(headers['content-length'])).toBe(body.length)
    expect(gunzipSync(body)).toEqual(plain.body)
    expect(headers.etag).toBe(plain.headers.etag?.replace(/"$/, '-gz"'))
  })

  it('are 304 for a consumer who has them, in either encoding', async () => {
    for (const tag of [`"${sha()}"`, `"${sha()}-gz"`, `W/"x", "${sha()}"`, '*']) {
      const { status, headers, body } = await fetchPath('/iati/activities.xml', { 'if-none-match': tag })
      expect([status, body.length]).toEqual([304, 0])
      expect(headers).toMatchObject({ etag: `"${sha()}"`, 'x-release': second.id, vary: 'Accept-Encoding' })
    }
    const since = { 'if-modified-since': 'Sat, 21 Nov 2026 02:00:00 GMT' }
    expect((await fetchPath('/iati/activities.xml', since)).status).toBe(304)
    expect((await fetchPath('/iati/activities.xml', since, 'HEAD')).status).toBe(304)
  })

  it('are served in part, always of identity', async () => {
    const headers = { range: 'bytes=5-9', 'accept-encoding': 'gzip' }
    const part = await fetchPath('/iati/activities.xml', headers)
    expect(part.status).toBe(206)
    expect(part.body.toString()).toBe(newText.slice(5, 10))
    expect(part.headers).toMatchObject({
      'content-range': `bytes 5-9/${newText.length}`,
      'content-length': '5',
      etag: `"${sha()}"`,
    })
    expect(part.headers['content-encoding']).toBeUndefined()
    const changed = await fetchPath('/iati/activities.xml', { ...headers, 'if-range': '"other"' })
    expect([changed.status, changed.body.length]).toEqual([200, newText.length])
    const several = await fetchPath('/iati/activities.xml', { range: 'bytes=0-1,4-5' })
    expect([several.status, several.body.length]).toEqual([200, newText.length])
  })

  it('answer a suffix that is longer than the file with all of it', async () => {
    const answer = await fetchPath('/iati/activities.xml', { range: 'bytes=-999999' })
    expect([answer.status, answer.body.toString()]).toEqual([206, newText])
    expect(answer.headers['content-range']).toBe(`bytes 0-${newText.length - 1}/${newText.length}`)
  })

  it('give the next part of a file only while it is the same', async () => {
    const range = 'bytes=5-9'
    const part = await fetchPath('/iati/activities.xml', { range, 'if-match': `"${sha()}"` })
    expect([part.status, part.body.toString()]).toEqual([206, newText.slice(5, 10)])
    const other = await fetchPath('/iati/activities.xml', { range, 'if-match': '"of the release before"' })
    expect([other.status, other.headers.etag]).toEqual([412, undefined])
    expect(other.body.toString()).toContain('<error_code>412</error_code>')
  })

  it('answer a range outside of the file with 416 and its size', async () => {
    const answer = await fetchPath('/iati/activities.xml', { range: 'bytes=999999-' })
    expect(answer.status).toBe(416)
    expect(answer.headers['content-range']).toBe(`bytes */${newText.length}`)
    expect(answer.headers.etag).toBeUndefined()
    expect(answer.body.toString()).toContain('<error_code>416</error_code>')
  })

  it('stay at the address of their release for ever', async () => {
    const answer = await fetchPath(`/feeds/releases/${first.id}/iati/activities.xml`)
    expect(answer.body.toString()).toBe(oldText)
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'x-release': first.id,
    })
    const kept = JSON.parse(String((await fetchPath(`/feeds/releases/${second.id}/feeds/manifest.json`)).body))
    expect(kept).toEqual(manifest)
  })

  it.each([
    '/iati/none.xml',
    '/iati/',
    '/iati/activities.xml/',
    '/iati/..%2fmanifest.json',
    '/feeds/releases/20261119T020000Z-9/iati/activities.xml',
    `/feeds/releases/${first.id}`,
    `/feeds/releases/${first.id}/feeds/reports.atom`,
    '/feeds/releases/..%2f..%2fcurrent/manifest.json',
    '/feeds/projects/1/reports.atom',
    `/feeds/${'x'.repeat(3000)}`,
  ])('are 404 with an error body, never a page, at %s', async (url) => {
    const answer = await fetchPath(url)
    expect(answer.status).toBe(404)
    expect(answer.headers['content-type']).toBe('application/xml')
    expect(answer.body.toString()).toContain('<error_response><error_code>404</error_code>')
  })

  it('of a release that is unknown are 404 for everyone who asks at the same time', async () => {
    const url = '/feeds/releases/20261119T020000Z-8/iati/activities.xml'
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetchPath(url)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(404))
  })

  it('may be carried by an empty file', async () => {
    const answer = await fetchPath('/iati/organisations.xml')
    expect([answer.status, answer.headers['content-length']]).toEqual([200, '0'])
  })

  it('are listed for people, with no script but the one of all pages', async () => {
    const { body, headers } = await fetchPath('/')
    const page = body.toString()
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page).toContain('<h1>Giving &lt;Platform&gt;: open data</h1>')
    expect(page).toContain('href="/iati/activities.xml"')
    expect(page).toContain('the addresses of files that never change, is in <a href="/feeds/manifest.json">')
    expect(page).toContain('https://giving.example/api/public/projectservice/all/projects')
    expect(page.match(/<script(?! type="application.ld.json")[^>]*>/g)).toEqual([
      expect.stringMatching(/^<script src="\/portal\/[0-9a-f]{12}\.js" defer /),
    ])
  })

  it('make the service ready', async () => {
    const answer = await fetchPath('/readyz')
    expect(JSON.parse(String(answer.body))).toMatchObject({ ready: true, database: 'reachable', release: second.id })
  })

  it('leave one log line a request, naming the release', async () => {
    await fetchPath('/iati/activities.xml?api_key=secret')
    const line = api.log.filter(({ msg }) => msg === 'request').at(-1)
    expect(line).toMatchObject({ method: 'GET', route: '/iati/*', status: 200, release: second.id })
    expect(line?.url).toBe('/iati/activities.xml?api_key=[redacted]')
  })
})

describe('a release that is swept away while it is being looked up', async () => {
  const { store } = await testDatabase()

  it('is not missed: the file of its successor is served', async () => {
    const { deps, feedsDir } = await testApi(store)
    await layRelease(feedsDir, first)
    const swept: ReleaseReader = {
      ...deps.releases,
      live: async () => {
        const release = await deps.releases.live()
        if (release?.id !== first.id) return release
        const file = await release.find('/iati/activities.xml')
        await layRelease(feedsDir, second)
        await rm(path.join(feedsDir, 'releases', first.id), { recursive: true })
        return { ...release, find: async () => file }
      },
    }
    const { app } = await testApi(store, { store, releases: swept })
    const answer = await app.inject('/iati/activities.xml')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['x-release']).toBe(second.id)
    expect(answer.body).toBe(newText)
  })
})

describe('a release that is damaged', async () => {
  const { store } = await testDatabase()

  it('is an error that tells nothing, not a short answer', async () => {
    const api = await testApi(store)
    await layRelease(api.feedsDir, second)
    const file = path.join(api.feedsDir, 'releases', second.id, 'iati/activities.xml')
    await truncate(file, 10)
    const short = await api.app.inject('/iati/activities.xml')
    expect(short.statusCode).toBe(500)
    expect(short.headers.etag).toBeUndefined()
    expect(short.body).not.toContain(api.feedsDir)
    await rm(file)
    expect((await api.app.inject('/iati/activities.xml')).statusCode).toBe(500)
    expect((await api.app.inject(`/feeds/releases/${second.id}/iati/activities.xml`)).statusCode).toBe(404)
  })
})
