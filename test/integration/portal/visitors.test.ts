import { readFile } from 'node:fs/promises'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { listen } from '../../support/api/api.js'
import { browserProgram, launchBrowser } from '../../support/portal/browser.js'
import { demoSite, officeSite, publishedSite } from '../../support/portal/portal-site.js'
import { sumOf } from '../../support/release/recount.js'
import { testDatabase } from '../../support/store/database.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { usd } from '../../support/values/builders.js'

const { en } = languages

if (!browserProgram) console.log('left out: what visitors come for, in a browser (install Debian’s package chromium)')

type Told = {
  readonly count: number
  readonly projects: {
    readonly project: number
    readonly title: string
    readonly countries: readonly string[]
    readonly themes: Readonly<Record<string, string>>
    readonly partner?: { readonly name: string }
    readonly money: Readonly<
      Record<string, { readonly in: string; readonly out: string; readonly expenditure: string }>
    >
  }[]
}

const samples = realRecords('tasks of visitors over real records')

/** A portal over 50 records of a real platform. */
async function realSite(): Promise<string> {
  const { store } = await testDatabase()
  const clock = () => new Date('2026-11-21T01:00:00Z')
  await importFiles(store, [samples ?? ''], { source: 'import', clock, currency: usd })
  return await listen((await publishedSite(store)).app)
}

const stores = [
  ['the records of a real platform', 'real', samples ? realSite : undefined],
  ['the exports of an office', 'office', async () => (await officeSite()).base],
] as const

type Task = { readonly who: string; readonly task: string; readonly stores: string; readonly clicks: number }

/** The tasks of docs/portal/tasks.md: each begins on the page that it names, and reaches what it asks for by what is seen there. */
describe.skipIf(!browserProgram)('visitors of the portal', () => {
  let browser: Browser
  let page: Page
  let base: string
  let tasks: readonly Task[]
  /** What was pressed since the visitor came. */
  let clicks = 0

  beforeAll(async () => {
    const rows = (await readFile('docs/portal/tasks.md', 'utf8')).matchAll(
      /^\| (\w+) \| (.+?) \| .+ \| (.+?) \| (\d) \|$/gm,
    )
    tasks = [...rows].map(([, who = '', task = '', on = '', count]) => ({
      who,
      task,
      stores: on,
      clicks: Number(count),
    }))
    browser = await launchBrowser()
    page = await browser.newPage()
  })

  afterEach(({ task: { name } }) => {
    const told = tasks.find(({ task }) => task === name)
    if (told) expect([name, clicks]).toEqual([name, told.clicks])
  })

  afterAll(async () => await browser?.close())

  const start = async (address = '/en') => {
    clicks = 0
    await page.goto(base + address)
  }
  const press = async (what: Locator) => {
    clicks++
    await what.first().click()
  }
  const click = async (name: string | RegExp) => await press(page.getByRole('link', { name, exact: true }))
  const main = async () => await page.locator('main').innerText()
  const open = async (title: string) => {
    await start()
    await page.locator('#q').fill(title)
    await press(page.getByRole('button', { name: en.list.show }))
    await click(title)
  }
  const read = async (name: string | RegExp) => {
    const address = await page.getByRole('link', { name, exact: true }).first().getAttribute('href')
    const answer = await fetch(new URL(address ?? '', page.url()))
    expect(answer.status).toBe(200)
    return await answer.text()
  }
  const download = async (name: string | RegExp) => {
    clicks++
    return await read(name)
  }
  const linesOf = (csv: string) => csv.trimEnd().split('\r\n')
  const choose = async (choices: Readonly<Record<string, string>>) => {
    await start('/en/projects')
    for (const [label, value] of Object.entries(choices)) {
      const field = page.getByLabel(label, { exact: true })
      if ((await field.evaluate((one) => (one as unknown as { tagName: string }).tagName)) === 'SELECT')
        await field.selectOption({ label: value })
      else await field.fill(value)
    }
    await press(page.getByRole('button', { name: en.list.show }))
  }
  const shownAmount = (amount: string, currency: string) =>
    new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 }).format(amount as `${number}`)
  const dollars = (amount: string) => shownAmount(amount, 'USD')
  const escaped = (text: string) => text.replaceAll(/[$.]/g, '\\$&')
  /** The sum of a column of the list as CSV, on the page under its name. */
  const seesSumOf = async (column: string, name: string) => {
    const [head = '', ...rows] = linesOf(await download('CSV'))
    const places = head.split(',')
    const cell = (row: string, of: string) => row.split(',').at(places.indexOf(of) - places.length) ?? ''
    const sum = shownAmount(
      sumOf(rows.map((row) => cell(row, column) || '0')),
      cell(rows[0] ?? '', 'currency') || 'USD',
    )
    expect(await main()).toMatch(new RegExp(`${name}: ${escaped(sum)}|^(?:Of )?${escaped(sum)} `, 'm'))
  }
  const listed = async () => JSON.parse(await read('JSON')) as Told
  const takesTransactions = async () => {
    await start()
    await click(en.nav.data)
    clicks++
    const row = page.getByRole('row', { name: 'transactions CSV' })
    const address = await row.getByRole('link', { name: 'CSV' }).getAttribute('href')
    const rows = await (await fetch(base + address)).text()
    const { files } = (await (await fetch(`${base}/feeds/manifest.json`)).json()) as {
      files: { path: string; records: number }[]
    }
    const told = files.find(({ path: one }) => one === '/data/transactions.csv')?.records ?? 0
    expect(told).toBeGreaterThan(0)
    // A cell may have line breaks.
    expect(rows.match(/\r\n/g)?.length).toBe(told + 1)
  }
  const seesCompleteness = async () => {
    await start()
    await click(en.nav.quality)
    const text = await main()
    for (const title of [en.quality.comprehensiveness, en.quality.forward, en.quality.timeliness])
      expect(text).toContain(title)
  }

  it('are those of the documents: at least 25, each a test', async () => {
    const source = await readFile('test/integration/portal/visitors.test.ts', 'utf8')
    const written = [...source.matchAll(/\n {6}?it\('([^']+)'|\n {4}it\('([^']+)'/g)].map(
      ([, one, other]) => one ?? other,
    )
    expect(tasks.length).toBeGreaterThanOrEqual(25)
    expect([...new Set(tasks.map(({ task }) => task))].sort()).toEqual([...new Set(written)].sort())
  })

  describe.each(stores)('of %s', (_, name, siteOf) => {
    let projects: Told['projects']

    beforeAll(async () => {
      if (!siteOf) return
      base = await siteOf()
      projects = ((await (await fetch(`${base}/projects.json`)).json()) as Told).projects
    })

    it.skipIf(!siteOf)('finds a project by words of its title', async () => {
      const [{ title } = { title: '' }] = projects
      await open(title)
      expect(await page.locator('h1').innerText()).toBe(title)
    })

    it.skipIf(!siteOf)('sees the sum of a list, which is that of its rows', async () => {
      await start('/en/projects')
      const [
        {
          countries: [code = ''],
        } = { countries: [] },
      ] = projects.filter(({ money }) => Object.values(money).some((one) => one.in !== '0'))
      await choose({ Country: new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? '' })
      await seesSumOf('received', en.money.in)
    })

    it.skipIf(!siteOf)('orders projects by money', async () => {
      await choose({ Order: en.money.in })
      const received = (await listed()).projects.map(({ money }) => Number(Object.values(money)[0]?.in ?? 0))
      expect(received.length).toBeGreaterThan(1)
      expect(received).toEqual([...received].sort((a, b) => b - a))
    })

    it.skipIf(!siteOf)('takes all transactions, whole', async () => await takesTransactions())

    it.skipIf(!siteOf)('takes one project as XML and JSON of the standard', async () => {
      await open(projects.at(-1)?.title ?? '')
      expect(await download('XML (IATI 2.03)')).toContain('<iati-activity ')
      expect(JSON.parse(await download('JSON'))).toMatchObject({})
    })

    it.skipIf(!siteOf)('sees how complete the records are', async () => await seesCompleteness())

    it.skipIf(!siteOf)('loads little on a phone: 40 kB in 4 requests', async () => {
      const context = await browser.newContext({ viewport: { width: 360, height: 760 } })
      for (const address of ['/', '/projects', `/projects/${projects[0]?.project}`, '/organisations', '/data']) {
        const phone = await context.newPage()
        const devtools = await context.newCDPSession(phone)
        await devtools.send('Network.enable')
        const loaded: number[] = []
        devtools.on('Network.loadingFinished', ({ encodedDataLength }) => loaded.push(encodedDataLength))
        await phone.goto(base + address, { waitUntil: 'networkidle' })
        const bytes = loaded.reduce((sum, one) => sum + one, 0)
        expect([name, address, bytes <= 40_000, loaded.length <= 4]).toEqual([name, address, true, true])
        await phone.close()
      }
      await context.close()
    })
  })

  describe('of the demo', () => {
    /** A project with reports, pictures and a partner. */
    let told: Told['projects'][number]

    beforeAll(async () => {
      const site = await demoSite()
      base = site.base
      const index = JSON.parse(await site.publisher.read('/iati/index.json'))
      told = index.files[0].activities.find(
        (one: { picture?: string; partner?: unknown }) => one.picture && one.partner,
      )
    })

    const openProject = async () => await open(told.title)

    describe('a donor', () => {
      it('finds a project by words of its title', async () => {
        await openProject()
        expect(await page.locator('h1').innerText()).toBe(told.title)
      })

      it('sees what was received of what is needed', async () => {
        await openProject()
        const story = (await page.locator('aside .money').innerText()).replaceAll(/\s+/g, ' ')
        expect(story).toMatch(new RegExp(`^Of \\$[\\d,.]+ received.*${en.money.budget}: \\$[\\d,.]+`))
      })

      it('reads what happened, the newest month first', async () => {
        await openProject()
        const months = await page.locator('ol.story > li > h3').allInnerTexts()
        const times = months.map((text) => Date.parse(`1 ${text}`))
        expect(times.length).toBeGreaterThan(1)
        expect(times).toEqual([...times].sort((a, b) => b - a))
      })

      it('opens a report from what happened', async () => {
        await openProject()
        await press(page.getByText(/^Earlier: /))
        await press(page.locator('ol.story a[href^="#report-"]'))
        const [, anchor = ''] = /#(report-\d+)$/.exec(page.url()) ?? []
        expect(await page.locator(`#${anchor} h3`).innerText()).not.toBe('')
      })

      it('sees pictures of the work', async () => {
        await openProject()
        const pictures = page.locator('article.report img')
        await pictures.first().scrollIntoViewIfNeeded()
        await expect
          .poll(async () =>
            Number(await pictures.first().evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth)),
          )
          .toBeGreaterThan(0)
      })

      it('learns where the money went: to partners, and what was kept', async () => {
        await openProject()
        const text = await main()
        expect(text).toContain(en.money.partners)
        expect(text).toContain(en.money.expenditure)
      })

      it('comes to the page on which to give', async () => {
        await page.route('https://give.example/**', async (route) => await route.fulfill({ body: 'Give' }))
        await openProject()
        await press(page.locator('a.give'))
        expect(page.url()).toBe(`https://give.example/?project=${told.project}`)
      })

      it('learns who does the work, and what else they do', async () => {
        await openProject()
        await click(told.partner?.name ?? '')
        expect(await page.locator('h1').innerText()).toBe(told.partner?.name)
        expect(await page.locator('.card').count()).toBeGreaterThan(0)
      })

      it('reads the pages in another language', async () => {
        await start()
        await press(page.locator('details.languages summary'))
        await click('Français')
        await expect.poll(async () => await page.locator('html').getAttribute('lang')).toBe('fr')
        await click('Projets')
        expect(page.url()).toMatch(/\/fr\/projects$/)
      })

      it('finds where to get the reports by mail', async () => {
        await openProject()
        expect(await page.getByLabel(en.subscription.email).isVisible()).toBe(true)
        expect(await page.getByLabel(en.subscription.trap).isVisible()).toBe(false)
      })
    })

    describe('a journalist', () => {
      it('asks for all water projects in Kenya and what was paid to partners, as CSV', async () => {
        await choose({ Country: 'Kenya', Theme: 'Clean Water' })
        const [head = '', ...rows] = linesOf(await download('CSV'))
        const json = await listed()
        expect(head.split(',')).toContain('paid_to_partners')
        expect([rows.length, json.count > 0]).toEqual([json.count, true])
      })

      it('sees the sum of a list, which is that of its rows', async () => {
        await choose({ Country: 'Kenya' })
        await seesSumOf('received', en.money.in)
      })

      it('learns what partners in Kenya were paid in 2025, as CSV', async () => {
        await choose({ Country: 'Kenya', Year: '2025', [en.list.inYear]: en.money.partners })
        await seesSumOf('paid_to_partners', en.money.partners)
        const { rows } = (await (await fetch(`${base}/years.json?figure=paid`)).json()) as {
          rows: { code: string; sums: Record<string, string> }[]
        }
        const kenya = rows.find(({ code }) => code === 'KE')?.sums['2025'] ?? ''
        expect(await main()).toContain(`${en.money.partners}: ${dollars(kenya)}`)
      })

      it('takes a filter away', async () => {
        await choose({ Country: 'Kenya', Status: 'Closed' })
        const { count } = await listed()
        await press(page.locator('ul.chips a', { hasText: 'Closed' }))
        expect((await listed()).count).toBeGreaterThan(count)
        expect(await page.locator('ul.chips li').count()).toBe(1)
      })

      it('cites a list with its release and an address that leads to it again', async () => {
        await choose({ Country: 'Kenya' })
        const cited = await page.locator('cite').innerText()
        const [address = ''] = /http\S+$/.exec(cited) ?? []
        const { count } = await listed()
        await page.goto(address)
        expect([(await listed()).count, /Release \d{8}T\d{6}Z-\d+/.test(cited)]).toEqual([count, true])
      })

      it('orders projects by money', async () => {
        await choose({ Order: en.money.in })
        const received = (await listed()).projects.map(({ money }) => Number(money.USD?.in ?? 0))
        expect(received).toEqual([...received].sort((a, b) => b - a))
      })

      it('learns what the last release changed', async () => {
        await start()
        await click(en.nav.changes)
        await press(page.locator('tbody th a'))
        expect(await main()).toMatch(/\(second phase\)[\s\S]*title/)
      })

      it('finds where a figure comes from', async () => {
        await openProject()
        await click(en.project.why)
        expect(await main()).toMatch(/transaction\/value [\d.]+/)
      })

      it('learns what is not published, and why', async () => {
        await start()
        expect(await page.locator('#exclusions + ul li').count()).toBeGreaterThan(2)
      })

      it('finds a word in descriptions, and sees where it was found', async () => {
        await choose({ [en.home.find]: 'summary' })
        expect(await main()).toContain(en.list.foundInParts.text)
      })
    })

    describe('an analyst', () => {
      it('takes all transactions, whole', async () => await takesTransactions())

      it('takes the money of every month', async () => {
        await start()
        expect(linesOf(await download(`${en.home.byMonth} (CSV)`))[0]).toMatch(
          /^month,currency,received,paid_to_partners,expenditure/,
        )
      })

      it('takes the table of countries', async () => {
        await start()
        await click(/^Countries: /)
        const rows = linesOf(await download('CSV'))
        expect(rows.length - 1).toBe(await page.locator('tbody tr').count())
      })

      it('sorts a table by money as numbers', async () => {
        await start('/en/countries')
        const budget = page.getByRole('button', { name: `${en.money.budget} (USD)` })
        await press(budget)
        const values = await page
          .locator('tbody tr td:nth-child(3) data')
          .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))))
        expect(values).toEqual([...values].sort((a, b) => b - a))
      })

      it('keeps the rows of a long table that have a word', async () => {
        await start('/en/countries')
        await page.locator('label.filter input').first().fill('Kenya')
        expect(await page.locator('tbody tr:visible').count()).toBe(1)
      })

      it('takes one project as XML and JSON of the standard', async () => {
        await openProject()
        expect(await download('XML (IATI 2.03)')).toContain('<iati-activity ')
        expect(JSON.parse(await download('JSON'))).toMatchObject({})
      })

      it('takes the transactions of one project', async () => {
        await openProject()
        const rows = linesOf(await download(`${en.project.transactions} (CSV)`))
        expect(rows[0]).toBe('date,type,currency,amount,description,provider,receiver')
        expect(rows.length).toBeGreaterThan(1)
      })

      it('sees how complete the records are', async () => await seesCompleteness())

      it('sees the quality of each kept release', async () => {
        await start('/en/quality')
        const table = page.locator('table', { has: page.locator('caption', { hasText: en.quality.overTime }) })
        expect(await table.locator('tbody tr').count()).toBe(2)
      })

      it('learns under which terms, and how to read the files by a program', async () => {
        await start()
        await click(en.nav.developers)
        expect(await main()).toContain('curl ')
        expect(await download('/iati/activities.xml')).toContain('<iati-activities ')
      })
    })
  })
})
