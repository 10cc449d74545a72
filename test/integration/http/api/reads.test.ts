import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { testApi } from '../../../support/api/api.js'
import { readRequests } from '../../../support/api/read-operations.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { someOf } from '../../../support/runner/some-of.js'
import { testDatabase } from '../../../support/store/database.js'
import { storeWells } from '../../../support/store/wells-store.js'

const golden = (name: string) => path.resolve(import.meta.dirname, '../../../golden/api/reads', name)
const mediaTypes = { xml: 'application/xml', json: 'application/json' } as const
const withoutToken = (body: string) => body.replace(/bulk\/[0-9a-f]{40}\//, 'bulk/TOKEN/')

describe('every read', async () => {
  const { store } = await testDatabase()

  const get = (url: string, headers: Record<string, string> = {}, query = '', method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: `${url}?api_key=${key}${query === '' ? '' : `&${query}`}`, headers })

  const { app, apiKey: key, feedsDir } = await testApi(store)
  await storeWells(store.db)
  await (await testPublisher(store, { feedsDir })).publish()

  describe.each(readRequests)('$route', ({ golden: name, path: url, query }) => {
    it.each(['xml', 'json'] as const)('answers with the golden document (%s)', async (format) => {
      const answer = await get(url, { accept: mediaTypes[format] }, query)
      expect(answer.statusCode).toBe(200)
      const atom = name === 'reports' && format === 'xml'
      expect(answer.headers['content-type']).toBe(atom ? 'application/atom+xml' : mediaTypes[format])
      await expect(withoutToken(answer.body)).toMatchFileSnapshot(golden(`${name}.${format}`))
      if (format === 'json') expect(() => JSON.parse(answer.body)).not.toThrow()
      else expect(parseElement(answer.body).name).not.toBe('')
    })
  })

  describe.each(someOf(readRequests, 3))('$route', ({ path: url, query }) => {
    it('answers the same with suffix, trailing slash, and to HEAD', async () => {
      for (const format of ['xml', 'json'] as const) {
        const plain = await get(url, { accept: mediaTypes[format] }, query)
        for (const ending of [`.${format}`, `.${format}/`]) {
          const other = format === 'xml' ? 'json' : 'xml'
          const answer = await get(url + ending, { accept: mediaTypes[other] }, query)
          expect([answer.statusCode, answer.body]).toEqual([200, plain.body])
        }
        const slash = await get(`${url}/`, { accept: mediaTypes[format] }, query)
        expect([slash.statusCode, slash.body]).toEqual([200, plain.body])
        const head = await get(url, { accept: mediaTypes[format] }, query, 'HEAD')
        expect([head.statusCode, head.body]).toEqual([200, ''])
        for (const header of ['content-length', 'content-type', 'etag', 'vary', 'cache-control']) {
          expect([header, head.headers[header]]).toEqual([header, plain.headers[header]])
        }
      }
    })

    it('answers 304 to whoever has it, in the format that they have', async () => {
      const first = await get(url, {}, query)
      const etag = String(first.headers.etag)
      expect((await get(url, { 'if-none-match': etag }, query)).statusCode).toBe(304)
      expect((await get(url, { 'if-none-match': `"x", W/${etag}` }, query)).statusCode).toBe(304)
      expect((await get(url, { 'if-none-match': etag, accept: 'application/json' }, query)).statusCode).toBe(200)
    })

    it('answers in gzip to those who ask for it, unless the answer is small', async () => {
      const plain = await get(url, {}, query)
      for (const method of ['GET', 'HEAD'] as const) {
        const answer = await get(url, { 'accept-encoding': 'gzip, deflate, br' }, query, method)
        const small = plain.rawPayload.length < 1_024
        expect(answer.headers['content-encoding']).toBe(small ? undefined : 'gzip')
        expect(answer.headers.vary).toMatch(/^Accept, Accept-Encoding(, Accept-Language)?$/)
        if (method === 'HEAD') continue
        expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
        expect((small ? answer.rawPayload : gunzipSync(answer.rawPayload)).toString()).toBe(plain.body)
        expect(answer.headers.etag === plain.headers.etag).toBe(small)
        for (const etag of [plain.headers.etag, answer.headers.etag]) {
          const again = { 'accept-encoding': 'gzip', 'if-none-match': String(etag) }
          expect((await get(url, again, query)).statusCode).toBe(304)
        }
      }
    })

    it('answers XML to those who name no type or one that it does not have', async () => {
      for (const headers of [{}, { accept: '*/*' }, { accept: 'text/html' }]) {
        expect((await get(url, headers, query)).headers['content-type']).toMatch(/xml$/)
      }
    })
  })

  it('is registered with a golden request, and no other operation is', () => {
    const operations = new Set(readRequests.map(({ operation }) => operation))
    expect(operations.size).toBe(readRequests.length)
    for (const { route } of readRequests) expect(app.hasRoute({ method: 'GET', url: route })).toBe(true)
  })

  it('of reports names the published feed as the canonical one, where a project has reports', async () => {
    const linkOf = async (id: number, format: string) =>
      (await get(`/api/public/projectservice/projects/${id}/reports.${format}`)).headers.link
    const canonical = '<https://giving.example/feeds/projects/2045/reports.atom>; rel="canonical"'
    expect([await linkOf(2045, 'xml'), await linkOf(2045, 'json')]).toEqual([canonical, canonical])
    expect(await linkOf(2061, 'xml')).toBeUndefined()
  })

  it('of themes has a twin without a key, in both formats, and a table for people where activities refer to', async () => {
    for (const format of ['xml', 'json'] as const) {
      const answer = await app.inject(`/themes.${format}`)
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, mediaTypes[format]])
      expect(answer.body).toBe((await get(`/api/public/projectservice/themes.${format}`)).body)
    }
    const page = (await app.inject('/')).body
    const section = page.slice(page.indexOf('id="themes"'))
    expect(section).toMatch(/<bdi>Clean Water<\/bdi><\/a> <code>water<\/code>/)
    expect(section).toMatch(/href="\/themes\.xml">XML.*href="\/themes\.json">JSON/s)
  })

  it('shows every project in the bulk file that the link names, without a key', async () => {
    const link = (await get('/api/public/projectservice/all/projects/download.json')).json().download.url
    expect(link).toMatch(/^https:\/\/giving\.example\/feeds\/bulk\/[0-9a-f]{40}\/projects\.xml$/)
    const file = await app.inject(new URL(link).pathname)
    expect(file.statusCode).toBe(200)
    expect(file.headers['content-type']).toBe('application/xml')
    const list = await get('/api/public/projectservice/all/projects')
    const records = (text: string) => parseElement(text).children.filter(({ name }) => name === 'project').length
    expect(records(file.body)).toBe(records(list.body))
    expect(parseElement(file.body).attributes).toEqual({ numberFound: '3' })
  })
})
