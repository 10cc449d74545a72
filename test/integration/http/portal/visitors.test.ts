import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../../../src/http/portal/words/words.js'
import { browserProgram, launchBrowser } from '../../../support/portal/browser.js'
import { demoSite } from '../../../support/portal/portal-site.js'
import { sumOf } from '../../../support/release/recount.js'

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

/** The tasks of docs/reference/portal.md: each begins on the first page, and reaches what it asks for by what it sees there. */
describe.skipIf(!browserProgram)('visitors of the portal', () => {
  let browser: Browser
  let page: Page
  let base: string
  /** A project with reports, pictures and a partner. */
  let told: Told['projects'][number]

  beforeAll(async () => {
    const site = await demoSite()
    base = site.base
    const index = JSON.parse(await site.publisher.read('/iati/index.json'))
    told = index.files[0].activities.find((one: { picture?: string; partner?: unknown }) => one.picture && one.partner)
    browser = await launchBrowser()
    page = await browser.newPage()
  })

  afterAll(async () => await browser?.close())

  const start = async (address = '/en') => await page.goto(base + address)
  const click = async (name: string | RegExp) => await page.getByRole('link', { name, exact: true }).first().click()
  const main = async () => await page.locator('main').innerText()
  const openProject = async () => {
    await start()
    await page.locator('#q').fill(told.title)
    await page.getByRole('button', { name: en.list.show }).click()
    await click(told.title)
  }
  const download = async (name: string | RegExp) => {
    const address = await page.getByRole('link', { name, exact: true }).first().getAttribute('href')
    const answer = await fetch(new URL(address ?? '', page.url()))
    expect(answer.status).toBe(200)
    return await answer.text()
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
    await page.getByRole('button', { name: en.list.show }).click()
  }
  const dollars = (amount: string) =>
    new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 }).format(
      amount as `${number}`,
    )
  /** The sum of a column of the list as CSV, on the page under its name. */
  const seesSumOf = async (column: string, name: string) => {
    const [head = '', ...rows] = linesOf(await download('CSV'))
    const at = head.split(',').indexOf(column) - head.split(',').length
    const sum = sumOf(rows.map((row) => row.split(',').at(at) ?? ''))
    expect(await main()).toMatch(new RegExp(`${name}: ${escaped(dollars(sum))}|^Of ${escaped(dollars(sum))} `, 'm'))
  }
  const escaped = (text: string) => text.replaceAll(/[$.]/g, '\\$&')
  const listed = async () => JSON.parse(await download('JSON')) as Told

  it('are those of the documents', async () => {
    const tasks = Object.fromEntries(
      [
        ...(await readFile('docs/reference/portal.md', 'utf8')).matchAll(/^\*\*(An? .+)\*\*\n\n((?:\d+\. .+\n)+)/gm),
      ].map(([, visitor = '', lines = '']) => [
        visitor.toLowerCase(),
        lines
          .trimEnd()
          .split('\n')
          .map((line) => line.replace(/^\d+\. /, '')),
      ]),
    )
    const source = await readFile('test/integration/http/portal/visitors.test.ts', 'utf8')
    for (const visitor of ['a donor', 'a journalist', 'an analyst']) {
      const [, part = ''] = source.split(`describe('${visitor}'`)
      const names = [...(part.split('\n  describe(')[0] ?? '').matchAll(/\n {4}it\('([^']+)'/g)].map(([, name]) => name)
      expect([visitor, tasks[visitor]]).toEqual([visitor, names])
      expect(names).toHaveLength(10)
    }
  })

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
      await page.getByText(/^Earlier months/).click()
      await page.locator('ol.story a[href^="#report-"]').first().click()
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
      await openProject()
      await page.locator('a.give').click()
      expect(page.url()).toMatch(/\/demo\/projects\//)
    })

    it('learns who does the work, and what else they do', async () => {
      await openProject()
      await click(told.partner?.name ?? '')
      expect(await page.locator('h1').innerText()).toBe(told.partner?.name)
      expect(await page.locator('.card').count()).toBeGreaterThan(0)
    })

    it('reads the pages in another language', async () => {
      await start()
      await page.locator('details.languages summary').click()
      await click('Français')
      await expect.poll(async () => await page.locator('html').getAttribute('lang')).toBe('fr')
      await page.getByRole('link', { name: 'Projets', exact: true }).first().click()
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
      await page.locator('ul.chips a', { hasText: 'Closed' }).click()
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
      await page.locator('tbody th a').first().click()
      expect(await main()).toMatch(/\(second phase\)[\s\S]*title/)
    })

    it('finds where a figure comes from', async () => {
      await openProject()
      await page.getByText(en.project.why).click()
      expect(await page.locator('details[open] dl.facts').innerText()).toContain(
        'transaction[transaction-type/@code="3"]/value',
      )
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
    it('takes all transactions, whole', async () => {
      await start()
      await click(en.nav.data)
      const address = await page
        .getByRole('row', { name: 'transactions CSV' })
        .getByRole('link', { name: 'CSV' })
        .getAttribute('href')
      const rows = linesOf(await (await fetch(base + address)).text())
      const { files } = (await (await fetch(`${base}/feeds/manifest.json`)).json()) as {
        files: { path: string; records: number }[]
      }
      expect(rows.length - 1).toBe(files.find(({ path }) => path === '/data/transactions.csv')?.records)
    })

    it('takes the money of every month', async () => {
      await start()
      expect(linesOf(await download('CSV'))[0]).toMatch(/^month,currency,received,paid_to_partners,expenditure/)
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
      await budget.click()
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
      const rows = linesOf(await download(en.project.csv))
      expect(rows[0]).toBe('date,type,currency,amount,description,provider,receiver')
      expect(rows.length).toBeGreaterThan(1)
    })

    it('sees how complete the records are', async () => {
      await start()
      await click(en.nav.quality)
      const text = await main()
      for (const title of [en.quality.comprehensiveness, en.quality.forward, en.quality.timeliness])
        expect(text).toContain(title)
    })

    it('sees the quality of each kept release', async () => {
      await start('/en/quality')
      const table = page.locator('table', { has: page.locator('caption', { hasText: en.quality.overTimeNote }) })
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
