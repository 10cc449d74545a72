import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { DonorVault } from '../../src/money/donors/donor-vault.js'
import { yearStatements } from '../../src/money/donors/year-statements.js'
import { handleDueWebhooks } from '../../src/money/handle-webhooks.js'
import { chargeDuePlans } from '../../src/money/plans/charge-plans.js'
import { mailNotices } from '../../src/money/receipts/mail-notices.js'
import { mailDueReceipts } from '../../src/money/receipts/mail-receipts.js'
import { submitDonation } from '../../src/money/submit-donation.js'
import { defaultWriterRole, grantWriterRole } from '../../src/platform/database/writer-role.js'
import { SmtpSender } from '../../src/platform/mail/smtp.js'
import { testApi } from '../support/api/api.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testDonors,
  testPayments,
} from '../support/money/donations.js'
import { type ProcessorWithSdk, processors, timeoutMs } from '../support/money/processors.js'
import { braintreeDelivery, type Delivery, stripeDelivery } from '../support/money/webhook-deliveries.js'
import { inOrder } from '../support/runner/in-order.js'
import { readMail, startMailServer } from '../support/servers/mail-server.js'
import { testDatabase } from '../support/store/database.js'
import { everyRow } from '../support/store/every-row.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const never = new AbortController().signal
const guesses = scaled(2_000)
const people = ['xanthippe', 'mnemosyne'] as const
const changed = (text: string, at: number) => text.slice(0, at) + (text[at] === '7' ? '8' : '7') + text.slice(at + 1)

describe('whoever is no donor', inOrder, async () => {
  const { store } = await testDatabase()
  let now = new Date('2026-11-21T09:15:30Z')
  const clock = () => now
  const payments = testPayments(store, { clock, mailsReceipts: true })
  const keyId = await insertDonationTargets(store.db, [2045])
  const { app } = await testApi(store, { store, payments, clock })
  let asked = 0
  type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST'
  /** Each request from an address of its own, as many attackers send them. */
  const ask = async (method: Method, url: string, to = app) => {
    asked += 1
    const remoteAddress = `127.0.${asked >> 8}.${asked & 255}`
    const { statusCode, body, rawPayload } = await to.inject({ method, url, remoteAddress })
    return { status: statusCode, body, bytes: rawPayload.length }
  }
  const plans = async () => (await store.db.query('select state from donation_plan order by id')).rows
  const [ana, bo] = [
    { plan: '', receipt: '' },
    { plan: '', receipt: '' },
  ]

  it('reads in no mail what is another donor’s, also not in statements', async () => {
    const mail = await startMailServer()
    const mailing = {
      ...{
        store,
        donors: testDonors,
        choice: { language: 'en', operatorsDir: undefined },
        clock,
        warn: () => undefined,
      },
      ...{
        platform: 'Giving',
        baseUrl: 'https://giving.example',
        sender: new SmtpSender(mail.url, 'g@giving.example'),
      },
    }
    for (const name of people) {
      const wanted = { email: `${name}@example.org`, recurring: true, frequency: 'monthly' }
      const request = donationRequest(wanted, { firstname: name, paymentGateway: 'sandbox' })
      await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
      now = new Date(now.getTime() + 60_000)
      await chargeDuePlans(payments)
    }
    await mailDueReceipts(mailing, never)
    await yearStatements({ store, donors: testDonors }, 2026, now)
    await mailNotices(mailing, never)
    const taken = mail.taken.map(({ to, raw }) => ({ to, text: readMail({ to, raw }).text }))
    expect(taken.map(({ to }) => to)).toEqual([...people, ...people].map((name) => [`${name}@example.org`]))
    // The second mail of each is the statement.
    for (const { text } of taken.slice(2)) expect(text).toContain('thank you for your donations of 2026')
    for (const { to, text } of taken) {
      const others = people.filter((name) => !to[0]?.startsWith(name))
      for (const name of others) expect(text).not.toContain(name)
    }
    for (const [at, links] of [ana, bo].entries()) {
      const text = taken[at]?.text ?? ''
      links.plan = /\/gifts\/\w{40}/.exec(text)?.[0] ?? ''
      links.receipt = /\/gifts\/receipts\/\w{40}/.exec(text)?.[0] ?? ''
    }
    expect(new Set([ana.plan, ana.receipt, bo.plan, bo.receipt].map((link) => link.length))).toEqual(new Set([47, 56]))
  })

  it('guesses no link, makes none of two others, and changes nothing with it', async () => {
    const before = await everyRow(store.db)
    const part = (link: string) => link.slice(-40)
    const links = [ana.plan, ana.receipt, bo.plan, bo.receipt]
    const parts = [
      ...links.flatMap((link) => Array.from({ length: 40 }, (_, at) => changed(part(link), at))),
      ...links
        .flatMap((a) => links.map((b) => part(a).slice(0, 8) + part(b).slice(8)))
        .filter((one) => !links.some((link) => link.endsWith(one))),
      ...links.flatMap((link) => [
        part(link).toUpperCase(),
        `${part(link)}0`,
        `${part(link)}%00`,
        part(link).slice(1),
        `${part(link)}%2f..`,
      ]),
      ...Array.from(
        { length: guesses },
        (_, at) => part(at % 2 ? ana.plan : bo.receipt).slice(0, 8) + randomBytes(16).toString('hex'),
      ),
    ]
    const wrong = parts.flatMap((one) => [`/gifts/${one}`, `/gifts/receipts/${one}`])
    // Of the right kind of link at the other's address, too.
    wrong.push(...[ana, bo].flatMap((one) => [`/gifts/${part(one.receipt)}`, `/gifts/receipts/${part(one.plan)}`]))
    const right = []
    for (const url of wrong) {
      for (const method of ['GET', 'POST'] as const) {
        const { status, body } = await ask(method, url)
        if ((status !== 404 && status !== 405) || people.some((name) => body.includes(name)))
          right.push([method, url, status])
      }
    }
    expect(right).toEqual([])
    expect(await everyRow(store.db)).toBe(before)
    record({ name: 'links of donors are guessed', engine: '-', tried: wrong.length * 2, outcome: 'none is answered' })
  })

  it('opens links as a scanner of mail does, and ends nothing; a forwarded page names nobody', async () => {
    const before = await everyRow(store.db)
    for (const { plan, receipt } of [ana, bo]) {
      for (const url of [plan, receipt, `${plan}?utm_source=scanner`]) {
        const got = await ask('GET', url)
        expect([url, got.status]).toEqual([url, 200])
        expect(await ask('HEAD', url)).toMatchObject({ status: 200, bytes: 0 })
        await ask('OPTIONS', url)
        for (const name of people) expect(got.body).not.toContain(name)
      }
    }
    expect(await everyRow(store.db)).toBe(before)
    expect(await plans()).toEqual([{ state: 'active' }, { state: 'active' }])
  })

  it('ends with a link one gift once, however often it is sent, and sees nothing with it afterwards', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('POST', ana.plan)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.includes('has ended')}`))).toEqual(
      new Set(['200 true']),
    )
    expect(await plans()).toEqual([{ state: 'ended' }, { state: 'active' }])
    const before = await everyRow(store.db)
    await ask('POST', ana.plan)
    expect(await everyRow(store.db)).toBe(before)
    // A key that was removed takes its links with it; so does a donor who was erased.
    const donors = new DonorVault([{ id: 'next', secret: Buffer.alloc(32, 9) }])
    const { app: rekeyed } = await testApi(store, { store, payments: { ...payments, donors }, clock })
    for (const link of [bo.plan, bo.receipt]) expect((await ask('GET', link, rekeyed)).status).toBe(404)
    expect((await ask('POST', bo.plan, rekeyed)).status).toBe(404)
    await store.db.query('delete from donor')
    for (const { receipt } of [ana, bo]) expect((await ask('GET', receipt)).status).toBe(404)
    expect(await plans()).toEqual([{ state: 'ended' }, { state: 'active' }])
  })

  it('reads with the role for SQL nothing of donors, money at a processor or accounts', async () => {
    await grantWriterRole(store.db, defaultWriterRole, now)
    const { rows } = await store.db.query<{ name: string; reads: boolean }>(
      `select relname as name, has_any_column_privilege($1, oid, 'select, insert, update, references')
          or has_table_privilege($1, oid, 'delete, truncate, trigger') as reads
        from pg_class where relkind in ('r', 'v', 'm', 'p', 'f') and relnamespace = 'public'::regnamespace order by 1`,
      [defaultWriterRole],
    )
    const readable = rows.filter(({ reads }) => reads).map(({ name }) => name)
    expect(readable).toContain('project')
    expect(
      readable.filter((name) =>
        /^(donor|donation_(plan|event|refund)|donation$|receipt|account|api_key|access|audit|charge|webhook|processor|sandbox|subscription|import)/.test(
          name,
        ),
      ),
    ).toEqual([])
    // With the rights of its owner a function only gives numbers.
    const { rows: functions } = await store.db.query(
      `select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace
        and has_function_privilege($1, oid, 'execute') and prorettype <> 'trigger'::regtype`,
      [defaultWriterRole],
    )
    expect(functions).toEqual([{ proname: 'new_number' }])
    record({
      name: 'tables asked by the role for SQL',
      engine: '-',
      tried: rows.length,
      outcome: `${readable.length} open`,
    })
  })
})

describe.each(Object.keys(processors) as ProcessorWithSdk[])(
  'forged and replayed webhooks of %s',
  inOrder,
  async (name) => {
    const { store } = await testDatabase()
    const [processor, gateway] = await processors[name]()
    afterAll(() => processor.close())
    let now = new Date('2026-11-21T09:00:00Z')
    const payments = testPayments(store, { gateway: quick(gateway), timeoutMs, clock: () => now })
    const { app } = await testApi(store, { payments, clock: () => now })
    const keyId = await insertDonationTargets(store.db, [2045])
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, donationRequest())
    const { reference } = await newestDonation(store.db)
    await processor.ledger.controls.settle(reference)
    const charge = processor.ledger.only(reference)
    const deliver = name === 'stripe' ? stripeDelivery : braintreeDelivery
    let sent = 0
    const post = async ({ headers, payload }: Delivery, to: string = name) => {
      sent += 1
      const url = `/api/public/payments/${to}`
      const answer = await app.inject({
        method: 'POST',
        url,
        payload,
        headers,
        remoteAddress: `127.0.${sent >> 8}.${sent & 255}`,
      })
      return answer.statusCode
    }
    const stored = async () => (await store.db.query('select from webhook_event')).rowCount

    it('are refused whichever character was changed', async () => {
      charge.failed = true
      const good = deliver('failed', charge, { at: now })
      const signature = good.headers['stripe-signature'] ?? ''
      const forged: Delivery[] = [
        ...Array.from({ length: good.payload.length }, (_, at) => ({ ...good, payload: changed(good.payload, at) })),
        ...Array.from({ length: signature.length }, (_, at) => ({
          ...good,
          headers: { ...good.headers, 'stripe-signature': changed(signature, at) },
        })),
        ...['', ' ', 'null', charge.id].map((secret) => deliver('failed', charge, { at: now, secret })),
      ]
      const taken = []
      for (const [at, one] of forged.entries()) if ((await post(one)) !== 400) taken.push([at, one])
      expect(taken).toEqual([])
      expect([await stored(), (await newestDonation(store.db)).status]).toEqual([0, 'settled'])
      record({ name: `forged webhooks of ${name}`, engine: '-', tried: forged.length, outcome: 'all refused' })
    })

    it('have one effect, at one address, for a time', async () => {
      const good = deliver('failed', charge, { at: now })
      expect(await post(good, name === 'stripe' ? 'braintree' : 'stripe')).toBe(404)
      expect(new Set(await Promise.all(Array.from({ length: 30 }, () => post(good))))).toEqual(new Set([200]))
      expect(await stored()).toBe(1)
      now = new Date(now.getTime() + 60_000)
      expect(await handleDueWebhooks(payments)).toMatchObject({ done: 1 })
      const before = await everyRow(store.db)
      expect(await post(good)).toBe(200)
      expect(await handleDueWebhooks(payments)).toMatchObject({ done: 0 })
      expect(await everyRow(store.db)).toBe(before)
      now = new Date(now.getTime() + 3 * 86_400_000)
      expect(await post(good)).toBe(400)
      record({ name: `replayed webhooks of ${name}`, engine: '-', tried: 33, outcome: 'one effect' })
    })
  },
)
