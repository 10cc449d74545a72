import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../../src/http/pages/words/words.js'
import { openConsole } from '../../support/api/console.js'
import { axeFindings, browserProgram, launchBrowser, lookAt, type Scheme, sizes } from '../../support/portal/browser.js'
import { demoSite, officeSite } from '../../support/portal/portal-site.js'
import { mailSubscribers } from '../../support/release/mail-subscribers.js'
import { readMail, startMailServer, type TakenMail } from '../../support/servers/mail-server.js'

const { ar, fr } = languages

if (!browserProgram) console.log('left out: the portal in a browser (install Debian’s package chromium)')

// `npm run docs:portal` writes the screenshots of docs/portal.
const screenshots = process.env.PORTAL_SCREENSHOTS

type Way = readonly [language: '' | `/${string}`, scheme: Scheme, size: keyof typeof sizes]

const allWays = (['light', 'dark'] as const).flatMap((scheme) =>
  (['phone', 'desktop'] as const).flatMap((size) =>
    (['', '/fr', '/es', '/pt', '/de', '/ar'] as const).map((language): Way => [language, scheme, size]),
  ),
)

// One page of each form in one way, all ways in turn; the campaign (PORTAL_WAYS=all) looks at every page in every way, and
// PORTAL_WAYS=2/6 at every page in the second of six parts of the ways.
const [part, parts] = (process.env.PORTAL_WAYS ?? '').split('/').map(Number)
const isWhole = process.env.PORTAL_WAYS === 'all' || parts !== undefined
const waysOf = (page: number) => {
  if (!isWhole) return allWays.slice(page % allWays.length).slice(0, 1)
  return allWays.filter((_, at) => parts === undefined || at % parts === Number(part) - 1)
}
const otherForms = ['found', 'sector', 'theme']

describe.skipIf(!browserProgram)('the portal in a browser', () => {
  let browser: Browser
  let base: string
  let site: Awaited<ReturnType<typeof demoSite>>
  let pages: Readonly<Record<string, string>>

  beforeAll(async () => {
    site = await demoSite()
    base = site.base
    const { release, previous } = await site.publisher.manifest()
    const { files } = JSON.parse(await site.publisher.read('/iati/index.json'))
    const reported = files[0].activities.find(
      (one: { picture?: string; partner?: unknown }) => one.picture && one.partner,
    )
    pages = {
      home: '/',
      projects: '/projects',
      found: '/projects?q=water&status=2',
      project: `/projects/${reported.project}`,
      country: `/countries/${reported.countries[0]}`,
      sector: `/sectors/${reported.sectors[0]}`,
      theme: `/themes/${Object.keys(reported.themes)[0]}`,
      years: '/years?by=sector',
      data: '/data',
      quality: '/quality',
      changes: '/changes',
      change: `/changes/${previous}..${release}`,
      status: '/status',
      developers: '/developers',
    }
    browser = await launchBrowser()
    const home = await browser.newPage()
    await home.goto(`${base}${pages.project}`)
    const partner = await home.locator('dl.facts a[href*="/organisations/"]').first().getAttribute('href')
    pages = { ...pages, organisation: partner ?? '' }
    await home.close()
  })

  afterAll(async () => await browser?.close())

  const look = (address: string, scheme: Scheme, size: keyof typeof sizes, see: (page: Page) => Promise<void>) =>
    lookAt(browser, base, address, { scheme, size }, see)

  it('has no finding of axe, no message, no other host and no sideways scroll, in any language, scheme and size', async () => {
    const problems: string[] = []
    let looks = 0
    const looked = Object.entries(pages).flatMap(([form, at]) => (isWhole || !otherForms.includes(form) ? at : []))
    for (const [number, address] of looked.entries()) {
      for (const [language, scheme, size] of waysOf(number)) {
        looks++
        const whole = language === '' ? address : language + (address === '/' ? '' : address)
        problems.push(
          ...(await look(whole, scheme, size, async (page) => {
            const found = await axeFindings(page)
            problems.push(...found.map((one) => `${whole} ${scheme} ${size}: ${one}`))
          })),
        )
      }
    }
    if (isWhole) console.log(`${looks} looks at pages`)
    expect(problems).toEqual([])
    // A guard against a hang: all ways take an hour on a machine that does other work.
  }, 7_200_000)

  it('is reached by the keyboard alone, and needs no script and no policy that allows one', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    for (const address of Object.values(pages)) await page.goto(`${base}${address}`)
    expect(problems).toEqual([])
    await page.goto(base)
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    await page.goto(`${base}/projects`)
    await page.locator('#q').focus()
    await page.keyboard.type('school')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/projects?q=school**')
    await context.close()
    const whole = await browser.newPage()
    await whole.goto(`${base}/projects`)
    // What is folded away is reached when it is open; circles of a map have their links beside it.
    const controls = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')].filter((one) => one.checkVisibility() && one.tabIndex >= 0)`
    const wanted = Number(await whole.evaluate(`${controls}.length`))
    const reached = new Set<number>()
    for (let presses = 0; presses < wanted + 5; presses++) {
      await whole.keyboard.press('Tab')
      reached.add(Number(await whole.evaluate(`${controls}.indexOf(document.activeElement)`)))
    }
    reached.delete(-1)
    expect(reached.size).toBe(wanted)
    await whole.close()
  })

  it('sorts and filters tables by its script, under the policy of its pages, and has them without it', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`${base}/fr/quality`)
    const coverage = page.locator('table', { has: page.locator('caption', { hasText: fr.quality.coverageNote }) })
    const counts = async () => (await coverage.locator('tbody tr td:nth-child(2)').allTextContents()).map(Number)
    const before = await counts()
    expect(before.length).toBeGreaterThan(20)
    const head = coverage.getByRole('button', { name: fr.quality.activities })
    const descending = [...before].sort((a, b) => b - a)
    await head.press('Enter')
    expect(await counts()).toEqual(descending)
    expect(await coverage.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending')
    await head.press('Enter')
    expect(await counts()).toEqual(descending.reverse())
    await coverage.locator('xpath=../preceding-sibling::label[1]/input').fill('budget')
    expect(await coverage.locator('tbody tr:visible th').allTextContents()).toEqual(['budget'])
    await page.goto(`${base}${pages.project}`)
    await page.getByText('Transactions', { exact: true }).first().click()
    const listed = page.locator('table', { has: page.locator('caption', { hasText: 'Transactions' }) })
    const amounts = async () =>
      (await listed.locator('data').evaluateAll((all) => all.map((one) => one.getAttribute('value')))).map(Number)
    await listed.getByRole('button', { name: 'Amount' }).click()
    expect(await amounts()).toEqual((await amounts()).sort((a, b) => b - a))
    expect(new Set(await amounts()).size).toBeGreaterThan(2)
    expect(problems).toEqual([])
    await context.close()
    const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
    await plain.goto(`${base}/quality`)
    expect(await plain.locator('th button, label.filter').count()).toBe(0)
    expect(await plain.locator('table').count()).toBeGreaterThan(5)
    await plain.context().close()
  })

  it('takes a reader’s address, confirms and ends it by buttons, without a finding of axe on the way', async () => {
    const server = await startMailServer()
    const page = await browser.newPage()
    const words = ar.subscription
    await page.goto(`${base}/ar${pages.project}`)
    // The trap of programs, and whatever else a page hides.
    const trap = page.locator('[hidden]')
    expect(await trap.allTextContents()).toEqual([words.trap])
    expect(await trap.isVisible()).toBe(false)
    await page.getByLabel(words.email).fill('reader@example.org')
    await page.getByRole('button', { name: words.ask }).click()
    const says = async (title: string) => {
      expect(await page.locator('h1').textContent()).toBe(title)
      expect(await axeFindings(page)).toEqual([])
    }
    await says(words.asked)
    const { deps, feedsDir } = site.publisher
    await mailSubscribers({ store: deps.store, feedsDir, smtpUrl: server.url }, { baseUrl: base })
    const { text } = readMail(server.taken[0] as TakenMail)
    await page.goto(/http\S+\/subscriptions\/\w+/.exec(text)?.[0] ?? '')
    await says(words.confirm)
    await page.getByRole('button', { name: words.yes }).click()
    await says(words.active)
    await page.getByRole('button', { name: words.end, exact: true }).click()
    await says(words.ended)
    await page.close()
  })

  it('answers a journalist in two clicks: all water projects in Kenya, what was paid to partners, as CSV', async () => {
    const page = await browser.newPage()
    await page.goto(`${base}/en/projects`)
    await page.getByLabel('Country', { exact: true }).selectOption({ label: 'Kenya' })
    await page.getByLabel('Theme', { exact: true }).selectOption('water')
    await page.getByRole('button', { name: 'Show' }).click()
    const [answer] = await Promise.all([
      page.waitForResponse(/\/projects\.csv/),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    const lines = (await (await fetch(answer.url())).text()).trimEnd().split('\r\n')
    expect(lines[0]?.split(',')).toContain('paid_to_partners')
    const json = (await (await fetch(answer.url().replace('.csv', '.json'))).json()) as {
      count: number
      projects: { countries: string[]; themes: Record<string, string> }[]
    }
    expect(lines.length - 1).toBe(json.count)
    expect(json.count).toBeGreaterThan(0)
    for (const { countries, themes } of json.projects) {
      expect([countries, Object.keys(themes)]).toEqual([
        expect.arrayContaining(['KE']),
        expect.arrayContaining(['water']),
      ])
    }
    await page.close()
  })

  it('has texts of at least 11 px in charts, on a phone as at a desk', async () => {
    for (const [address, size] of [
      ...Object.keys(sizes).map((one) => ['/', one] as const),
      ...Object.keys(sizes).map((one) => [pages.project ?? '', one] as const),
    ]) {
      await look(address, 'light', size as keyof typeof sizes, async (page) => {
        const texts = (await page.evaluate(`[...document.querySelectorAll('svg.chart text')].flatMap((text) => {
          const svg = text.ownerSVGElement
          const { width } = svg.getBoundingClientRect()
          return width === 0 ? [] : (parseFloat(getComputedStyle(text).fontSize) * width) / svg.viewBox.baseVal.width
        })`)) as number[]
        expect(texts.length).toBeGreaterThan(3)
        expect([address, size, Math.min(...texts)]).toEqual([address, size, expect.toSatisfy((px: number) => px >= 11)])
      })
    }
  })

  it('has no column of a few letters on a phone', async () => {
    for (const address of ['/developers', '/quality', '/years', pages.project ?? '']) {
      await look(address, 'light', 'phone', async (page) => {
        const narrow = await page.evaluate(`{
          for (const one of document.querySelectorAll('details')) one.open = true
          const lines = (cell) => cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight)
          const cells = [...document.querySelectorAll('td, th')].filter((cell) => cell.getBoundingClientRect().width > 0)
          cells.filter((cell) => cell.getBoundingClientRect().width < 60 && lines(cell) > 3).map((cell) => cell.textContent)
        }`)
        expect([address, narrow]).toEqual([address, []])
      })
    }
  })

  it('has small pages: 60 KB each with its charts', async () => {
    // Arabic letters have two bytes.
    for (const address of [...Object.values(pages), '/ar']) {
      const page = await (await fetch(`${base}${address}`)).arrayBuffer()
      expect(page.byteLength, address).toBeLessThanOrEqual(60_000)
    }
  })

  if (screenshots) {
    it('is drawn for docs/portal', async () => {
      const folder = path.resolve('docs/portal')
      const office = await officeSite()
      const ops = await openConsole({ ...office.environment, OPS_TOKEN: 'ana+import:a-long-token-of-ana' })
      const list = (await (await fetch(`${office.base}/projects.json`)).json()) as { projects: { project: number }[] }
      const { projects } = list
      const httpCredentials = { username: 'ana', password: 'a-long-token-of-ana' }
      const desk = await (
        await browser.newContext({ viewport: { width: 1280, height: 820 }, httpCredentials })
      ).newPage()
      for (const [name, address] of [
        ['home', office.base],
        ['project', `${office.base}/projects/${projects.at(-1)?.project}`],
        ['console', ops.base],
      ] as const) {
        await desk.goto(address, { waitUntil: 'networkidle' })
        await desk.screenshot({ path: path.join(folder, `${name}.png`) })
      }
      await ops.close()
      const shots = [
        ['country', 'dark', 'desktop', '/fr'],
        ['quality', 'light', 'desktop', ''],
        ['change', 'dark', 'desktop', ''],
        ['projects', 'light', 'phone', ''],
      ] as const
      for (const [name, scheme, size, language] of shots) {
        await look(`${language}${pages[name]}`, scheme, size, async (page) => {
          await page.evaluate(`for (const image of document.querySelectorAll('img')) image.loading = 'eager'`)
          await page.waitForLoadState('networkidle')
          await page.screenshot({
            path: path.join(folder, `${name}.png`),
            clip: { x: 0, y: 0, ...sizes[size], height: size === 'phone' ? 1400 : 1900 },
            fullPage: true,
          })
        })
        expect((await readFile(path.join(folder, `${name}.png`))).length).toBeGreaterThan(1000)
      }
    })
  }
})
