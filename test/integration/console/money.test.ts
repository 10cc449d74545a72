import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import { openPayments, paymentFields } from '../../../src/cli/wiring/payments.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { account, donationRequest, insertDonationTargets } from '../../support/money/donations.js'
import { axeFindings, browserProgram, launchBrowser } from '../../support/portal/browser.js'
import { inOrder } from '../../support/runner/in-order.js'
import { runsAll } from '../../support/runner/some-of.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

if (!browserProgram) console.log('left out: the console’s donations in a browser (install Debian’s package chromium)')

const tokens = { ana: 'a'.repeat(24), bo: 'b'.repeat(24) }
const as = (name: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[name]}` })
const email = 'xanthippe.quillfeather@example.org'

describe('donations in the console', inOrder, async () => {
  const { store, url } = await testDatabase()
  const environment = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: await temporaryFolder(), LOG_LEVEL: 'silent' },
    ...{ OPS_TOKEN: `ana+donors:${tokens.ana},bo:${tokens.bo}`, OPS_REFUND_LIMIT: '60' },
    ...{ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'gifts@giving.example' },
  }
  const keyId = await insertDonationTargets(store.db, [2045, 2046])
  const runtime = await openRuntime(environment, paymentFields, { signal: new AbortController().signal })
  const payments = await openPayments(runtime)
  afterAll(() => runtime[Symbol.asyncDispose]())
  const give = async (changes: Record<string, unknown> = {}) => {
    const request = donationRequest({ email, ...changes }, {})
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    return rows[0]?.id ?? 0
  }
  const first = await give({ transactionId: 'tx-first' })
  const other = await give({ email: 'lina@example.org', project: { id: 2046 } })
  const monthly = await give()
  await store.db.query('insert into donation_plan (donation_id, look_at, created_at) values ($1, now(), now())', [
    monthly,
  ])
  let one: Console
  beforeAll(async () => {
    one = await openConsole(environment)
  })
  afterAll(() => one.close())

  const find = (fields: Record<string, string>, name: keyof typeof tokens = 'ana') =>
    one.confirm('/donations', fields, as(name))
  const found = (text: string) => [...text.matchAll(/href="\/donations\/(\d+)"/g)].map(([, id]) => Number(id))
  const audit = async (action: 'donor-disclosed' | 'donation-refunded' | 'receipt-requeued' | 'plan-ended') =>
    (await listAudit(store.db, { since: new Date(0), limit: 100 })).filter((event) => event.action === action)

  it('finds a donation by number, transaction, receipt, reference, project and day', async () => {
    const { rows } = await store.db.query<{ reference: string; receiptNumber: string }>(
      'select reference, receipt_number from donation where id = $1',
      [first],
    )
    const names = [String(first), 'tx-first', rows[0]?.reference ?? '', rows[0]?.receiptNumber ?? '']
    for (const name of names) expect(found((await find({ name }, 'bo')).text), name).toEqual([first])
    expect(found((await find({ project: '2046' }, 'bo')).text)).toEqual([other])
    const day = new Date().toISOString().slice(0, 10)
    expect(found((await find({ day }, 'bo')).text)).toEqual([monthly, other, first])
    expect(found((await find({ day: '2020-01-01' }, 'bo')).text)).toEqual([])
    expect((await find({ day: 'yesterday' }, 'bo')).text).toContain('day: expected')
    expect((await find({ project: 'x' }, 'bo')).text).toContain('project: expected')
  })

  it('finds those of a person by e-mail, with a right of its own, and enters each look', async () => {
    const refused = await find({ name: email }, 'bo')
    expect([refused.status, await audit('donor-disclosed')]).toEqual([403, []])
    const { headers, text } = await find({ name: email.toUpperCase() })
    expect(found(text)).toEqual([monthly, first])
    expect([headers['cache-control'], headers.location]).toEqual(['no-store', undefined])
    expect(await audit('donor-disclosed')).toMatchObject([
      { actor: 'operator ana (console)', details: { donations: 2 } },
    ])
  })

  it('tells the steps of a donation in words, and who gave only to who may see it', async () => {
    const { text } = await one.ask(`/donations/${first}`, as('bo'))
    for (const part of [
      'A rehearsal: no money moves',
      'The gift was received',
      'It was paid',
      'tx-first',
      'Mail the receipt again',
    ])
      expect(text).toContain(part)
    expect(text).not.toMatch(new RegExp(`Tip|${email}`))
    const [, token = ''] = /donor"><input type="hidden" name="token" value="(\w+)"/.exec(text) ?? []
    const show = (name: keyof typeof tokens, given: string) =>
      one.ask(`/donations/${first}/donor`, { origin: one.base, ...as(name) }, `token=${given}`)
    expect((await show('bo', token)).status).toBe(403)
    const [, own = ''] =
      /donor"><input type="hidden" name="token" value="(\w+)"/.exec(
        (await one.ask(`/donations/${first}`, as('ana'))).text,
      ) ?? []
    expect((await show('ana', token)).status).toBe(400)
    expect((await show('ana', own)).text).toContain(email)
    expect((await audit('donor-disclosed')).at(-1)).toMatchObject({ subject: `donation ${first}` })
    expect((await one.ask('/donations/999999', as('ana'))).status).toBe(404)
  })

  it('mails a receipt again, and ends a monthly gift', async () => {
    await one.confirm(`/donations/${first}/receipt`, { comment: `${email} lost it` }, as('bo'))
    expect(await audit('receipt-requeued')).toMatchObject([
      { subject: `donation ${first}`, details: { comment: '[redacted] lost it' } },
    ])
    expect((await one.ask(`/donations/${monthly}`, as('bo'))).text).toContain('/plans/1/end')
    await one.confirm('/plans/1/end', {}, as('bo'))
    expect(await audit('plan-ended')).toMatchObject([{ actor: 'operator bo (console)', subject: 'plan 1' }])
    expect((await store.db.query('select state from donation_plan')).rows).toEqual([{ state: 'ended' }])
  })

  it('gives back with the token once more, a reason, and within the limit of a day', async () => {
    const refund = (id: number, fields: Record<string, string>) =>
      one.confirm(`/donations/${id}/refund`, { comment: 'given twice', again: tokens.bo, ...fields }, as('bo'))
    expect(await refund(first, { again: tokens.ana })).toMatchObject({ status: 403 })
    expect((await refund(first, { comment: ' ' })).text).toContain('expected a reason')
    expect((await refund(first, { amount: '10.001' })).text).toContain('amount: expected')
    expect(await refund(first, {})).toMatchObject({
      status: 303,
      headers: { location: expect.stringContaining(`/donations/${first}?done=`) },
    })
    expect((await refund(other, { amount: '20.01' })).text).toContain('at most 60 USD in a day')
    expect(await refund(other, { amount: '20' })).toMatchObject({ status: 303 })
    const both = await Promise.all([refund(monthly, { amount: '1' }), refund(other, { amount: '1' })])
    expect(both.map(({ status }) => status)).toEqual([400, 400])
    expect(await audit('donation-refunded')).toMatchObject([
      { actor: 'operator bo (console)', subject: `donation ${first}`, details: { comment: 'given twice' } },
      { subject: `donation ${other}` },
    ])
    const { rows } = await store.db.query('select id, refunded::float8 from donation order by id')
    expect(rows).toEqual([
      { id: first, refunded: 40 },
      { id: other, refunded: 20 },
      { id: monthly, refunded: 0 },
    ])
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('gives nothing back, and shows no donor, on a console without tokens or without a limit', async () => {
    const { OPS_REFUND_LIMIT: _, ...unlimited } = environment
    const { OPS_TOKEN: _token, ...nameless } = environment
    for (const [given, headers] of [
      [unlimited, as('ana')],
      [nameless, {}],
    ] as const) {
      const opened = await openConsole(given)
      onTestFinished(opened.close)
      expect((await opened.ask(`/donations/${monthly}/refund`, headers)).status).toBe(403)
      const { status } = await opened.confirm('/donations', { name: email, project: '' }, headers)
      expect(status).toBe(headers === as('ana') || 'authorization' in headers ? 200 : 403)
    }
  })

  it('says what differs from the processor and what to do, and compares again', async () => {
    await runCommandLine(['sandbox', 'dispute', String(monthly), 'open'], environment)
    expect((await one.ask('/donations', as('bo'))).text).toMatch(/disputed[\s\S]*Answer the dispute/)
    await store.db.query(`update sandbox_charge set dispute = 'lost'
      where reference = (select reference from donation where id = ${monthly})`)
    await one.confirm(`/donations/${monthly}/follow`, {}, as('bo'))
    const { text } = await one.ask(`/donations/${monthly}`, as('bo'))
    expect(text).toContain('went back (chargeback)')
    expect((await one.ask('/donations', as('bo'))).text).not.toContain('Answer the dispute')
  })

  it.skipIf(!browserProgram || !runsAll)('has no finding of axe and no e-mail in an address', async () => {
    let browser: Browser | undefined
    onTestFinished(async () => await browser?.close())
    browser = await launchBrowser()
    const page = await browser.newPage({
      bypassCSP: true,
      httpCredentials: { username: 'ana', password: tokens.ana },
    })
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('request', (request) => {
      if (/xanthippe|%40|@/.test(request.url())) problems.push(request.url())
    })
    const look = async () =>
      void problems.push(...(await axeFindings(page)).map((finding) => `${page.url()}: ${finding}`))
    await page.goto(`${one.base}/donations`)
    await look()
    await page.getByLabel('Number, receipt').fill(email)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: String(first), exact: true }).waitFor()
    await look()
    await page.getByRole('link', { name: String(first), exact: true }).click()
    await look()
    await page.getByRole('button', { name: 'Show the donor' }).click()
    await page.getByText(email).waitFor()
    await look()
    for (const address of [
      `/donations/${other}/refund`,
      `/donations/${other}/receipt`,
      `/donations/${other}/follow`,
      '/plans/1/end',
    ]) {
      await page.goto(one.base + address)
      await look()
    }
    await page.getByRole('heading', { name: 'End the monthly gift' }).waitFor()
    expect(problems).toEqual([])
  })
})
