import { rename } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { seedDemo } from '../../../src/demo/sql/demo.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { Portal } from '../../../src/extensions/portal/portal.js'
import { type Filter, type Found, ProjectIndex } from '../../../src/extensions/portal/project-index.js'
import { makeBrand } from '../../../src/http/pages/brand.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { type Decimal, fromMinorUnits, splitByLargestRemainder, toMinorUnits } from '../../../src/kernel/money.js'
import { Turns } from '../../../src/kernel/turns.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { Body } from '../../../src/release/folder/body.js'
import { createIndexReader } from '../../../src/release/read/activity-index.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { adoptSchedule, pauseSchedule } from '../../../src/work/sql/schedules.js'
import { testApi } from '../../support/api/api.js'
import { choosePages, countedFigures, shownFigures } from '../../support/portal/portal-figures.js'
import { followLinks, publishedSite } from '../../support/portal/portal-site.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { countActivities, sumOf } from '../../support/release/recount.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { day, mappingConfig, usd } from '../../support/values/builders.js'

const { en, fr } = languages

const { baseUrl } = mappingConfig
const samples = realRecords('the figures of the portal over real records')

/** Compares what pages show with what an XML parser finds in the files. */
async function compareFigures({ app, publisher }: { app: FastifyInstance; publisher: Publisher }): Promise<void> {
  const release = await publisher.live()
  const pages = await choosePages(release)
  expect(await shownFigures(app, pages)).toEqual(await countedFigures(release, pages))
}

it.skipIf(!samples)(
  'has the figures of the files over records of a real platform, whose money is totals until a day',
  async () => {
    const { store } = await testDatabase()
    const clock = () => new Date('2026-11-21T01:00:00Z')
    await importFiles(store, [samples ?? ''], { source: 'import', clock, currency: usd })
    await compareFigures(await publishedSite(store))
  },
)

it('has no dead link on its first page, a list and a project of odd data', async () => {
  const { store } = await testDatabase()
  await seed(store, { projects: 3, source: 'demo', firstId: 1, today: day('2026-11-20'), currency: usd, baseUrl })
  const { app } = await publishedSite(store)
  const begin = ['/', '/projects', '/projects/1']
  const { dead, seen } = await followLinks(app, [...begin], undefined, (address) => begin.includes(address))
  expect(dead).toEqual([])
  expect(seen.size).toBeGreaterThan(20)
})

it('names no held project in public that was never published', async () => {
  const { store } = await testDatabase()
  await seed(store, { projects: 3, source: 'demo', firstId: 1, today: day('2026-11-20'), currency: usd, baseUrl })
  await store.db.query(`update project set title = '<p></p>' where id = 2`)
  const { app, publisher } = await publishedSite(store)
  expect((await app.inject('/changes')).body).toContain(en.changes.first)
  await store.db.query(`update project set title = '<p></p>' where id = 3`)
  publisher.now = new Date('2026-11-22T02:00:00Z')
  const { releaseId } = await publisher.publish()
  const { held, release, previous } = await publisher.manifest()
  const unnamed = held.sample[0]?.identifier.replace(/3$/, '2') ?? ''
  expect(unnamed).toMatch(/-2$/)
  expect([release, held.count, held.sample.map(({ projectId }) => projectId)]).toEqual([releaseId, 2, [3]])
  for (const url of ['/feeds/manifest.json', '/en/quality', '/en/changes', `/en/changes/${previous}..${release}`]) {
    const { body } = await app.inject(url)
    expect(body).not.toContain(unnamed)
    if (url.startsWith('/en')) expect([url, /never published|<td class="number">2</.test(body)]).toEqual([url, true])
  }
})

it('draws pages of the release before until one of many activities is opened', async () => {
  const { store } = await testDatabase()
  await insertProjects(
    store.db,
    Array.from({ length: 2_001 }, (_, index) => ({ id: index + 1 })),
  )
  const { app, publisher } = await publishedSite(store)
  const pages = async () => {
    const answers = await Promise.all(['/', '/projects?q=unheard', '/projects/7'].map((url) => app.inject(url)))
    return answers.map(({ statusCode, body }) => [
      statusCode,
      /\d{8}T\d{6}Z-\d+/.exec(body)?.[0],
      body.includes('Unheard of'),
    ])
  }
  const publish = async (title: string, day: number) => {
    await store.db.query('update project set title = $1 where id = 7', [title])
    publisher.now = new Date(Date.UTC(2026, 10, day, 2))
    return (await publisher.publish()).releaseId
  }
  const { id: first } = await publisher.live()
  expect(await pages()).toEqual([200, 200, 200].map((status) => [status, first, false]))
  const second = await publish('Unheard of', 22)
  // All are asked for at once, with which the opening begins.
  expect(await pages()).toEqual([200, 200, 200].map((status) => [status, first, false]))
  await expect.poll(pages).toEqual([200, 200, 200].map((status, page) => [status, second, page > 0]))

  // A release that cannot be opened is not hidden by the one before it.
  const third = await publish('Heard of', 23)
  const index = path.join(publisher.feedsDir, 'current/iati/index.json.part-1')
  await rename(index, `${index}.away`)
  await expect.poll(async () => (await app.inject('/')).statusCode).toBe(500)
  await rename(`${index}.away`, index)
  expect(await pages()).toEqual([200, 200, 200].map((status) => [status, third, false]))
})

describe('the portal over the demo', async () => {
  const { store } = await testDatabase()
  let app: FastifyInstance
  let publisher: Publisher

  beforeAll(async () => {
    await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl })
    ;({ app, publisher } = await publishedSite(store))
    await store.db.query(`update project set title = 'Another title' where id = 9000007`)
    await store.db.query(`update project set status = 'retired', active = false where id = 9000008`)
    await store.db.query(`update project set title = '<p></p>' where id = 9000009`)
    await store.db.query(`update project set title = 'Große Hilfe: l’eau d’Øst' where id = 9000010`)
    await store.db.query(`update project set title = 'Brackwasser im Norden' where id = 9000012`)
    await store.db.query(
      `update project set summary = 'Hilfe gegen Brackwasser im Norden, 9000011.', location_name = 'Nyamagabe Hill' where id = 9000011`,
    )
    await store.db.query(`update disbursement set amount = amount - 1 where id = (select min(id) from disbursement)`)
    publisher.now = new Date('2026-11-22T02:00:00Z')
    expect((await publisher.publish()).state).toBe('published')
  })

  it('has the figures that an XML parser finds in the files', async () => await compareFigures({ app, publisher }))

  it('says what a release changed, and which elements', async () => {
    const { release, previous } = await publisher.manifest()
    const page = (await app.inject(`/changes/${previous}..${release}`)).body
    expect(page).toMatch(/Another title<\/a><\/th><td[^>]*><code>title<\/code>/)
    expect(page).not.toContain('are shown.')
    // Payouts fell, and nothing was received.
    expect(
      [...page.matchAll(/<dt>([^<]*, change)<\/dt><dd>([^<]*)/g)].map(([, name, amount]) => [name, amount]),
    ).toEqual([['Paid to partners, change', '-$1.00']])
    expect(page).toMatch(/<h2>Ended \(1\)<\/h2><ul><li><a href="\/projects\/9000008"/)
    expect(page).toMatch(
      /<h2>Held back \(1\)<\/h2><ul><li><a href="\/projects\/9000009"[^>]*>[^<]+<\/a>: <code>element-missing/,
    )
    expect((await app.inject('/changes')).body).toContain(`/changes/${previous}..${release}`)
    const feed = parseElement((await app.inject('/changes.atom')).rawPayload, recordLimits)
    expect(feed.children.filter(({ name }) => name === 'entry')).toHaveLength(1)
    expect((await app.inject(`/changes/${previous}..20200101T000000Z-1`)).statusCode).toBe(404)
  })

  it('keeps the pages of the live release alone', async () => {
    const { release, previous = '' } = await publisher.manifest()
    const releases = createReleaseReader(publisher.feedsDir)
    let live = previous
    const site = { baseUrl: () => baseUrl, publisherName: 'Giving Platform', brand: makeBrand({}) }
    const portal = new Portal({ ...releases, live: () => releases.byId(live) }, createIndexReader(), new Turns(2), site)
    const draw = () => portal.page({ address: '/', query: {}, language: 'en', isChosen: false, client: '127.0.0.1' })
    const first = await draw()
    expect(await draw()).toBe(first)
    live = release
    expect(await draw()).toMatchObject({ release })
    live = previous
    const again = await draw()
    expect(again).toMatchObject({ release: previous })
    expect(again).not.toBe(first)
  })

  it('opens what is live before a reader asks', async () => {
    const { release, previous = '' } = await publisher.manifest()
    const releases = createReleaseReader(publisher.feedsDir)
    const [site, readIndex] = [{ baseUrl: () => baseUrl, publisherName: '', brand: makeBrand({}) }, createIndexReader()]
    const opened: string[] = []
    const read = async (one: Parameters<typeof readIndex>[0]) => {
      opened.push(one.id)
      return await readIndex(one)
    }
    let live = previous
    const turns = new Turns(2)
    const drawn = vi.spyOn(turns, 'take')
    const portal = new Portal({ ...releases, live: () => releases.byId(live) }, read, turns, site)
    const stop = portal.openAhead()
    await expect
      .poll(() => [opened.includes(previous), drawn.mock.calls.length], { timeout: 60_000 })
      .toEqual([true, 3])
    live = release
    await expect.poll(() => [opened.includes(release), drawn.mock.calls.length], { timeout: 60_000 }).toEqual([true, 6])
    stop()
  })

  it('keeps the lists that were asked for twice of the latest filters, few and small, and none that is empty', async () => {
    const live = await publisher.live()
    const readIndex = createIndexReader()
    const open = async () => {
      const index = await readIndex(live)
      if (!index) throw new Error('expected an index')
      return await ProjectIndex.of(live, index, (_kind, code) => [code])
    }
    const filters = (count: number, textOf: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => ({ words: textOf(at) }))
    /** How many of the lists of these filters are kept after the last of them was found. */
    const kept = async (wanted: readonly Filter[]) => {
      const projects = await open()
      const found: Found[] = []
      for (const one of wanted) {
        const [first, second] = [await projects.find(one), await projects.find(one)]
        expect(second === first).toBe(false)
        found.push(second)
      }
      expect((await projects.find(wanted.at(-1) ?? {})) === found.at(-1)).toBe((found.at(-1)?.places.length ?? 0) > 0)
      let count = 0
      // From the last: whatever is found anew displaces others.
      for (let at = wanted.length - 1; at >= 0 && (await projects.find(wanted[at] ?? {})) === found[at]; at--) count++
      return count
    }
    expect(await kept(filters(20, (at) => `9000007${' '.repeat(at)}`))).toBe(20)
    expect(await kept(filters(600, (at) => `9000007${' '.repeat(at)}`))).toBeLessThanOrEqual(500)
    // A filter counts with its own text.
    expect(await kept(filters(100, (at) => `9000007${' '.repeat(100_000 + at)}`))).toBeLessThan(50)
    expect(await kept(filters(3, (at) => `nowhere${at}`))).toBe(0)
  })

  it('sends who ends the address of a language with a slash to its page', async () => {
    for (const [url, to] of [
      ['/fr/', '/fr'],
      ['/fr/projects/?q=a', '/fr/projects?q=a'],
      ['/countries/', '/countries'],
    ]) {
      const { statusCode, headers } = await app.inject(url ?? '')
      expect([statusCode, headers.location]).toEqual([301, to])
    }
  })

  it('speaks the language that the address names, else that of Accept-Language, else English', async () => {
    const language = async (url: string, accept?: string) => {
      const answer = await app.inject({ url, headers: accept === undefined ? {} : { 'accept-language': accept } })
      return /<html lang="([^"]+" dir="\w+)">/.exec(answer.body)?.[1]
    }
    expect(await language('/projects')).toBe('en" dir="ltr')
    expect(await language('/projects', 'fr-CA, en;q=0.5')).toBe('fr" dir="ltr')
    expect(await language('/projects', 'de-AT')).toBe('de" dir="ltr')
    expect(await language('/projects', 'sw')).toBe('en" dir="ltr')
    expect(await language('/projects', 'ar-EG')).toBe('ar" dir="rtl')
    expect(await language('/projects', 'pt-BR')).toBe('pt-PT" dir="ltr')
    expect(await language('/fr/projects', 'en')).toBe('fr" dir="ltr')
    expect(await language('/en/projects', 'fr')).toBe('en" dir="ltr')
    const page = await app.inject('/projects')
    expect(page.headers).toMatchObject({ vary: 'Accept-Language, Accept-Encoding' })
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect((await app.inject({ url: '/projects', headers: { 'if-none-match': page.headers.etag } })).statusCode).toBe(
      304,
    )
    expect((await app.inject('/projects/1')).statusCode).toBe(404)
    expect((await app.inject('/countries/ZZ')).statusCode).toBe(404)
    const missing = await app.inject({ url: '/fr/projects/1', headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(missing.body).toContain(`<h1>${fr.notFound}</h1>`)
  })

  it('writes names of codes, percentages, sizes, quotes and colons as a language does', async () => {
    const page = async (url: string) => (await app.inject(url)).body
    const german = await page('/de/projects/9000003')
    expect(german).toContain('<td>An Partner ausgezahlt</td>')
    expect(german).toMatch(/<span lang="en">[^<]+<\/span><\/a> \d+,\d\d\u00a0%</)
    expect(await page('/de/projects?q=hilfe')).toContain('„hilfe“')
    expect(await page('/de/developers')).toMatch(/>\d+ Byte</)
    expect(await page('/en/developers')).toMatch(/>\d+ bytes</)
    expect(await page('/fr/developers')).toMatch(/>\d+\u00a0octets</)
    expect(await page('/fr/years')).toContain('<h1>Argent par année\u202f: Reçu')
  })

  it('finds projects by words, whatever their accents, and by filters together', async () => {
    const count = async (query: string) =>
      Number(/<strong>(\d+) projects?</.exec((await app.inject(`/projects?${query}`)).body)?.[1] ?? 0)
    expect(await count('q=another+TITLE')).toBe(1)
    expect(await count('q=%C3%81n%C3%B3ther+title')).toBe(1)
    // At most eight words count, each once; a letter alone is no word, but a character of Chinese is.
    expect(await count(`q=${'another+'.repeat(20)}title`)).toBe(1)
    expect(await count('q=another+title+one+two')).toBe(0)
    expect(await count(`q=${'a+b+c+d+e+'.repeat(18)}`)).toBe(0)
    expect(await count('q=%E6%B0%B4')).toBe(0)
    for (const words of ['grosse hilfe', '“GROẞE”', "hilfe l'eau", 'HILFE: OST!']) {
      expect([words, await count(new URLSearchParams({ q: words }).toString())]).toEqual([words, 1])
    }
    const both = await count('country=KE&status=2')
    let counted = 0
    await countActivities(await publisher.live(), ({ find }) => {
      if (find('recipient-country/@code').includes('KE') && find('activity-status/@code')[0] === '2') counted++
    })
    expect(both).toBe(counted)
    expect(both).toBeGreaterThan(0)
  })

  it('offers a search with the nearest words where it finds nothing', async () => {
    const offered = async (q: string) =>
      /Did you mean <a [^>]*>([^<]*)<\/a>/.exec(
        (await app.inject(`/en/projects?${new URLSearchParams({ q })}`)).body,
      )?.[1]
    expect(await offered('schol Kneya')).toBe('school kenya')
    expect(await offered('shcool')).toBe('school')
    for (const q of ['qqqqqq', '', '" "', 'zz']) expect([q, await offered(q)]).toEqual([q, undefined])
  })

  it('finds the same for searches at the same time as for each alone', async () => {
    const found = async (query: string) => (await app.inject(`/projects.json?${query}`)).json().projects
    const rest = ['', '&country=KE', '&year=2024', '&country=KE&status=2&year=2024&figure=received']
    const words = ['"another title"', '"grosse hilfe"', 'ti', '9000001', '"another title" ti']
    const searches = rest.flatMap((filter) => words.map((one) => [one, filter] as const))
    const together = await Promise.all(searches.map(([one, filter]) => found(`q=${one}${filter}`)))
    expect(together.slice(0, 2).map(({ length }) => length)).toEqual([1, 1])
    for (const [at, [one, filter]] of searches.entries()) {
      expect([one, filter, await found(`q=${one}+${filter}`)]).toEqual([one, filter, together[at]])
    }
  })

  it('finds projects by country, theme and sector in both languages, by number and identifier, and says why', async () => {
    const found = async (q: string) => {
      const query = new URLSearchParams({ q }).toString()
      const { projects } = (await app.inject(`/projects.json?${query}`)).json()
      return (projects as { project: number }[]).map(({ project }) => project)
    }
    const having = async (xpath: string, code: string) => {
      const { projects } = (await app.inject('/projects.json')).json()
      const all = projects as { project: number; identifier: string }[]
      const identifiers = new Set<string>()
      await countActivities(await publisher.live(), ({ find }) => {
        if (find(xpath).includes(code)) identifiers.add(find('iati-identifier')[0] ?? '')
      })
      return all.filter(({ identifier }) => identifiers.has(identifier)).map(({ project }) => project)
    }
    const india = await having('recipient-country/@code', 'IN')
    expect(india.length).toBeGreaterThan(0)
    expect([await found('india'), await found('Inde')]).toEqual([india, india])
    const water = await having('sector[@vocabulary="99"]/@code', 'water')
    expect(await found('clean water')).toEqual(expect.arrayContaining(water))
    expect(await found('9000003')).toEqual([9000003])
    const [{ identifier }] = (await app.inject('/projects.json?q=9000003')).json().projects
    expect(await found(identifier)).toEqual([9000003])
    expect((await app.inject('/en/projects?q=india')).body).toContain(
      `${en.list.foundIn} <span dir="auto">India</span>`,
    )
  })

  it('finds words and phrases of summaries, needs and places, best first, and says where', async () => {
    const found = async (q: string, more = '') => {
      const query = new URLSearchParams({ q }).toString() + more
      const { projects } = (await app.inject(`/projects.json?${query}`)).json()
      return (projects as { project: number }[]).map(({ project }) => project)
    }
    const texts = new Map<number, string>()
    await countActivities(await publisher.live(), ({ find }) => {
      const all = find('title/narrative | description/narrative | location//narrative').join(' | ')
      texts.set(Number(find('other-identifier[@type="A1"]/@ref')[0]), all)
    })
    const having = (pattern: RegExp) => [...texts].flatMap(([project, text]) => (pattern.test(text) ? [project] : []))
    expect((await found('"Brackwasser im Norden"')).sort()).toEqual(having(/Brackwasser im Norden/))
    expect(await found('BRACKWASSER')).toEqual([9000012, 9000011])
    expect(await found('brackwasser', '&sort=newest')).toEqual([9000011, 9000012])
    expect(await found('"im Brackwasser"')).toEqual([])
    expect(await found('"nyamagabe hill"')).toEqual([9000011])
    // From the middle of a word only in names.
    expect([await found('rackwasser'), await found('yamagabe')]).toEqual([[9000012], [9000011]])
    const page = (await app.inject(`/en/projects?q=brackwasser`)).body
    expect(page).toMatch(/Found in: <span dir="auto">the title<.*Found in: <span dir="auto">the description</s)
    // A project's own number puts it first, and is looked for like other words.
    expect((await app.inject('/en/projects?q=9000011')).body).toContain('Found in: <span dir="auto">the description<')
    expect(page).toContain('<option value="best" selected>')
    expect((await app.inject(`/fr/projects?q=nyamagabe+hill`)).body).toContain(
      `${fr.list.foundIn} <span dir="auto">un lieu<`,
    )
    expect((await app.inject(`/en/projects`)).body).not.toContain('<option value="best"')
  })

  it('tells search engines one address of each language, and when a project changed', async () => {
    const links = (body: string) =>
      [...body.matchAll(/<link rel="(?:canonical|alternate)"(?: hreflang="([\w-]+)")? href="([^"]+)">/g)].map(
        ([, code = 'canonical', href = '']) => [code, href.replace(baseUrl, '')],
      )
    const [english, french] = ['/projects/9000001', '/fr/projects/9000001']
    const versions = Object.fromEntries([
      ...Object.keys(languages).map((code) => [code, code === 'en' ? english : `/${code}${english}`]),
      ['x-default', english],
    ])
    for (const [address, canonical] of [
      [`/en${english}`, english],
      [french, french],
    ] as const) {
      const { body } = await app.inject(address)
      expect(Object.fromEntries(links(body))).toEqual({ canonical, ...versions })
    }
    const { body } = await app.inject('/sitemap-1.xml')
    const { projects } = (await app.inject('/projects.json?q=9000001')).json()
    expect(body).toContain(`${baseUrl}${english}</loc><lastmod>${projects[0].changed}</lastmod>`)
  })

  it('shows the picture of the record where its address is shared, and none on other pages without a logo', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => 9_000_001 + at)
    const pages = await Promise.all(ids.map(async (id) => (await app.inject(`/projects/${id}`)).body))
    const shown = pages.flatMap((body) => {
      const [, picture] = /<meta property="og:image" content="([^"]+)">/.exec(body) ?? []
      return picture === undefined
        ? []
        : [{ picture, isOnPage: body.includes(`src="${picture.replace(baseUrl, '')}"`) }]
    })
    expect(shown.length).toBeGreaterThan(5)
    expect(shown.filter(({ isOnPage }) => !isOnPage)).toEqual([])
    expect((await app.inject('/')).body).not.toContain('og:image')
    for (const url of ['/pictures/home.png', '/pictures/projects/9000001.png']) {
      expect([url, (await app.inject(url)).statusCode]).toEqual([url, 404])
    }
  })

  it('has no parts that only repeat others: results and documents made of reports, empty rows, what nobody came for', async () => {
    const page = (await app.inject('/en/projects/9000001')).body
    expect(page).not.toContain('class="give"')
    expect(page).toContain(`<h2 id="reports">${en.project.reports}</h2>`)
    expect(page).not.toContain(`<h2>${en.project.results}</h2>`)
    const [, documents = ''] = page.split(`<h2>${en.project.documents}</h2>`)
    expect(documents.slice(0, documents.indexOf('</ul>'))).not.toMatch(/reports\.atom|updates\/[^"]/)
    expect((await app.inject('/en/quality')).body.split(en.quality.coverageNote)[1]).not.toContain('>0%')
    for (const address of ['/compare', '/fr/compare?kind=countries', '/embed/projects/9000001']) {
      expect((await app.inject({ url: address, headers: { accept: 'text/html' } })).statusCode).toBe(404)
    }
  })

  it('answers the question of a journalist: a list with its sums, and the same list as CSV and JSON', async () => {
    const counted = { projects: 0, partners: [] as string[] }
    await countActivities(await publisher.live(), ({ find, sum }) => {
      // The part of a country or theme, by the percentages where there are several.
      const part = (units: bigint, path: string, code: string) => {
        const shares = find(`${path}/@percentage`).map((share) => toMinorUnits(share as Decimal, 4))
        const at = find(`${path}/@code`).indexOf(code)
        return shares.length < 2 || at < 0 ? units : (splitByLargestRemainder(units, shares)[at] ?? 0n)
      }
      if (!find('recipient-country/@code').includes('KE') || !find('sector[@vocabulary="99"]/@code').includes('water'))
        return
      counted.projects++
      const paid = toMinorUnits(sum('transaction[transaction-type/@code="3"]/value') as Decimal, 4)
      const ofWater = part(part(paid, 'recipient-country', 'KE'), 'sector[@vocabulary="99"]', 'water')
      counted.partners.push(fromMinorUnits(ofWater, 4))
    })
    const water = 'country=KE&theme=water'
    const csv = await app.inject(`/projects.csv?${water}`)
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const [head = '', ...lines] = csv.body.trimEnd().split('\r\n')
    const rows = lines.map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
    const column = head.split(',').indexOf('paid_to_partners')
    expect(rows).toHaveLength(counted.projects)
    expect(sumOf(rows.map((row) => row[column] ?? ''))).toBe(sumOf(counted.partners))
    const json = (await app.inject(`/projects.json?${water}`)).json()
    const index = (await app.inject('/iati/index.json')).json() as { files: { activities: { project: number }[] }[] }
    const entries = index.files.flatMap(({ activities }) => activities)
    for (const { url, ...told } of (await app.inject('/projects.json')).json().projects) {
      expect(url).toBe(`${baseUrl}/projects/${told.project}`)
      const entry = entries.find(({ project }) => project === told.project)
      expect(entry).toEqual({
        ...told,
        offset: expect.anything(),
        length: expect.anything(),
        hash: expect.anything(),
        has: expect.anything(),
        texts: expect.anything(),
        years: expect.anything(),
      })
    }
    expect(json).toMatchObject({ query: { country: 'KE', theme: 'water' }, count: counted.projects })
    expect(json.projects).toHaveLength(counted.projects)
    const page = (await app.inject(`/en/projects?${water}`)).body
    expect(page).toContain(`<a href="/projects.csv?${water.replace('&', '&amp;')}"`)
    const shown = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
    expect(page).toContain(
      `${en.money.partners}: <strong>${shown.format(sumOf(counted.partners) as `${number}`)}</strong>`,
    )
    // Each filter can be taken away; what is left stays.
    expect(page).toMatch(/<a class="badge" href="\/en\/projects\?theme=water"><span dir="auto">Kenya/)
    const again = await app.inject({ url: `/projects.csv?${water}`, headers: { 'if-none-match': csv.headers.etag } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it('orders a list by money, and keeps the projects that ran in a year', async () => {
    const { projects } = (await app.inject('/projects.json?sort=in&status=2')).json() as {
      projects: { money: Record<string, { in: string }> }[]
    }
    const received = projects.map(({ money }) => Number(money.USD?.in ?? 0))
    expect(received.length).toBeGreaterThan(10)
    expect(received).toEqual([...received].sort((a, b) => b - a))
    const ran = (await app.inject('/projects.json?year=2025')).json().count
    let counted = 0
    await countActivities(await publisher.live(), ({ find }) => {
      const year = (...types: string[]) =>
        types
          .flatMap((type) => find(`activity-date[@type="${type}"]/@iso-date`))
          .map((date) => Number(date.slice(0, 4)))[0]
      const [first = 9999, last = 9999] = [year('2', '1'), year('4', '3')]
      if (first <= 2025 && last >= 2025) counted++
    })
    expect(ran).toBe(counted)
  })

  it('has a page and a CSV of each kind of group, whose sums are those of the files', async () => {
    const counted = new Map<string, string[]>()
    await countActivities(await publisher.live(), ({ find }) => {
      const partner = find('participating-org[@role="4"][1]/narrative[1]')[0]
      const paid = find('transaction[transaction-type/@code="3"]/value')
      if (partner) counted.set(partner, [...(counted.get(partner) ?? []), ...paid])
    })
    const { body } = await app.inject('/organisations.csv')
    const lines = body.trimEnd().split('\r\n').slice(1)
    expect(lines).toHaveLength(counted.size)
    for (const [name, paid] of counted) {
      const line = lines.find((one) => one.includes(name.replaceAll('"', '""')))
      expect(line?.split(',').at(-2), name).toBe(sumOf(paid))
    }
    const [, ref = '', site = ''] =
      /<organisation-identifier>(US-EIN-0[^<]+)<[\s\S]*?<document-link url="([^"]+)"/.exec(
        await publisher.read('/iati/organisations.xml'),
      ) ?? []
    expect((await app.inject(`/en/organisations/${ref}`)).body).toContain(`${en.group.site}: <a href="${site}"`)
    for (const kind of ['countries', 'sectors', 'themes', 'organisations'] as const) {
      const page = await app.inject(`/fr/${kind}`)
      expect([page.statusCode, page.body.includes(`<h1>${fr.groups[kind]}</h1>`)]).toEqual([200, true])
    }
  })

  it('tells money by year of countries, sectors and themes, whose sums are those of the other pages, and leads to the projects', async () => {
    const columns = async (address: string) => {
      const [head = [], ...rows] = (await app.inject(address)).body
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
      return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))
    }
    const figureSorts = { received: 'in', paid: 'partners', expenditure: 'expenditure', budget: 'budget' }
    const kindsBy = { country: 'countries', sector: 'sectors', theme: 'themes' }
    const names = { received: 'received', paid: 'paid_to_partners', expenditure: 'expenditure', budget: 'budget' }
    const all = (await columns('/projects.csv')) as Record<string, string>[]
    for (const [by, kind] of Object.entries(kindsBy)) {
      for (const [figure, name] of Object.entries(names)) {
        const rows = await columns(`/years.csv?by=${by}&figure=${figure}`)
        const groups = (await columns(`/${kind}.csv`)).filter((row) => row[name] !== '0')
        expect(Object.fromEntries(rows.map(({ code, total }) => [code, total]))).toEqual(
          Object.fromEntries(groups.map((row) => [row.code, row[name]])),
        )
        const whole = sumOf(all.map((row) => row[name] ?? ''))
        expect(sumOf(rows.map(({ total }) => total ?? ''))).toBe(whole)
        const json = (await app.inject(`/years.json?by=${by}&figure=${figure}`)).json()
        expect([json.by, json.figure, json.all.total, json.rows.length]).toEqual([by, figure, whole, rows.length])
        for (const { code, sums } of json.rows as { code: string; sums: Record<string, string> }[]) {
          const row = rows.find((one) => one.code === code) ?? {}
          const told = json.columns.filter((column: string) => row[column] !== '')
          expect(sums).toEqual(Object.fromEntries(told.map((column: string) => [column, row[column]])))
        }
      }
    }
    // Each figure of a year leads to the projects that it is made of.
    const paid = new Map<string, string[]>()
    await countActivities(await publisher.live(), ({ find }) => {
      for (const date of new Set(
        find('transaction[transaction-type/@code="3"]/transaction-date/@iso-date').map((one) => one.slice(0, 4)),
      )) {
        for (const code of find('recipient-country/@code')) {
          const key = `/projects?country=${code}&year=${date}&figure=paid`
          paid.set(key, [...(paid.get(key) ?? []), ...find('other-identifier[@type="A1"]/@ref')])
        }
      }
    })
    const page = (await app.inject('/en/years?figure=paid')).body
    const links = [...page.matchAll(/<a href="\/en(\/projects\?country=[^"]+)"><data value="/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    )
    expect(links.sort()).toEqual([...paid.keys()].sort())
    const shown = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
    for (const link of links.slice(0, 12)) {
      const { projects } = (await app.inject(link.replace('?', '.json?'))).json()
      expect(projects.map(({ project }: { project: number }) => String(project)).sort()).toEqual(paid.get(link)?.sort())
    }
    // A list's sums are of what its filters say: the figure that led to it.
    for (const [by, figure] of [
      ['country', 'paid'],
      ['country', 'budget'],
      ['sector', 'received'],
      ['theme', 'expenditure'],
    ] as const) {
      const name = names[figure]
      const table = (await app.inject(`/years.json?by=${by}&figure=${figure}`)).json()
      for (const { code, sums } of table.rows.slice(0, 4) as { code: string; sums: Record<string, string> }[]) {
        for (const [year, sum] of Object.entries(sums).filter(([column]) => /^\d{4}$/.test(column))) {
          const query = `${by}=${code}&year=${year}&figure=${figure}&sort=${figureSorts[figure]}`
          const list = (await app.inject(`/projects.json?${query}`)).json()
          expect([query, list.sums.USD[name], list.money_of]).toEqual([query, sum, `${by}=${code}; year=${year}`])
          const rows = await columns(`/projects.csv?${query}`)
          const amounts = rows.map((row) => row[name] ?? '')
          expect([query, sumOf(amounts), rows[0]?.money_of]).toEqual([query, sum, list.money_of])
          expect(amounts.map(Number)).toEqual(amounts.map(Number).sort((a, b) => b - a))
          expect(rows.map(({ project }) => Number(project))).toEqual(
            list.projects.map(({ project }: { project: number }) => project),
          )
        }
        // The year alone says it too, and a group without a year is as on the group's own page.
        const [year = '', sum = '0'] = Object.entries(sums).findLast(([column]) => /^\d{4}$/.test(column)) ?? []
        const body = (await app.inject(`/en/projects?${by}=${code}&year=${year}&figure=${figure}`)).body
        const text = shown.format(sum as `${number}`)
        // What was received begins the sentence, where there is one.
        expect([text, body.includes(`<strong>${text}</strong>`) || body.includes(`Of ${text} received`)]).toEqual([
          text,
          true,
        ])
        const whole = (await app.inject(`/projects.json?${by}=${code}`)).json()
        const group = (await columns(`/${kindsBy[by]}.csv`)).find((row) => row.code === code)
        expect([whole.sums.USD[name], whole.money_of]).toEqual([group?.[name], `${by}=${code}`])
      }
    }
    // Parts of parts: what a country has in a year is what all themes have of it.
    const ofKenya = (await app.inject('/projects.json?country=KE&year=2025')).json().sums.USD
    const { rows: themes } = (await app.inject('/years.json?by=theme')).json()
    const parts: Record<string, string>[] = []
    for (const { code } of themes) {
      const { sums } = (await app.inject(`/projects.json?country=KE&year=2025&theme=${code}`)).json()
      parts.push(sums.USD ?? {})
    }
    for (const name of Object.values(names)) {
      expect([name, sumOf(parts.map((sums) => sums[name] ?? '0'))]).toEqual([name, ofKenya[name]])
    }
    const kenya = (await app.inject('/en/projects?country=KE&year=2025')).body
    expect(kenya).toContain('are of this alone: Kenya, 2025.')
    expect((await app.inject('/en/projects?status=2')).body).toContain(en.list.totals)
    expect((await app.inject('/en/projects?year=abcd')).body).not.toContain('abcd</span>')
    const list = (await app.inject(`/en${links[0]}`)).body
    expect(list).toMatch(/<span dir="auto">Paid to partners: \d{4}<\/span>/)
    expect(page).toContain(`<a href="/years.csv?figure=paid"`)
    expect((await app.inject('/ar/years')).body).toContain('dir="rtl"')
    for (const address of [
      '/years?last=1900',
      '/years?last=2024&by=theme',
      '/years?currency=XXX&by=x&figure=y&page=99',
    ]) {
      const { statusCode, body } = await app.inject(address)
      expect([address, statusCode, body.includes('<tfoot>')]).toEqual([address, 200, true])
    }
    for (const from of ['/', '/countries', '/projects']) expect((await app.inject(from)).body).toContain('href="/years')
  })

  it('shows the pages of a release whose index does not tell years, and says so', async () => {
    const live = await publisher.live()
    const path = '/iati/index.json'
    const text = (await (await live.find(path))?.identity.text()) ?? ''
    const older = text.replace(/^\{"format":\d+/, '{"format":5').replace(/,"years":\{.*\}\}(?=,?$)/gm, '}')
    expect(older).not.toContain('"years"')
    const release = {
      ...live,
      find: async (wanted: string) => {
        const file = await live.find(wanted)
        return file && wanted === path ? { ...file, identity: new Body([Buffer.from(older)]) } : file
      },
    }
    const site = { baseUrl: () => baseUrl, publisherName: 'Giving Platform', brand: makeBrand({}) }
    const releases = { ...createReleaseReader(publisher.feedsDir), live: async () => release }
    const portal = new Portal(releases, createIndexReader(), new Turns(2), site)
    const draw = async (address: string, query = {}) => {
      const page = await portal.page({ address, query, language: 'en', isChosen: false, client: '127.0.0.1' })
      return typeof page === 'object' ? page.identity.toString() : page
    }
    expect(await draw('/years')).toContain(en.years.nothing)
    expect(await draw('/years.csv')).toBe('code,name,currency,total\r\n')
    expect(await draw('/countries')).toBe((await app.inject({ url: '/countries' })).body)
    expect(await draw('/projects', { year: '2025', figure: 'paid' })).toContain(en.list.nothing)
  })

  it('answers HTML to who asks for it where nothing is, and the error of the API to others', async () => {
    const accept = { accept: 'text/html,*/*;q=0.8' }
    for (const url of ['/nope', '/fr/nope', '/countries/ZZ', '/sitemap-9.xml', '/apiary', '/my/api/nope']) {
      const page = await app.inject({ url, headers: accept })
      expect([url, page.statusCode, page.headers['content-type']]).toEqual([url, 404, 'text/html; charset=utf-8'])
      expect(page.body).toContain(`<h1>${url.startsWith('/fr') ? fr.notFound : en.notFound}</h1>`)
      expect((await app.inject(url)).body).toContain('<error_response>')
    }
    for (const url of ['/api/nope', '/api', '/api?x=1']) {
      expect((await app.inject({ url, headers: accept })).headers['content-type'], url).toMatch(/xml/)
    }
    for (const url of ['/quality/', '/fr/status//', '/developers/?x=1', '/projects/9000001/', '/projects/?q=a']) {
      const { statusCode, headers } = await app.inject({ url, headers: accept })
      expect([statusCode, headers.location]).toEqual([301, url.replace(/\/+(?=\?|$)/, '')])
    }
    // Never to another host.
    const { statusCode, headers } = await app.inject({ url: { pathname: '//example.org/' }, headers: accept })
    expect([statusCode, headers.location]).toEqual([404, undefined])
  })

  it('is a page before the first release too, for who asks for HTML, wherever the address leads', async () => {
    const { app: empty } = await testApi(store)
    const headers = { accept: 'text/html,*/*;q=0.8' }
    for (const url of ['/countries', '/fr/projects', '/projects.csv', '/sitemap.xml']) {
      const page = await empty.inject({ url, headers })
      expect([url, page.statusCode, page.headers['content-type']]).toEqual([url, 503, 'text/html; charset=utf-8'])
      expect(page.body).toContain(url.startsWith('/fr') ? fr.developers.nothing : en.developers.nothing)
      expect((await empty.inject(url)).body).toContain('<error_response>')
    }
  })

  it('shows runs and the next one, and of a failure its code alone', async () => {
    const status = async (url = '/status') => await app.inject(url)
    const noNext = '<dt>Next run</dt><dd>none</dd>'
    expect((await status()).body).toContain(noNext)
    await adoptSchedule(store.db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, publisher.now)
    const failing = await testPublisher(store, { feedsDir: '/dev/null/secret' })
    const { id, error } = await failing.publish()
    expect(error?.message).toContain('secret')
    try {
      await pauseSchedule(store.db, 'publish', publisher.now)
      expect((await status()).body).toContain(noNext)
      await store.db.query('update schedule set paused_at = null')
      const page = await status()
      expect(page.headers['cache-control']).toBe('public, max-age=5')
      expect(page.body).toContain('<dt>Next run</dt><dd><time datetime="2026-11-22T02:00:00.000Z">')
      expect(page.body).toContain(`failed <code>${error?.code}</code>`)
      expect(page.body).not.toContain('secret')
      expect(page.body.match(/<td class="number">\d+\.\d sec<\/td>/g)).toHaveLength(2)
      expect((await status('/fr/status')).body).toMatch(/<td class="number">\d+,\d\ss<\/td>/)
    } finally {
      await store.db.query('delete from run where id = $1', [id])
    }
  })

  it('is off where PORTAL is off: the page for developers alone', async () => {
    const { app: alone } = await testApi(store, {
      store,
      releases: createReleaseReader(publisher.feedsDir),
      openPortal: undefined,
    })
    expect((await alone.inject('/')).body).toContain(`<h2 id="developers">${en.nav.developers}`)
    expect((await alone.inject('/')).body).not.toContain('href="/projects"')
    expect((await alone.inject('/projects')).statusCode).toBe(404)
    expect((await alone.inject('/developers')).statusCode).toBe(200)
  })
})
