import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { adoptSchedule, findSchedule } from '../../../../src/work/sql/schedules.js'
import { axeFindings, browserProgram, launchBrowser, lookAt } from '../../../support/browser.js'
import { insertProjects, loseProjects } from '../../../support/catalogue.js'
import { type Console, openConsole } from '../../../support/console.js'
import { type TestDatabase, testDatabase } from '../../../support/database.js'
import { testPublisher } from '../../../support/publishing.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

if (!browserProgram) console.log('left out: the console in a browser (install Debian’s package chromium)')

describe.skipIf(!browserProgram)('the console in a browser', () => {
  let database: TestDatabase
  let browser: Browser
  let one: Console
  let dataDir: string
  let pages: readonly string[]

  beforeAll(async () => {
    database = await testDatabase()
    dataDir = await temporaryFolder()
    const publisher = await testPublisher(database.store, { feedsDir: path.join(dataDir, 'feeds') })
    const { db } = database.store
    await insertProjects(db, [{ id: 1 }, { id: 2 }, { id: 3 }])
    const { releaseId: first } = await publisher.publish()
    await db.query(`update project set title = 'Other wells' where id = 1`)
    const { releaseId: second } = await publisher.publish()
    await loseProjects(database.store, [3])
    const { releaseId: held } = await publisher.publish()
    await adoptSchedule(db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, new Date())
    const difference = `/releases/difference?from=${first}&to=${second}`
    pages = [
      ...['/', '/releases', difference, '/runs', '/runs/3', '/held', '/queues', '/audit', '/accounts', '/publish'],
      ...[`/releases/${held}/approve`, `/releases/${first}/rollback`],
    ]
    one = await openConsole({ DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir })
    browser = await launchBrowser()
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    await one?.close()
  })

  it('has no finding of axe, no message, no other host and no sideways scroll, in any scheme and size', async () => {
    const ways = (['light', 'dark'] as const).flatMap((scheme) =>
      (['phone', 'desktop'] as const).map((size) => ({ scheme, size })),
    )
    const problems: string[] = []
    // Each page in one way, all ways in turn.
    for (const [number, address] of pages.entries()) {
      const way = ways[number % ways.length] ?? { scheme: 'light', size: 'phone' }
      const see = async (page: Page) => {
        const found = await axeFindings(page)
        problems.push(...found.map((finding) => `${address} ${way.scheme} ${way.size}: ${finding}`))
      }
      problems.push(...(await lookAt(browser, one.base, address, way, see)))
    }
    expect(problems).toEqual([])
  }, 120_000)

  it('pauses a schedule by its buttons, under its policy and without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(one.base)
    await page.getByRole('link', { name: 'Pause publish' }).click()
    await page.getByLabel('Your name').fill('Ana')
    await page.getByRole('button', { name: 'Pause the schedule publish' }).click()
    await page.getByRole('link', { name: 'Resume publish' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    expect((await findSchedule(database.store.db, 'publish'))?.pausedAt).toBeInstanceOf(Date)
    await context.close()
  })

  it('signs out on every page: the browser forgets name and token', async () => {
    const guarded = await openConsole({
      ...{ DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, OPS_TOKEN: 'ana:a-long-token-of-ana' },
    })
    onTestFinished(guarded.close)
    const page = await browser.newPage()
    const statusAfter = async (act: () => Promise<unknown>) => {
      // A page that is refused is no page for a browser that can ask nobody for a name.
      const answered = page.waitForResponse((one) => one.request().isNavigationRequest())
      const [answer] = await Promise.all([answered, act().catch(() => undefined)])
      return answer.status()
    }
    await page.goto(guarded.base.replace('//', '//ana:a-long-token-of-ana@'))
    await page.goto(`${guarded.base}/audit`)
    expect(await statusAfter(() => page.getByRole('link', { name: 'Sign out' }).click())).toBe(401)
    expect(await statusAfter(() => page.goto(`${guarded.base}/audit`))).toBe(401)
    await page.close()
  })

  it('shows the queues in Bull Board, whose scripts and styles its policy allows, and asks no other host', async () => {
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('request', (request) => {
      if (!request.url().startsWith(`${one.base}/`)) problems.push(`another host: ${request.url()}`)
    })
    page.on('response', (answer) => {
      if (answer.status() >= 400) problems.push(`${answer.status()}: ${answer.url()}`)
    })
    await page.goto(`${one.base}/board/`)
    await page.getByText('settlement').first().waitFor()
    // A page below it, asked for by its own address.
    await page.goto(`${one.base}/board/queue/settlement`)
    await page.getByText('settlement').first().waitFor()
    expect(problems).toEqual([])
    await page.close()
  })
})
