import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'

/** The browser that pages are looked at with; undefined where there is none. */
export const browserProgram = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

/** Starts it; all pages of a context are drawn by one process. */
export function launchBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--process-per-site']
  return chromium.launch({ executablePath: browserProgram ?? '', args })
}

export const sizes = { phone: { width: 360, height: 760 }, desktop: { width: 1280, height: 900 } } as const

export type Scheme = 'light' | 'dark'

// One of a browser for all that it is shown: each page is a window, with processes of its own.
const windows = new WeakMap<Browser, Page>()

/** Opens a page in one scheme and size; `see` looks on. Returns messages, requests to other hosts, failures and overflow. */
export async function lookAt(
  browser: Browser,
  base: string,
  address: string,
  { scheme, size }: { readonly scheme: Scheme; readonly size: keyof typeof sizes },
  see: (page: Page) => Promise<void>,
): Promise<string[]> {
  const page = windows.get(browser) ?? (await browser.newPage({ bypassCSP: true }))
  windows.set(browser, page)
  await page.emulateMedia({ colorScheme: scheme })
  await page.setViewportSize(sizes[size])
  const problems: string[] = []
  page.on('console', (message) => problems.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`)) problems.push(`another host: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(`${base}${address}`, { waitUntil: 'load' })
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
  if (overflow > 0) problems.push(`scrolls sideways by ${overflow} px`)
  await see(page)
  page.removeAllListeners()
  return problems.map((problem) => `${address} ${scheme} ${size}: ${problem}`)
}

// Rules that axe leaves out by default: those of level AAA, and the size of targets.
const more = ['color-contrast-enhanced', 'identical-links-same-purpose', 'meta-refresh-no-exceptions', 'target-size']
const rules = Object.fromEntries(more.map((rule) => [rule, { enabled: true }]))

/** What axe finds on a page by all of its rules; what is right is not described, which takes most of its time. */
export async function axeFindings(page: Page): Promise<string[]> {
  // A page that was just begun has no style yet.
  await page.waitForLoadState()
  await page.evaluate(axe.source)
  const options = JSON.stringify({ resultTypes: ['violations'], rules })
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as axe.AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`)
}
