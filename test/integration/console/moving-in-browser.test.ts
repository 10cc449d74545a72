import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findSource } from '../../../src/catalogue/sql/import-sources.js'
import { listRuns } from '../../../src/work/sql/runs.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { styles, workbookOf } from '../../support/catalogue/workbooks.js'
import { type Installation, newInstallation } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { axeFindings, browserProgram, launchBrowser } from '../../support/portal/browser.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

if (!browserProgram) console.log('left out: an office moves in by a browser (install Debian’s package chromium)')

const exports = path.resolve(import.meta.dirname, '../../support/catalogue/exports')
const asTheyAre = [
  'organisations-civicrm',
  'projects-excel-de',
  'gifts-givewp-de',
  'gifts-donorbox',
  'reports-airtable',
]

/** The gifts that a program for spreadsheets has, as its own file. */
async function workbookOfGifts(file: string): Promise<void> {
  const text = (await readFile(path.join(exports, 'gifts-excel-2026.csv'), 'utf8')).replace('\uFEFF', '')
  const [head = [], ...rows] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(';'))
  const cells = rows.map(([project = '', day = '', amount = '', ...others]) => [
    project || undefined,
    day === '' ? undefined : { number: Number(day), style: styles.day },
    { number: Number(amount.replaceAll('.', '').replace(',', '.')), style: styles.euros },
    ...others.map((one) => one || undefined),
  ])
  await writeFile(file, workbookOf([{ name: 'Spenden', rows: [head, ...cells] }]))
}

describe.skipIf(!browserProgram)('an office without a terminal', () => {
  let database: TestDatabase
  let installation: Installation
  let one: Console
  let browser: Browser
  let page: Page
  let files: readonly string[]
  let environment: Record<string, string>

  beforeAll(async () => {
    database = await testDatabase()
    environment = {
      ...{ DATABASE_URL: database.url, DEFAULT_CURRENCY: 'EUR' },
      ...{ REPORTING_ORG_REF: 'DE-CR-HRB10000', REPORTING_ORG_NAME: 'Office' },
    }
    installation = await newInstallation(environment)
    environment.GIVING_DATA_DIR = installation.dataDir
    const folder = await temporaryFolder()
    await mkdir(folder, { recursive: true })
    const workbook = path.join(folder, 'Spenden 2026.xlsx')
    await workbookOfGifts(workbook)
    files = [...asTheyAre.map((name) => path.join(exports, `${name}.csv`)), workbook]
    one = await openConsole({ ...environment, OPS_TOKEN: 'ana+import:a-long-token-of-ana' })
    browser = await launchBrowser()
    const httpCredentials = { username: 'ana', password: 'a-long-token-of-ana' }
    page = await (await browser.newContext({ httpCredentials, bypassCSP: true })).newPage()
  })
  afterAll(async () => {
    await browser?.close()
    await one?.close()
    await installation?.remove()
  })

  it('moves in, has a file read every night, takes one back and publishes: in few screens, choices and typed fields', async () => {
    const did = { screens: [] as string[], choices: 0, typed: 0 }
    const findings: string[] = []
    /** A screen that the person sees; it has no finding of axe. */
    const see = async () => {
      const title = (await page.getByRole('heading', { level: 1 }).textContent()) ?? ''
      did.screens.push(title)
      findings.push(...(await axeFindings(page)).map((found) => `${title}: ${found}`))
    }
    /** Presses a button or link by the keyboard alone. */
    const press = async (what: Locator) => {
      did.choices++
      await what.focus()
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
      await see()
    }
    /** The money of all files, as it was counted by hand: of GiveWP 1801.75, of Donorbox 4396.20, of the workbook 2673.99. */
    const given = async () => {
      const sum = 'select sum(amount)::numeric(12, 2)::text as given from donation_month'
      return (await database.store.db.query<{ given: string }>(sum)).rows[0]?.given
    }
    const button = (name: string | RegExp) => page.getByRole('button', { name })
    const link = (name: string | RegExp) => page.getByRole('link', { name })
    const choose = async (what: Locator, value: string) => {
      did.choices++
      await what.selectOption(value)
    }

    await page.goto(`${one.base}/imports`)
    await see()
    did.choices++
    await page.getByLabel('Files with projects').setInputFiles([...files])
    await press(button('Look at these files'))
    const names: string[] = []
    for (let file = 0; file < files.length; file++) {
      names.push((await page.getByRole('heading', { level: 1 }).textContent()) ?? '')
      const name = names.at(-1)
      if (name === 'gifts-donorbox.csv') {
        for (const box of await page.getByRole('group', { name: 'Rows that count' }).getByRole('checkbox').all()) {
          did.choices++
          await box.check()
        }
        await press(button('See what these choices do'))
      }
      if (name === 'projects-excel-de.csv') {
        const paused = page.getByLabel('Status: pausiert')
        if ((await paused.count()) > 0 && (await paused.inputValue()) === '') {
          await choose(paused, 'active')
          await press(button('See what these choices do'))
        }
      }
      if ((await button('Import it').count()) === 0)
        throw new Error(`${name}: ${await page.locator('main').innerText()}`)
      await press(button('Import it'))
    }
    expect(names.slice(0, 3)).toEqual(['organisations-civicrm.csv', 'projects-excel-de.csv', 'reports-airtable.csv'])
    const last = (await page.getByRole('heading', { level: 1 }).textContent()) ?? ''
    expect(last).toBe('Import 6')

    await press(link('Read this every night'))
    did.typed++
    await page.getByLabel('From an address').fill('gifts')
    await press(button('Read it from there'))
    const source = await findSource(database.store.db, 'gifts')
    expect(source).toMatchObject({ from: path.join(installation.dataDir, 'inbox/gifts'), schedule: '30 1 * * *' })
    expect(await given()).toBe('8871.94')
    await page.goto(`${one.base}/imports/6`)
    await press(link('Take it back'))
    await press(button('Take import 6 back'))
    expect(await given()).toBe('6197.95')

    await page.goto(`${one.base}/publish`)
    await see()
    did.choices++
    await button('Publish now').press('Enter')
    await installation.serve('worker')
    const { db } = database.store
    await vi.waitFor(
      async () => expect((await listRuns(db, 1))[0]).toMatchObject({ state: 'published', trigger: 'manual' }),
      { timeout: 60_000, interval: 500 },
    )
    await page.goto(`${one.base}/releases`)
    await see()

    const published = path.join(installation.dataDir, 'feeds/current/iati/activities.xml')
    const { code, stdout } = await runCommandLine(['validate', published], environment)
    expect(code, stdout).toBe(0)
    console.log(
      `an office moves in: ${did.screens.length} screens (${new Set(did.screens).size} different), ${did.choices} choices, ${did.typed} typed fields`,
    )
    console.log(did.screens.join(' | '))
    expect(findings).toEqual([])
    expect(did.choices).toBeLessThanOrEqual(40)
    expect(did.typed).toBeLessThanOrEqual(3)
  })
})
