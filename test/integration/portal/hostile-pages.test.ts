import { readdir, readFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { DomUtils, parseDocument } from 'htmlparser2'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../../src/platform/database/store.js'
import { listen } from '../../support/api/api.js'
import { browserProgram, launchBrowser } from '../../support/portal/browser.js'
import { publishedSite } from '../../support/portal/portal-site.js'
import type { Publisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'
import { mappingConfig } from '../../support/values/builders.js'

const markup = `<script>alert(1)</script>"><img src=x onerror=alert(1)>]]></script><svg onload=alert(1)>`
// The mapping takes markup away; what is escaped is published as the text that it is.
const escaped = markup.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const hostile = [
  escaped,
  markup,
  `\u202Eright to left\u202C שלום مرحبا`,
  `👩‍👩‍👧‍👦🌍`.repeat(20),
  'W'.repeat(10_000),
].join(' ')
const hostileAddresses = [`https://hostile.example/"><script>alert(1)</script>`, `javascript:alert(1)//`, hostile]

// Codes and marks that decide whether a project is published at all; every other column takes the text.
const decisive =
  /^(source|source_hash|status|type|operator_state|glide_number|iati_identifier|location_precision|country_code|org_ref|org_type|ein|id|sector_code|name_source|media_type|external_id|language)$/

const secret = {
  place: 'Secret Village',
  photo: 'secret-photo',
  latitude: '12.34567',
  longitude: '76.54321',
  person: 'Secret Person',
}

/** What nobody may see is of projects 21 to 30, what everybody may of 11 to 20; 1 to 10 are hostile in every field. */
async function fill(store: Store): Promise<void> {
  await seedProjects(store, 30, new Date('2026-11-20T00:00:00Z'))
  const hostileRows = {
    project: 'id <= 10',
    organisation: 'id in (select organisation_id from project where id <= 10)',
    theme: 'id = (select min(theme_id) from project_theme where project_id <= 10)',
    photo: 'project_id <= 10',
    video: 'project_id <= 10',
    progress_report: 'project_id <= 10',
    report_image: 'report_id in (select id from progress_report where project_id <= 10)',
  }
  for (const [table, rows] of Object.entries(hostileRows)) {
    const { rows: columns } = await store.db.query<{ columnName: string }>(
      `select column_name from information_schema.columns
        where table_name = $1 and data_type = 'text' and is_generated = 'NEVER'`,
      [table],
    )
    for (const { columnName: column } of columns) {
      if (decisive.test(column)) continue
      const isAddress = /url$|link$/.test(column)
      // The store takes only web addresses of reports.
      const addresses = hostileAddresses.slice(0, table === 'progress_report' ? 1 : 3)
      const texts = isAddress ? addresses : [hostile, hostile.slice(0, 900), escaped]
      const key = table === 'theme' || table === 'organisation' || table === 'project' ? 'id' : 'ctid'
      await store.db.query(
        `with numbered as (select ${key} as key, row_number() over (order by ${key}) as number from ${table} where ${rows})
          update ${table} set ${column} = ($1::text[])[numbered.number % cardinality($1) + 1] from numbered where ${table}.${key} = numbered.key`,
        [texts],
      )
    }
  }
  await store.db.query(
    `update project set texts = jsonb_build_object('title@fr', $1::text, 'summary@fr', $1::text, 'need@ar', $1::text) where id <= 10`,
    [hostile],
  )
  await store.db.query(
    `update photo set consent = project_id <= 20, large_url =
    $1 || case when project_id <= 20 then '/open-photo' else '/${secret.photo}' end || project_id where project_id > 10`,
    [mappingConfig.baseUrl],
  )
  await store.db.query(`update project set location_name = 'Open Village ' || id where id between 11 and 20`)
  await store.db.query(
    `update project set location_precision = 'country', location_name = '${secret.place} ' || id, contact_name = '${secret.person}',
      contact_address = '${secret.person}', contact_address2 = '${secret.person}',
      latitude = ${secret.latitude}, longitude = ${secret.longitude} where id > 20`,
  )
}

describe('hostile and secret data', async () => {
  const { store } = await testDatabase()
  let app: FastifyInstance
  let publisher: Publisher
  let base: string
  const pages = new Map<string, string>()

  beforeAll(async () => {
    await fill(store)
    ;({ app, publisher } = await publishedSite(store))
    base = await listen(app)
    await store.db.query(`update project set summary = summary || ' (changed)' where id <= 10`)
    publisher.now = new Date('2026-11-22T02:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
    const { held, release, previous } = await publisher.manifest()
    expect(held.count).toBe(0)
    const wanted = [
      '/',
      '/projects',
      '/quality',
      '/changes',
      `/changes/${previous}..${release}`,
      '/developers',
      '/status',
      '/years?by=theme',
    ]
    wanted.push(`/projects?q=${encodeURIComponent(markup)}&country=${encodeURIComponent(markup)}&page=2`)
    wanted.push(...wanted.map((address) => `/fr${address === '/' ? '' : address}`), '/fr/projects/1')
    const seen = new Set(wanted)
    for (let address = wanted.pop(); address !== undefined; address = wanted.pop()) {
      const answer = await app.inject(address)
      expect([address, answer.statusCode]).toEqual([address, 200])
      pages.set(address, answer.body)
      const links = answer.body.matchAll(
        /href="(\/(?:projects\/\d+|(?:organisations|countries|sectors|themes)\/[^"#?]+))"/g,
      )
      for (const [, link = ''] of links) {
        if (seen.has(link) || /^\/themes\.|csv$/.test(link)) continue
        seen.add(link)
        wanted.push(link)
      }
    }
  })

  it('has a page of every kind', () => {
    const kinds = new Set([...pages.keys()].map((address) => address.split('/')[1]?.split('?')[0]))
    expect([...kinds].sort()).toEqual([
      '',
      'changes',
      'countries',
      'developers',
      'fr',
      'organisations',
      'projects',
      'quality',
      'sectors',
      'status',
      'themes',
      'years',
    ])
    expect([...pages.keys()].filter((address) => /^\/projects\/\d+$/.test(address))).toHaveLength(30)
  })

  it('becomes no element, attribute or address of any page', () => {
    const found: string[] = []
    // The portal's own picture of tabs, the same on all pages.
    const icons = new Set<string>()
    for (const [address, body] of pages) {
      for (const element of DomUtils.getElementsByTagName('*', parseDocument(body))) {
        const { name, attribs } = element
        // Our own script is a file; data is not run.
        const isOurs = attribs.type === 'application/ld+json' || DomUtils.textContent(element) === ''
        if (name === 'script' && !isOurs) found.push(`${address}: script`)
        for (const [attribute, value] of Object.entries(attribs)) {
          if (/^on|^style$|^srcdoc$/.test(attribute)) found.push(`${address}: ${name} ${attribute}`)
          const isIcon = name === 'link' && attribs.rel === 'icon' && attribute === 'href'
          const isAddress = !isIcon && /^(href|src|action|formaction|xlink:href)$/.test(attribute)
          if (isIcon) icons.add(value)
          if (isAddress && !/^(https?:\/\/[\w.:-]+(\/|$)|\/|#)/.test(value))
            found.push(`${address}: ${attribute}=${value.slice(0, 80)}`)
          if (attribute === 'src' && !value.startsWith('/')) found.push(`${address}: loads ${value.slice(0, 80)}`)
        }
      }
    }
    expect(found).toEqual([])
    expect(icons.size).toBe(1)
  })

  it('is shown as the text that it is', () => {
    const titleOf = (address: string) =>
      DomUtils.textContent(DomUtils.getElementsByTagName('h1', parseDocument(pages.get(address) ?? '')))
    const of = (kind: RegExp) =>
      [...pages.keys()].filter((address) => kind.test(address) && titleOf(address).includes(markup))
    expect(of(/^\/projects\/\d+$/)).toHaveLength(10)
    expect(of(/^\/organisations\//).length).toBeGreaterThan(0)
    expect(of(/^\/themes\//)).toHaveLength(1)
    const reports = [...pages.values()].map((body) =>
      DomUtils.getElementsByTagName('article', parseDocument(body)).map((article) => DomUtils.textContent(article)),
    )
    expect(reports.flat().filter((text) => text.includes(markup)).length).toBeGreaterThan(0)
    for (const body of pages.values()) {
      const json = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1]
      if (json !== undefined) expect(typeof JSON.parse(json)['@type']).toBe('string')
    }
  })

  it.each([
    '/sitemap-NaN.xml',
    '/sitemap-1e0.xml',
    '/sitemap-01.xml',
    '/sitemap-1.0.xml',
    '/%65n/projects',
    '/e%6E/quality',
  ])('has no other address for a page: %s', async (address) => {
    expect((await app.inject(address)).statusCode).toBe(404)
  })

  it.each(['/countries/#%', '/fr/projects/1#%', '/themes/a#{%}', '/sitemap-1.xml#%zz', '/#%'])(
    'has no error for a fragment, which no client should send: %s',
    async (address) => {
      const { port, hostname } = new URL(base)
      const socket = connect(Number(port), hostname)
      socket.write(`GET ${address} HTTP/1.1\r\nHost: giving.example\r\nConnection: close\r\n\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 (?:200|301|404) /)
    },
  )

  it('is in no header that is longer than clients read', async () => {
    for (const [path, expected] of [
      [`/projects/?q=${'{"a":'.repeat(2_900)}`, 200],
      [`/nope/?q=${'{"a":'.repeat(2_900)}`, 404],
    ] as const) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        request(base, { path, headers: { accept: 'text/html' } })
          .on('response', resolve)
          .on('error', reject)
          .end()
      })
      answer.resume()
      expect([path.slice(0, 12), answer.statusCode]).toEqual([path.slice(0, 12), expected])
    }
  })

  it('is looked up in no prototype, whatever a query names', async () => {
    const names = ['q', 'page', 'sort', 'status', 'year', 'country', 'sector', 'theme', 'organisation', 'found', 'x']
    for (const value of ['constructor', '__proto__', 'hasOwnProperty', 'valueOf', 'toString']) {
      const query = names.map((name) => `${name}=${value}`).join('&')
      const pages = names.flatMap((name) => [`/projects?${name}=${value}`, `/themes?${name}=${value}`])
      for (const address of [...pages, `/fr/projects?${query}`, `/projects.csv?${query}`, `/projects.json?${query}`]) {
        expect([address, (await app.inject(address)).statusCode]).toEqual([address, 200])
      }
    }
  })

  it('is in no page, table, index, feed, record or list when it is secret', async () => {
    const answers = new Map(pages)
    const addresses = ['/sitemap.xml', '/sitemap-1.xml', '/changes.atom', '/robots.txt', '/llms.txt', '/themes.json']
    for (let id = 11; id <= 30; id++) {
      const record = `/iati/activities/${mappingConfig.reportingOrg.ref}-${id}`
      addresses.push(`/projects/${id}.csv`, `${record}.xml`, `${record}.json`, `/feeds/projects/${id}/reports.atom`)
    }
    for (const address of addresses) answers.set(address, (await app.inject(address)).body)
    const releases = path.join(publisher.feedsDir, 'releases')
    for (const file of await readdir(releases, { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || file.name.endsWith('.gz')) continue
      const name = path.join(file.parentPath, file.name)
      answers.set(name, await readFile(name, 'latin1'))
    }
    const having = (text: string) => [...answers].filter(([, body]) => body.includes(text)).map(([address]) => address)
    for (const text of Object.values(secret)) expect([text, having(text)]).toEqual([text, []])
    // What is public is found in the same places.
    expect(having('Open Village 11').map((address) => path.basename(address))).toEqual(
      expect.arrayContaining([
        '11',
        'locations.csv.part-1',
        'activities.xml',
        `${mappingConfig.reportingOrg.ref}-11.json`,
      ]),
    )
    expect(having('/open-photo11').map((address) => path.basename(address))).toEqual(
      expect.arrayContaining(['11', 'documents.csv.part-1', 'index.json.part-1']),
    )
  })

  it.skipIf(!browserProgram)('makes no page scroll sideways on a phone', async () => {
    const browser = await launchBrowser()
    const page = await browser.newPage({ viewport: { width: 360, height: 760 } })
    const firstOf = (kind: RegExp) =>
      [...pages].find(([address, body]) => kind.test(address) && body.includes('W'.repeat(800)))?.[0]
    const wide: string[] = []
    const kinds = [
      /^\/projects\/\d+$/,
      /^\/projects$/,
      /^\/organisations\//,
      /^\/themes\//,
      /^\/countries\//,
      /^\/$/,
      /^\/changes\/./,
    ]
    for (const address of kinds.map(firstOf)) {
      expect(address).toBeDefined()
      await page.goto(`${base}${address}`)
      const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
      if (overflow > 0) wide.push(`${address}: ${overflow} px`)
    }
    await browser.close()
    expect(wide).toEqual([])
  })
})
