import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installation, newInstallation, type RunningService } from '../support/commands/cli.js'
import { readProjectFile } from '../support/documents/markdown-table.js'
import { axeFindings, browserProgram, launchBrowser } from '../support/portal/browser.js'
import { inOrder } from '../support/runner/in-order.js'
import { openMailServer, readMail } from '../support/servers/mail-server.js'

if (!browserProgram) console.log('left out: the rehearsal in a browser (install Debian’s package chromium)')

const printed = 'http://127.0.0.1:8080'
const page = readProjectFile('docs/tutorial/donate.md')
const lines = (section: string) =>
  [...section.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
const [account = '', grant = '', signIn = ''] = lines(page)
const rehearsal = lines(page.split('\n## 5. ')[1] ?? '')

// One story, in the order of the page.
describe.skipIf(!browserProgram)('the tutorial’s rehearsal of monthly gifts', inOrder, () => {
  let installation: Installation
  let service: RunningService
  let mail: Awaited<ReturnType<typeof openMailServer>>
  let browser: Browser
  const token = 'a'.repeat(24)
  let secrets: Record<string, string> = {}
  let [first, before] = [0, 0]

  /** What the activity says has come in, in cents. */
  const published = async () => {
    const address = `${service.baseUrl}/iati/activities/XE-EXAMPLE-INVENTED-9000001.xml`
    const transactions = (await (await fetch(address)).text()).split('<transaction ').slice(1)
    return transactions
      .filter((one) => one.includes('<transaction-type code="1"'))
      .reduce((sum, one) => sum + Math.round(Number(/<value [^>]*>([^<]+)</.exec(one)?.[1]) * 100), 0)
  }

  beforeAll(async () => {
    mail = await openMailServer()
    installation = await newInstallation({
      ...{ SMTP_URL: mail.url, MAIL_FROM: 'gifts@giving.example', LOG_LEVEL: 'debug' },
      OPS_TOKEN: `ana+donors:${token}`,
    })
    service = await installation.start()
    before = await published()
    expect(before).toBeGreaterThan(0)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
    await mail?.close()
  })

  /** Runs a line as a person would type it. */
  const type = async (line: string) => {
    const here = line.replaceAll(printed, service.baseUrl).replaceAll('NUMBER', String(first))
    const [, typed, rest] = /^(?:echo '([^']*)' \| )?npm run --silent giving -- (.*)$/.exec(here) ?? []
    if (rest === undefined) {
      const {
        status: code,
        stdout,
        stderr,
      } = spawnSync('sh', ['-c', here], {
        ...{ encoding: 'utf8', env: { ...process.env, ...secrets } },
      })
      return { code, stdout, stderr }
    }
    return await installation.runHere(rest.split(' '), typed === undefined ? '' : `${typed}\n`)
  }
  const run = async (...parts: readonly string[]) => {
    const line = rehearsal.find((one) => parts.every((part) => one.includes(part))) ?? ''
    const { code, stdout, stderr } = await type(line)
    expect(code, `${line}\n${stdout}\n${stderr}`).toBe(0)
    return stdout
  }
  const json = async (...args: readonly string[]) =>
    JSON.parse((await installation.runHere([...args, '--json'])).stdout)

  it('asks the donor on a page of the sandbox, which marks itself as a rehearsal', async () => {
    const { apiKey } = JSON.parse((await type(account)).stdout)
    await type(grant)
    const { stdout } = await type(signIn.replace('THE_KEY', apiKey))
    secrets = { GIVING_KEY: apiKey, GIVING_TOKEN: /"access_token":"(\w+)"/.exec(stdout)?.[1] ?? '' }
    await run('sandbox time 20')
    await run('sandbox rate')
    const asked = JSON.parse(await run('fake-confirm-nonce')).error_response
    expect(asked).toMatchObject({ requires_action: { paymentGateway: 'sandbox' } })
    const window = await browser.newPage({ bypassCSP: true })
    // The API has no icon.
    await window.route('**/favicon.ico', (route) => route.fulfill())
    const problems: string[] = []
    window.on('console', (message) => problems.push(message.text()))
    await window.goto(asked.requires_action.clientSecret)
    await window.getByText('This is a rehearsal. No money moves.').waitFor()
    await window.getByText('Do you pay CHF 30.00?').waitFor()
    problems.push(...(await axeFindings(window)))
    for (const key of ['Tab', 'Tab', 'Tab', 'Enter']) await window.keyboard.press(key)
    await window.getByText('waits for your answer').waitFor()
    problems.push(...(await axeFindings(window)))
    const again = JSON.parse(await run('fake-confirm-nonce')).error_response
    expect(again.requires_action).toEqual(asked.requires_action)
    await window.goto(asked.requires_action.clientSecret)
    for (const key of ['Tab', 'Enter']) await window.keyboard.press(key)
    await window.getByText('The payment is confirmed.').waitFor()
    problems.push(...(await axeFindings(window)))
    await window.close()
    expect(problems).toEqual([])
    const { donation } = JSON.parse(await run('fake-confirm-nonce'))
    expect(donation).toMatchObject({ status: 'pending', checkedOut: false, frequency: 'monthly' })
    first = (await json('donations', 'list', '--limit', '1'))[0].id
  })

  it('charges two years, a declined month on a later day, and keeps books and sandbox the same', async () => {
    expect(await run('advance 335d')).toMatch(/donation \d+ {2}30\.00 CHF {2}settled\n/)
    await run('card NUMBER 2001')
    const declined = await run('advance 31d')
    expect(declined).toMatch(/30\.00 CHF {2}declined/)
    expect(declined).not.toContain('settled\n')
    await run('card NUMBER works')
    expect(await run('advance 364d')).toContain('differ in 0 charges or refunds')
    expect(await run('donations refund')).toContain('refund of 30.00 CHF')
    expect(await run('plans list')).toMatch(/30\.00 CHF a month {2}active/)
    expect(await run('books check')).not.toContain('expected')
    const all = (await json('donations', 'list', '--limit', '100')).filter(
      ({ currency }: { currency: string }) => currency === 'CHF',
    )
    const byStatus = (wanted: string) => all.filter(({ status }: { status: string }) => status === wanted)
    // The first gift was given back; each later month has one, and October's first tries were declined.
    expect(byStatus('refunded')).toHaveLength(1)
    expect(byStatus('settled')).toHaveLength(23)
    expect(byStatus('declined').length).toBeGreaterThan(0)
    const months = byStatus('settled').map(({ settledAt }: { settledAt: string }) => settledAt.slice(0, 7))
    expect(new Set(months).size).toBe(23)
  })

  it('counts and mails the statement of a year', async () => {
    expect(await run('statements 2025')).toContain('1 donors of 12 donations')
    await run('sandbox time now')
    await installation.runHere(['donors', 'statements', '2025', '--mail'])
    const statement = () => mail.taken.map(readMail).find(({ headers }) => /^Subject: .*2025/m.test(headers))?.text
    await expect.poll(statement).toBeDefined()
    expect(statement()?.match(/CHF\s30\.00/g)?.length).toBeGreaterThanOrEqual(12)
    expect(statement()).toMatch(/sandbox/)
    const one = ['donors', 'statements', '2025', '--email', 'lina@example.org']
    const { code, stdout } = await installation.runHere(one)
    expect([code, stdout.match(/R\d+-GC/g)?.length]).toEqual([0, 12])
    const file = path.join(installation.dataDir, 'statement.pdf')
    expect((await installation.runHere([...one, '--pdf', file])).code).toBe(0)
    expect((await readFile(file)).subarray(0, 5).toString()).toBe('%PDF-')
    expect((await installation.runHere([...one, '--pdf', file])).stderr).toContain('must not exist yet')
  })

  it('finds the donor in the console, and writes the e-mail into no log', async () => {
    const [, base = ''] = /the console is at (http:[\w/.:]+)/.exec(service.output()) ?? []
    const headers = { authorization: `Bearer ${token}`, origin: base }
    const page = await (await fetch(`${base}/donations`, { headers })).text()
    const [, proof = ''] = /name="token" value="(\w+)"/.exec(page) ?? []
    const body = new URLSearchParams({ token: proof, name: 'lina@example.org' })
    const found = await (await fetch(`${base}/donations`, { method: 'POST', headers, body })).text()
    expect(found).toContain(`/donations/${first}"`)
    expect(service.output()).not.toContain('lina@')
  })

  it('publishes what the books and the sandbox have', async () => {
    await run('publish --wait')
    const { charges } = await json('sandbox', 'show', '--limit', '100')
    type Charge = { donation: number; settledAmount?: string; state: string }
    const cents = (charges as Charge[])
      .filter(({ donation, state }) => state === 'settled' && donation !== first)
      .reduce((sum, { settledAmount = '0' }) => sum + Math.round(Number(settledAmount) * 100), 0)
    expect(cents).toBe(23 * 3360)
    expect((await published()) - before).toBe(cents)
  })
})
