import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { XMLParser } from 'fast-xml-parser'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tellHub } from '../../../src/extensions/hub/tell-hub.js'
import type { Store } from '../../../src/platform/database/store.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testApi } from '../../support/api/api.js'
import { testConfig } from '../../support/api/api-config.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'

const baseUrl = 'https://giving.example'
let store: Store
let publisher: Publisher

beforeEach(async () => {
  ;({ store } = await testDatabase())
  await store.db.query(
    `insert into project (id, active, status, title, source)
      select id, true, 'active', title, 'local' from unnest($1::bigint[], $2::text[]) t (id, title)`,
    [
      [1, 2, 10],
      ['Wells & "water"', 'Schools', 'Without reports'],
    ],
  )
  await report(1, 1)
  await report(2, 2)
  publisher = await testPublisher(store)
  await publisher.publish()
})

async function report(id: number, project: number): Promise<void> {
  await store.db.query(
    `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
      values ($1::bigint, $2, 'News', '2026-01-01', '2026-01-01', '<p>News</p>', 'https://giving.example/r/' || $1::bigint, 'local')`,
    [id, project],
  )
}

async function publishNextDay(): Promise<string> {
  publisher.now = new Date(publisher.now.getTime() + 24 * 3_600_000)
  return (await publisher.publish()).state
}

describe('/feeds/opml.xml', () => {
  // A parser that shares nothing with our writer.
  const outlines = async () => {
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', parseAttributeValue: false })
    const { opml } = parser.parse(await publisher.read('/feeds/opml.xml')) as {
      opml: { version: string; body: { outline: { text: string; xmlUrl: string }[] } }
    }
    expect(opml.version).toBe('2.0')
    return opml.body.outline.map(({ text, xmlUrl }) => [text, xmlUrl])
  }

  it('lists all feeds of the release by their titles', async () => {
    const listed = await outlines()
    expect(listed).toEqual([
      [expect.stringMatching(/^Progress reports: /), `${baseUrl}/feeds/reports.atom`],
      ['Project reports: Wells & "water"', `${baseUrl}/feeds/projects/1/reports.atom`],
      ['Project reports: Schools', `${baseUrl}/feeds/projects/2/reports.atom`],
    ])
    const live = await publisher.live()
    for (const [, address = ''] of listed) expect(await live.find(address.slice(baseUrl.length))).toBeDefined()
    expect(live.manifest.files.find(({ path }) => path === '/feeds/opml.xml')).toMatchObject({ records: 3 })
  })

  it('is carried over while no feed changes, and has a feed that is new', async () => {
    await store.db.query(`update project set summary = 'Another one' where id = 10`)
    expect(await publishNextDay()).toBe('published')
    const file = (await publisher.manifest()).files.find(({ path }) => path === '/feeds/opml.xml')
    expect(file?.lastModified).toBe('2026-11-21T02:00:00Z')
    await report(3, 10)
    await publishNextDay()
    expect((await outlines()).at(-1)).toEqual([
      'Project reports: Without reports',
      `${baseUrl}/feeds/projects/10/reports.atom`,
    ])
  })
})

describe('a WebSub hub', () => {
  /** A hub that answers with this status. */
  async function startHub() {
    const hub = { status: 204, told: [] as string[][], url: '' }
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const said = new URLSearchParams(body)
      expect(said.get('hub.mode')).toBe('publish')
      hub.told.push(said.getAll('hub.url'))
      response.writeHead(hub.status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { feedsDir, clock } = publisher.deps
    const deps = { store, feedsDir, clock, hub: hub.url, baseUrl }
    return Object.assign(hub, { tell: () => tellHub(deps, new AbortController().signal) })
  }

  it('is told once which feeds a release changed, and again while it refuses', async () => {
    const hub = await startHub()
    expect(await hub.tell()).toBe('1 feeds told')
    expect(await hub.tell()).toBe('nothing to tell')
    await report(3, 2)
    await publishNextDay()
    hub.status = 500
    await expect(hub.tell()).rejects.toThrow('it answered with status 500')
    hub.status = 202
    expect(await hub.tell()).toBe('2 feeds told')
    const changed = [`${baseUrl}/feeds/reports.atom`, `${baseUrl}/feeds/projects/2/reports.atom`]
    expect(hub.told).toEqual([[`${baseUrl}/feeds/reports.atom`], changed, changed])
  })

  it('is named by feeds and by nothing else', async () => {
    const config = { ...testConfig, websubHub: 'https://hub.example/' }
    const { app } = await testApi(store, { releases: createReleaseReader(publisher.feedsDir), config })
    const linksOf = async (url: string) => String((await app.inject(url)).headers.link)
    for (const path of ['/feeds/reports.atom', '/feeds/projects/1/reports.atom']) {
      expect(await linksOf(path)).toContain(`<https://hub.example/>; rel="hub", <${baseUrl}${path}>; rel="self"`)
    }
    const { id } = await publisher.live()
    for (const path of ['/feeds/opml.xml', '/iati/activities.xml', `/feeds/releases/${id}/feeds/reports.atom`]) {
      expect(await linksOf(path)).not.toContain('hub.example')
    }
  })
})
