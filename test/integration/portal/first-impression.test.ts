import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../../src/http/pages/words/words.js'
import { browserProgram, launchBrowser, lookAt, sizes } from '../../support/portal/browser.js'
import { demoSite } from '../../support/portal/portal-site.js'

const { en } = languages

if (!browserProgram) console.log('left out: what a visitor sees first (install Debian’s package chromium)')

describe.skipIf(!browserProgram)('what a visitor sees first', () => {
  let browser: Browser
  let base: string
  let site: Awaited<ReturnType<typeof demoSite>>
  /** A project with a picture, results and reports. */
  const project = '/projects/9000002'

  beforeAll(async () => {
    site = await demoSite()
    base = site.base
    browser = await launchBrowser()
  })
  afterAll(async () => await browser?.close())

  const look = (address: string, size: keyof typeof sizes, see: (page: Page) => Promise<void>) =>
    lookAt(browser, base, address, { scheme: 'light', size }, see)
  const text = async (address: string) => await (await fetch(base + address)).text()

  it('has the search and the answer about money above the fold, and one bar', async () => {
    await look('/en', 'desktop', async (page) => {
      for (const part of ['#q', '.chips', '.hero img', '.sentence', '.stack']) {
        const box = await page.locator(part).first().boundingBox()
        expect([part, (box?.y ?? 9_999) + (box?.height ?? 0) < sizes.desktop.height]).toEqual([part, true])
      }
      expect(await page.locator('.stack').count()).toBe(1)
      expect(await page.locator('.chips li').count()).toBe(4)
    })
  })

  it('has a project page of at most 4,500 px at a desk, and money and the way to give beside its story', async () => {
    for (const address of [project, '/projects/9000003', '/projects/9000010']) {
      await look(address, 'desktop', async (page) => {
        const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
        expect([address, height, height <= 4_500]).toEqual([address, height, true])
        await page.evaluate('window.scrollTo(0, 1500)')
        expect((await page.locator('aside .sentence').boundingBox())?.y).toBeGreaterThanOrEqual(0)
        expect(await page.locator('ol.story').first().locator('> li').count()).toBeLessThanOrEqual(5)
      })
    }
  })

  it('shows what gifts do, as the record says it, until it says something else', async () => {
    const { store } = site.publisher.deps
    await store.db.query('delete from donation_option where project_id = 9000004')
    await store.db.query(
      `insert into donation_option (project_id, position, amount, description)
        values (9000004, 1, 100, 'pays <a> mason'), (9000004, 0, 25, 'buys tools')`,
    )
    await look('/en/projects/9000004', 'desktop', async (page) => {
      expect(await page.locator('aside .options li').allInnerTexts()).toEqual(['$25 buys tools', '$100 pays <a> mason'])
    })
    await store.db.query('delete from donation_option where project_id = 9000005')
    expect(await text('/en/projects/9000005')).not.toContain(en.project.options)
  })

  it('cites a project with its XML in the release that is named, which stays when the next one is live', async () => {
    const { release } = await site.publisher.manifest()
    const page = await text('/en/projects/9000006')
    expect(page).toContain(`${en.changes.release} ${release}`)
    const [, link = ''] = /href="([^"]+\.xml\?release=[^"]+)"/.exec(page) ?? []
    const cited = await text(link)
    expect(cited).toContain('<other-identifier ref="9000006" type="A1"/>')
    await site.publisher.deps.store.db.query(`update project set title = 'Another name' where id = 9000006`)
    const now = site.publisher.now
    site.publisher.now = new Date('2026-11-23T02:00:00Z')
    expect((await site.publisher.publish()).state).toBe('published')
    site.publisher.now = now
    expect(await text(link)).toBe(cited)
    expect(await text(link.split('?')[0] ?? '')).toContain('Another name')
    expect((await fetch(`${base}${link.replace(/release=.*/, 'release=20200101T000000Z-1')}`)).status).toBe(404)
    expect((await fetch(`${base}${link.replace(/release=.*/, 'release=..%2F..%2Fcurrent')}`)).status).toBe(404)
  })

  it('begins with a sentence to quote: who published what, on which day, in which release', async () => {
    const { release, previous } = await site.publisher.manifest()
    const partner = /href="(\/en\/organisations\/[^"]+)/.exec(await text(`/en${project}`))?.[1] ?? ''
    for (const address of [
      '/en/quality',
      '/en/changes',
      `/en/changes/${previous}..${release}`,
      '/en/countries/KE',
      partner,
    ]) {
      const [, said = ''] = /<h1[^>]*>.*?<\/h1>\s*<p class="lead">(.*?)<\/p>/s.exec(await text(address)) ?? []
      for (const part of ['Giving Platform', release, '2026'])
        expect([address, said]).toEqual([address, expect.stringContaining(part)])
      const foot = (await text(address)).split('<footer')[1]
      for (const part of ['US-EIN-123456789', en.guarantee]) expect(foot).toContain(part)
    }
  })

  it('shows projects of a list before what is said of their sums, and how to cite it at the end', async () => {
    const page = await text('/en/projects?country=KE')
    const places = ['role="search"', 'class="sentence"', 'class="cards"', '<p class="kind">These sums', '<cite'].map(
      (part) => page.indexOf(part),
    )
    expect(places).toEqual([...places].filter((at) => at > 0).sort((a, b) => a - b))
  })

  it('has no picture twice side by side, and cards without one half as high, with the name of their theme', async () => {
    await look('/en/projects', 'desktop', async (page) => {
      const cards = (await page.evaluate(`[...document.querySelectorAll('.card')].map((card) => [
        card.querySelector('img')?.getAttribute('src') ?? '',
        card.firstElementChild.textContent,
        card.firstElementChild.getBoundingClientRect().height,
      ])`)) as [string, string, number][]
      expect(cards.filter(([src], at) => src !== '' && src === cards[at - 1]?.[0])).toEqual([])
      const heights = (isPicture: boolean) => cards.flatMap(([src, , high]) => ((src !== '') === isPicture ? high : []))
      expect(Math.max(0, ...heights(false))).toBeLessThanOrEqual(Math.max(...heights(true)) / 2 + 1)
      expect(cards.filter(([src, name]) => src === '' && name === '')).toEqual([])
    })
  })

  it('has a plain sentence for each table and each column', async () => {
    const page = await text('/en/data')
    expect(page).not.toContain('<dd></dd>')
    expect([...page.matchAll(/<dt><code>/g)].length).toBeGreaterThan(100)
    expect(page).toContain(
      '<dt><code>transactiondate_isodate</code></dt><dd>The day on which the money came or went.</dd>',
    )
    expect(page).not.toMatch(/<dd>[^<]*@/)
    expect(await text('/fr/data')).toContain('<dl class="facts" lang="en" dir="ltr">')
  })

  it('shows two columns of money by year on a phone, and a sign where a table goes on', async () => {
    await look('/en/years', 'phone', async (page) => {
      const [seen, background, overflow] = (await page.evaluate(`{
        const cells = [...document.querySelector('tbody tr').cells].slice(1)
        const scroll = document.querySelector('.scroll')
        ;[
          cells.filter((cell) => cell.firstElementChild.getBoundingClientRect().right <= 345).length,
          getComputedStyle(scroll).backgroundImage,
          scroll.scrollWidth - scroll.clientWidth,
        ]
      }`)) as [number, string, number]
      expect(seen).toBeGreaterThanOrEqual(2)
      expect(overflow).toBeGreaterThan(0)
      expect(background).toContain('gradient')
    })
  })

  it('has no circle of a map on the way of the keyboard, and no map on the page of a country', async () => {
    for (const [, attributes = ''] of (await text('/en')).matchAll(/<a ([^>]*)><circle/g))
      expect(attributes).toContain('tabindex="-1"')
    expect(await text('/en')).toContain('<circle')
    expect(await text('/en/countries/KE')).not.toContain('<circle')
  })

  it('leads developers to the description and to a key, in gzip', async () => {
    const page = await fetch(`${base}/en/developers`, { headers: { 'accept-encoding': 'gzip' } })
    expect(page.headers.get('content-encoding')).toBe('gzip')
    const body = await page.text()
    expect(body).toContain('href="/api/docs"')
    expect(body).toContain('POST /api/userservice/keys')
    for (const [, address = ''] of body.matchAll(/(?:href|src)="(\/portal\/[^"]+\.(?:css|js))"/g)) {
      const asset = await fetch(base + address, { headers: { 'accept-encoding': 'gzip' } })
      expect([address, asset.headers.get('content-encoding')]).toEqual([address, 'gzip'])
    }
  })

  it('names at least four dates of a chart where there is room, the first and the last whole', async () => {
    for (const [address, size] of [
      ['/en', 'desktop'],
      ['/en', 'phone'],
      [`/en${project}`, 'desktop'],
    ] as const) {
      await look(address, size, async (page) => {
        const chart = page.locator('svg.chart:visible').first()
        const months = chart.locator('text').filter({ hasText: /20\d\d$/ })
        expect([address, size, (await months.count()) >= (size === 'phone' ? 3 : 4)]).toEqual([address, size, true])
        const [frame, last] = [await chart.boundingBox(), await months.last().boundingBox()]
        expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0) + 1)
        expect(await months.last().textContent()).toBe('Nov 2026')
      })
    }
  })

  it('says the same words for money above and below, and has the name of a column of numbers above its numbers', async () => {
    const page = await text(`/en${project}`)
    expect(page).not.toMatch(/Incoming Funds|Disbursement</)
    expect(page).toContain(`<td>${en.money.partners}</td>`)
    expect(page).toContain(`<th scope="col" class="number">${en.money.amount}</th>`)
  })

  it('repeats no heading as the caption of what is below it', async () => {
    for (const address of [
      '/en',
      `/en${project}`,
      '/en/quality',
      '/en/changes',
      '/en/years',
      '/en/data',
      '/en/countries',
      '/en/developers',
    ]) {
      await look(address, 'desktop', async (page) => {
        await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
        const seen = new Set(await page.locator('h1, h2, h3').allInnerTexts())
        const captions = await page.locator('caption:not(.hidden)').allInnerTexts()
        expect([address, captions.filter((one) => seen.has(one.replace(/ \(\w{3}\)$/, '')))]).toEqual([address, []])
      })
    }
  })

  it('takes no word for a year, and splits no partner by percentages', async () => {
    const count = async (query: string) => /<strong>(\d+) projects?</.exec(await text(`/en/projects${query}`))?.[1]
    expect(await count('?year=abcd')).toBe(await count(''))
    expect(await text('/en/projects?year=abcd')).not.toContain('<ul class="chips">')
    expect(await text('/en/organisations')).not.toContain(en.group.split)
    expect(await text('/en/countries')).toContain(en.group.split)
  })

  it('means a word that differs by a letter, and has choices in the order of the alphabet', async () => {
    expect(await text('/en/projects?q=wter+kenya')).toMatch(/q=water\+kenya"[^>]*>water kenya</)
    const [, choices = ''] = /<select id="country"[^>]*>(.*?)<\/select>/s.exec(await text('/en/projects')) ?? []
    const names = [...choices.matchAll(/<option value="[A-Z]+"[^>]*>([^<]+)/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(5)
    expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')))
  })

  it('has buttons that are seen in the dark', async () => {
    await lookAt(browser, base, '/en/projects', { scheme: 'dark', size: 'desktop' }, async (page) => {
      const luminances = (await page.evaluate(`['borderTopColor', 'backgroundColor'].map((of) => {
        const [r, g, b] = getComputedStyle(of === 'borderTopColor' ? document.querySelector('main button') : document.body)[of].match(/\\d+/g).map((one) => {
          const share = one / 255
          return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      })`)) as [number, number]
      expect((luminances[0] + 0.05) / (luminances[1] + 0.05)).toBeGreaterThanOrEqual(3)
    })
  })

  it('loads at most 40 kB in 4 requests a page on a phone', async () => {
    const { release, previous } = await site.publisher.manifest()
    for (const address of [
      '/',
      '/ar',
      '/projects',
      '/projects?q=water',
      project,
      '/projects/9000003',
      '/countries',
      '/countries/KE',
      '/organisations',
      '/years?by=theme',
      '/data',
      '/quality',
      '/changes',
      `/changes/${previous}..${release}`,
      '/status',
      '/developers',
    ]) {
      const context = await browser.newContext({ viewport: sizes.phone })
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      await devtools.send('Network.enable')
      const loaded: number[] = []
      devtools.on('Network.loadingFinished', ({ encodedDataLength }) => loaded.push(encodedDataLength))
      await page.goto(base + address, { waitUntil: 'networkidle' })
      const bytes = loaded.reduce((sum, one) => sum + one, 0)
      expect([address, bytes, bytes <= 40_000, loaded.length, loaded.length <= 4]).toEqual([
        address,
        bytes,
        true,
        loaded.length,
        true,
      ])
      await context.close()
    }
  })
})
