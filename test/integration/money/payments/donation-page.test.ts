import { type ChildProcess, spawn } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { createBraintreeGateway } from '../../../../src/extensions/braintree/braintree-gateway.js'
import { createStripeGateway } from '../../../../src/extensions/stripe/stripe-gateway.js'
import type { Gateway } from '../../../../src/money/gateways/gateway.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { usualLimits } from '../../../../src/money/payments.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import { projectRoot } from '../../../support/documents/how-to.js'
import { readProjectFile } from '../../../support/documents/markdown-table.js'
import { insertDonationTargets, quick, testPayments, usd } from '../../../support/money/donations.js'
import { braintreeScript, stripeScript } from '../../../support/money/processor-scripts.js'
import { axeFindings, browserProgram, launchBrowser } from '../../../support/portal/browser.js'
import { braintreeKeys, startBraintree } from '../../../support/servers/braintree-server.js'
import { freePort } from '../../../support/servers/free-port.js'
import type { ProcessorServer } from '../../../support/servers/processor-server.js'
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

if (!browserProgram) console.log('left out: the donation page in a browser (install Debian’s package chromium)')

const timeoutMs = 5_000
const fileOf = (name: string) => readProjectFile(`deploy/donation-page/${name}`)
const words = JSON.parse(fileOf('words.json')) as Record<string, Record<string, string>>

type Way = {
  readonly script: string
  readonly address: RegExp
  readonly start: () => Promise<ProcessorServer>
  readonly open: (processor: ProcessorServer) => Gateway
}

const ways: Readonly<Record<string, Way>> = {
  stripe: {
    ...{ script: stripeScript, address: /^https:\/\/js\.stripe\.com\//, start: startStripe },
    open: ({ address }) => createStripeGateway({ ...stripeKeys, timeoutMs, address }),
  },
  braintree: {
    ...{ script: braintreeScript, address: /^https:\/\/js\.braintreegateway\.com\//, start: startBraintree },
    open: ({ address }) =>
      createBraintreeGateway({
        ...{ environment: 'sandbox', ...braintreeKeys, currency: 'USD', timeoutMs, address },
        needsThreeDSecure: true,
      }),
  },
}

let browser: Browser
beforeAll(async () => {
  if (browserProgram) browser = await launchBrowser()
})
afterAll(async () => await browser?.close())

/** Serves both files of the page, for a service with an account that may donate. */
async function servePage(serviceUrl: string, apiKey: string): Promise<{ server: ChildProcess; base: string }> {
  const folder = await temporaryFolder()
  // The package is not installed here: its client is in the sources.
  const client = pathToFileURL(path.join(projectRoot, 'src/client/client.ts')).href
  await writeFile(path.join(folder, 'server.mjs'), fileOf('server.mjs').replace("'giving-iati/client'", `'${client}'`))
  for (const name of ['page.html', 'words.json']) await writeFile(path.join(folder, name), fileOf(name))
  await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'))
  const register = path.join(projectRoot, 'test/support/runner/register-typescript.mjs')
  const access = { GIVING_API_KEY: apiKey, GIVING_EMAIL: testUser.email, GIVING_PASSWORD: testUser.password }
  const port = String(await freePort())
  const server = spawn(process.execPath, ['--import', register, path.join(folder, 'server.mjs')], {
    env: { ...process.env, GIVING_URL: serviceUrl, ...access, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const base = await new Promise<string>((resolve, reject) => {
    server.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()))
    server.once('exit', (code) => reject(new Error(`server.mjs ended with ${code}`)))
  })
  return { server, base }
}

describe.skipIf(!browserProgram)('the donation page with the sandbox', () => {
  it('takes a gift in francs that the donor confirms on a page of the sandbox, with the project’s amounts', async () => {
    const { store } = await testDatabase()
    const clock = () => new Date()
    let serviceUrl = ''
    const gateway = createSandboxGateway({ store, clock, currency: usd, baseUrl: async () => serviceUrl })
    const limits = { USD: usualLimits, CHF: usualLimits }
    const payments = testPayments(store, { gateway, clock, limits, rehearsal: { refresh: async () => undefined } })
    const api = await testApi(store, { payments, clock })
    await insertDonationTargets(store.db, [2045])
    await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', clock())
    await store.db.query(`insert into donation_option (project_id, position, amount, description)
      values (2045, 1, 25, 'buys tools')`)
    serviceUrl = await listen(api.app)
    const { server, base } = await servePage(serviceUrl, api.apiKey)
    onTestFinished(() => void server.kill())
    const context = await browser.newContext({ bypassCSP: true })
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`${base}?project=2045`)
    await page.locator('input[name=way]').first().waitFor()
    expect(await page.getByLabel('Amount').inputValue()).toBe('25')
    for (const [language, said] of Object.entries(words)) {
      expect(Object.keys(said), language).toEqual(Object.keys(words.en ?? {}))
      await page.goto(`${base}?project=2045&lang=${language}`)
      await page.getByText(said.rehearsal ?? '').waitFor()
      await page.getByRole('button', { name: said.give ?? '' }).waitFor()
      expect(await page.locator('html').getAttribute('dir')).toBe(language === 'ar' ? 'rtl' : 'ltr')
      expect(await page.locator('body').innerText(), language).not.toContain('{1}')
      problems.push(...(await axeFindings(page)))
    }
    await page.goto(`${base}?project=2045&currency=chf&amounts=30,60`)
    await page.getByText('This is a rehearsal: no money moves.').waitFor()
    problems.push(...(await axeFindings(page)))
    expect(await page.getByLabel('Amount in CHF').inputValue()).toBe('30')
    await page.getByLabel('First name').fill('Lina')
    await page.getByLabel('Last name').fill('Okoro')
    await page.getByLabel('E-mail').fill('lina@example.org')
    await page.getByLabel('A card whose bank asks').check()
    await page.getByRole('button', { name: 'Give' }).click()
    const opened = context.waitForEvent('page')
    await page.getByRole('link', { name: 'Answer your bank' }).click()
    const bank = await opened
    await bank.getByText('Do you pay CHF 30.00?').waitFor()
    problems.push(...(await axeFindings(page)))
    await bank.getByRole('button', { name: 'Confirm' }).click()
    await page.locator('#outcome', { hasText: /receipt comes by mail/ }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })
})

describe.skipIf(!browserProgram).each(Object.entries(ways))('the donation page with %s', (name, way) => {
  let processor: ProcessorServer
  let server: ChildProcess
  let store: Awaited<ReturnType<typeof testDatabase>>['store']
  let base: string
  let serviceUrl: string

  beforeAll(async () => {
    store = (await testDatabase()).store
    processor = await way.start()
    const payments = testPayments(store, {
      ...{ gateway: quick(way.open(processor)), timeoutMs, clock: () => new Date() },
    })
    const api = await testApi(store, { payments, clock: () => new Date() })
    await insertDonationTargets(store.db, [2045])
    await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', new Date())
    serviceUrl = await listen(api.app)
    ;({ server, base } = await servePage(serviceUrl, api.apiKey))
  })

  afterAll(async () => {
    server?.kill()
    await processor?.close()
  })

  /** Opens the page, and fills it with the keyboard alone up to the way to pay. */
  const open = async (problems: string[], { amount = '40', monthly = false } = {}): Promise<Page> => {
    const page = await browser.newPage({ bypassCSP: true })
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    await page.route(way.address, (route) => route.fulfill({ contentType: 'text/javascript', body: way.script }))
    // What the service names as its own address.
    await page.route(/^https:\/\/giving\.example\//, async (route) => {
      const url = serviceUrl + new URL(route.request().url()).pathname
      await route.fulfill({ response: await route.fetch({ url }) })
    })
    await page.exposeFunction('tellProcessor', (secret: string, yes: boolean) => {
      const charge = processor.ledger.charges.find(({ id }) => secret.startsWith(`${id}_`))
      if (charge) processor.ledger.decide(charge, yes ? 'paid' : 'declined')
    })
    await page.goto(`${base}?project=2045&currency=USD&amounts=40,100`)
    await page.getByRole('heading', { name: /^Give to ./ }).waitFor()
    await page.locator('input[name=way]').first().waitFor()
    for (const value of ['Xanthippe', 'Quillfeather', 'xanthippe@example.org', amount]) {
      await page.keyboard.press('Tab')
      await page.keyboard.press('Control+A')
      await page.keyboard.type(value)
    }
    await page.keyboard.press('Tab')
    if (monthly) await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    return page
  }
  const choose = async (page: Page, number: number) => {
    for (let times = 0; times < number; times++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
  }
  const answerBank = async (page: Page, yes: boolean) => {
    await page.locator('dialog').waitFor()
    // The first button has the focus.
    if (!yes) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
  }
  const told = async (page: Page, words: RegExp) => {
    await page.locator('#outcome', { hasText: words }).waitFor({ timeout: 300_000 })
    return (await page.locator('#outcome').textContent()) ?? ''
  }
  const statuses = async () =>
    (await store.db.query<{ status: string }>('select status from donation order by id')).rows.map((row) => row.status)

  it('takes a gift, and one that the bank wants confirmed, with the keyboard alone', async () => {
    const problems: string[] = []
    const [page, before] = [await open(problems), (await statuses()).length]
    problems.push(...(await axeFindings(page)))
    await choose(page, 0)
    if (name === 'braintree') await answerBank(page, true)
    const receipt = /R\d+-GC\d+-T1/.exec(await told(page, /Thank you/))?.[0]
    expect(receipt).toBeDefined()
    problems.push(...(await axeFindings(page)))
    await page.close()
    if (name === 'stripe') {
      const asked = await open(problems)
      await choose(asked, 1)
      await asked.locator('dialog').waitFor()
      problems.push(...(await axeFindings(asked)))
      await answerBank(asked, true)
      await told(asked, /Your receipt is R/)
      await asked.close()
    }
    expect((await statuses()).slice(before).every((status) => status === 'settled')).toBe(true)
    expect(problems).toEqual([])
  })

  it('says when the donor was not authenticated, and takes the next try as another gift', async () => {
    const problems: string[] = []
    const page = await open(problems)
    const charged = processor.ledger.approved().length
    await choose(page, name === 'stripe' ? 1 : 0)
    await answerBank(page, false)
    await told(page, /You were not charged/)
    problems.push(...(await axeFindings(page)))
    expect(processor.ledger.approved().length).toBe(charged)
    await page.locator('button').focus()
    await page.keyboard.press('Enter')
    await answerBank(page, true)
    await told(page, /Your receipt is R/)
    expect((await statuses()).slice(-2)).toEqual(['declined', 'settled'])
    expect(problems).toEqual([])
    await page.close()
  })

  it('says that a card was declined, with the keyboard alone', async () => {
    const problems: string[] = []
    // Braintree's test amounts decide, as its nonces say whether the bank was asked.
    const page = await open(problems, { amount: name === 'stripe' ? '40' : '2001' })
    await choose(page, name === 'stripe' ? 2 : 0)
    if (name === 'braintree') await answerBank(page, true)
    expect(await told(page, /You were not charged/)).toContain('Insufficient')
    problems.push(...(await axeFindings(page)))
    expect((await statuses()).at(-1)).toBe('declined')
    expect(problems).toEqual([])
    await page.close()
  })

  it('takes a gift of every month, and leads the donor to where it ends, with the keyboard alone', async () => {
    const problems: string[] = []
    const page = await open(problems, { monthly: true })
    await choose(page, 0)
    if (name === 'braintree') await answerBank(page, true)
    await told(page, /Your receipt is R/)
    problems.push(...(await axeFindings(page)))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'End your monthly gift?' }).waitFor()
    problems.push(...(await axeFindings(page)))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your monthly gift has ended' }).waitFor()
    const { rows } = await store.db.query('select state from donation_plan')
    expect(rows).toEqual([{ state: 'ended' }])
    expect(problems).toEqual([])
    await page.close()
  })

  it.runIf(name === 'stripe')('thanks for a debit of a bank account, whose receipt comes later', async () => {
    const problems: string[] = []
    const page = await open(problems)
    await choose(page, 3)
    await told(page, /receipt comes by mail/)
    expect((await statuses()).at(-1)).toBe('received')
    expect(problems).toEqual([])
    await page.close()
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })
})
