import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { createReleaseReader } from '../../../src/publishing/release/read/release-reader.js'
import { seedDemo } from '../../../src/store/seeding/demo.js'
import type { Store } from '../../../src/store/store.js'
import { parseElement, recordLimits } from '../../../src/xml/reader.js'
import { escapeAttribute } from '../../../src/xml/writer.js'
import { testApi } from '../../support/api.js'
import { testConfig } from '../../support/api-config.js'
import { day, mappingConfig, usd } from '../../support/builders.js'
import { testDatabase } from '../../support/database.js'
import { type Publisher, testPublisher } from '../../support/publishing.js'
import { countActivities, sumOf } from '../../support/recount.js'
import { seedProjects } from '../../support/seeded.js'

const { baseUrl } = mappingConfig

async function portalOver(store: Store): Promise<{ app: FastifyInstance; publisher: Publisher }> {
  const publisher = await testPublisher(store)
  expect((await publisher.publish()).state).toBe('published')
  const { app } = await testApi(store, {
    store,
    releases: createReleaseReader(publisher.feedsDir),
    config: { ...testConfig, publisherName: 'Giving Platform' },
  })
  return { app, publisher }
}

/** The amounts of the tiles of a page, as numbers written without separators. */
function tiles(page: string): Record<string, string> {
  const found = [...page.matchAll(/<div class="tile"><dt>([^<]*)<\/dt><dd>([^<]*)<\/dd>/g)]
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, value.replace(/[^\d.-]/g, '')]))
}

describe('the portal over the demo', async () => {
  const { store } = await testDatabase()
  let app: FastifyInstance
  let publisher: Publisher

  beforeAll(async () => {
    await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl })
    ;({ app, publisher } = await portalOver(store))
    await store.db.query(`update project set title = 'Another title' where id = 9000007`)
    publisher.now = new Date('2026-11-22T02:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
  }, 60_000)

  it('has no link that leads nowhere, on any page', async () => {
    const wanted = ['/', '/fr', '/robots.txt', '/sitemap.xml']
    const seen = new Set(wanted)
    const dead: string[] = []
    for (let address = wanted.pop(); address !== undefined; address = wanted.pop()) {
      const answer = await app.inject(address)
      if (answer.statusCode !== 200) dead.push(`${answer.statusCode} ${address}`)
      if (!/html|sitemap|robots/.test(`${answer.headers['content-type']} ${address}`)) continue
      for (const [, href = ''] of answer.body.matchAll(/(?:href|src|action)="([^"#]+)|(?<=<loc>)([^<]+)/g)) {
        const link = (href || '').replaceAll('&amp;', '&').replace(baseUrl, '')
        // Every project is looked at in one language, lists of the other one too.
        if (!link.startsWith('/') || seen.has(link) || /^\/(?:en|fr)\/(?:projects|organisations)\/./.test(link))
          continue
        seen.add(link)
        wanted.push(link)
      }
    }
    expect(dead).toEqual([])
    expect([...seen].filter((link) => /^\/projects\/\d+$/.test(link))).toHaveLength(120)
    expect([...seen].filter((link) => link.startsWith('/countries/'))).toHaveLength(12)
  }, 120_000)

  it('has the figures that an XML parser finds in the files', async () => {
    const all: Record<'budget' | 'in' | 'out', string[]> = { budget: [], in: [], out: [] }
    const projects: { id: string; title: string; sums: Record<string, string> }[] = []
    const elements: Record<string, number> = {}
    await countActivities(await publisher.live(), ({ find, sum }) => {
      const budget = find('budget[@type="2"]').length > 0 ? 'budget[@type="2"]/value' : 'budget[@type="1"]/value'
      const received = 'transaction[transaction-type/@code="1"]/value'
      const paid = 'transaction[transaction-type/@code="3" or transaction-type/@code="4"]/value'
      all.budget.push(...find(budget))
      all.in.push(...find(received))
      all.out.push(...find(paid))
      projects.push({
        id: find('other-identifier[@type="A1"]/@ref')[0] ?? '',
        title: find('title/narrative')[0] ?? '',
        sums: { Budget: sum(budget), Received: sum(received), 'Paid out': sum(paid) },
      })
      for (const name of ['location', 'result', 'document-link', 'budget']) {
        elements[name] = (elements[name] ?? 0) + (find(name).length > 0 ? 1 : 0)
      }
    })
    const home = tiles((await app.inject('/')).body)
    const whole = (amounts: string[]) => String(Math.round(Number(sumOf(amounts))))
    expect(home).toMatchObject({
      Projects: '120',
      Countries: '12',
      Budget: whole(all.budget),
      Received: whole(all.in),
      'Paid out': whole(all.out),
    })
    for (const { id, title, sums } of projects.slice(0, 40)) {
      const page = (await app.inject(`/projects/${id}`)).body
      const shown = tiles(page)
      const exact = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, Number(value).toFixed(2)]))
      expect({ id, Budget: shown.Budget, Received: shown.Received, 'Paid out': shown['Paid out'] }).toEqual({
        id,
        ...exact,
      })
      expect(page).toContain(escapeAttribute(title))
    }
    const quality = (await app.inject('/quality')).body
    const coverage = quality.slice(quality.indexOf('Identifiers'))
    for (const [name, count] of Object.entries(elements)) {
      expect(coverage).toContain(`<code>${name}</code></th><td class="number">${count}</td>`)
    }
  }, 60_000)

  it('says what a release changed, and which elements', async () => {
    const { release, previous } = await publisher.manifest()
    const page = (await app.inject(`/changes/${previous}..${release}`)).body
    expect(page).toMatch(/Another title<\/a><\/th><td[^>]*><code>title<\/code>/)
    expect((await app.inject('/changes')).body).toContain(`/changes/${previous}..${release}`)
    const feed = parseElement((await app.inject('/changes.atom')).rawPayload, recordLimits)
    expect(feed.children.filter(({ name }) => name === 'entry')).toHaveLength(1)
    expect((await app.inject(`/changes/${previous}..20200101T000000Z-1`)).statusCode).toBe(404)
  })

  it('speaks the language that the address names, else that of Accept-Language, else English', async () => {
    const language = async (url: string, accept?: string) => {
      const answer = await app.inject({ url, headers: accept === undefined ? {} : { 'accept-language': accept } })
      return /<html lang="(\w+)">/.exec(answer.body)?.[1]
    }
    expect(await language('/projects')).toBe('en')
    expect(await language('/projects', 'fr-CA, en;q=0.5')).toBe('fr')
    expect(await language('/projects', 'de')).toBe('en')
    expect(await language('/fr/projects', 'en')).toBe('fr')
    expect(await language('/en/projects', 'fr')).toBe('en')
    const page = await app.inject('/projects')
    expect(page.headers).toMatchObject({ vary: 'Accept-Language, Accept-Encoding' })
    expect(page.headers['content-security-policy']).not.toContain('script')
    expect((await app.inject({ url: '/projects', headers: { 'if-none-match': page.headers.etag } })).statusCode).toBe(
      304,
    )
    expect((await app.inject('/projects/1')).statusCode).toBe(404)
    expect((await app.inject('/countries/ZZ')).statusCode).toBe(404)
  })

  it('finds projects by words, whatever their accents, and by filters together', async () => {
    const count = async (query: string) =>
      Number(/(\d+) projects? fits?\./.exec((await app.inject(`/projects?${query}`)).body)?.[1] ?? 0)
    expect(await count('q=another+TITLE')).toBe(1)
    expect(await count('q=%C3%81n%C3%B3ther+title')).toBe(1)
    const both = await count('country=KE&status=2')
    let counted = 0
    await countActivities(await publisher.live(), ({ find }) => {
      if (find('recipient-country/@code').includes('KE') && find('activity-status/@code')[0] === '2') counted++
    })
    expect(both).toBe(counted)
    expect(both).toBeGreaterThan(0)
  })

  it('is off where PORTAL is off: the page for developers alone', async () => {
    const { app: alone } = await testApi(store, {
      store,
      releases: createReleaseReader(publisher.feedsDir),
      config: { ...testConfig, portal: false },
    })
    expect((await alone.inject('/')).body).toContain('For developers')
    expect((await alone.inject('/')).body).not.toContain('href="/projects"')
    expect((await alone.inject('/projects')).statusCode).toBe(404)
    expect((await alone.inject('/developers')).statusCode).toBe(200)
  })
})

describe('hostile data', async () => {
  const { store } = await testDatabase()
  const hostile = [
    `<script>alert(1)</script>`,
    `"><img src=x onerror=alert(1)>`,
    `]]></script><svg onload=alert(1)>`,
    `\u202Eright to left\u202C שלום مرحبا`,
    `👩‍👩‍👧‍👦🌍`.repeat(20),
    'W'.repeat(10_000),
  ].join(' ')
  let app: FastifyInstance
  const secrets: string[] = []

  beforeAll(async () => {
    await seedProjects(store, 60, new Date('2026-11-20T00:00:00Z'))
    for (const column of [
      'title',
      'summary',
      'need',
      'activities',
      'long_term_impact',
      'location_name',
      'contact_name',
    ]) {
      await store.db.query(`update project set ${column} = $1 where id <= 40`, [hostile])
    }
    await store.db.query('update organisation set name = $1 || id where id <= 20', [hostile.slice(0, 900)])
    await store.db.query('update theme set name = $1 where id = (select min(id) from theme)', [hostile.slice(0, 100)])
    await store.db.query('update progress_report set title = $1, content_html = $1, author_name = $1', [
      hostile.slice(0, 2000),
    ])
    // What only the store may know: pictures without consent, and where sensitive projects are.
    await store.db.query(`update photo set consent = false, large_url = 'https://secret.example/' || project_id || '.jpg'
      where project_id between 41 and 60`)
    await store.db.query(`update project set location_precision = 'country', location_name = 'Secret Village ' || id,
      latitude = 12.34567, longitude = 76.54321 where id between 41 and 60`)
    secrets.push('secret.example', 'Secret Village', '12.34567', '76.54321')
    ;({ app } = await portalOver(store))
  }, 60_000)

  it('shows as text and breaks no page, and what is not published is nowhere', async () => {
    const pages = ['/', '/projects', '/quality', '/changes', '/developers', '/status']
    const found = new Set(pages)
    for (let page = pages.pop(); page !== undefined; page = pages.pop()) {
      const answer = await app.inject(page)
      expect(answer.statusCode, page).toBe(200)
      const { body } = answer
      expect(body.match(/<script/g)?.length ?? 0, page).toBe(/^\/projects\/\d+$/.test(page) ? 1 : 0)
      expect(body, page).not.toMatch(/<svg onload|<img src=x|onerror=alert\(1\)>(?!&)/)
      for (const secret of secrets) expect(body.includes(secret), `${page} ${secret}`).toBe(false)
      expect(body.length, page).toBeLessThan(400_000)
      const json = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(body)?.[1]
      if (json !== undefined) expect(JSON.parse(json)['@type']).toBe('Project')
      for (const [, link = ''] of body.matchAll(
        /href="(\/(?:projects\/\d+|(?:organisations|countries|sectors|themes)\/[^"#?]+))"/g,
      )) {
        if (found.has(link) || link.endsWith('.csv')) continue
        found.add(link)
        pages.push(link)
      }
    }
    expect(found.size).toBeGreaterThan(60)
  }, 60_000)
})
