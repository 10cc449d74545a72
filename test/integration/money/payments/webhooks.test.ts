import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { createStripeGateway } from '../../../../src/extensions/stripe/stripe-gateway.js'
import { followAndClose, handleDueWebhooks } from '../../../../src/money/handle-webhooks.js'
import { paymentNeeds, paymentWarnings } from '../../../../src/money/payment-needs.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { testApi } from '../../../support/api/api.js'
import { forkStripped } from '../../../support/commands/cli.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { type ProcessorWithSdk, processors, timeoutMs } from '../../../support/money/processors.js'
import {
  braintreeDelivery,
  type Delivery,
  type DeliveryOptions,
  type Happening,
  signedByBraintree,
  signedByStripe,
  stripeDelivery,
} from '../../../support/money/webhook-deliveries.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { someOf } from '../../../support/runner/some-of.js'
import { toCents } from '../../../support/servers/processor-server.js'
import { stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

const deliveries = { braintree: braintreeDelivery, stripe: stripeDelivery }
const names = Object.keys(processors) as ProcessorWithSdk[]

describe.each(someOf(names, 2))('webhooks of %s', inOrder, async (name) => {
  const { store, url } = await testDatabase()
  const [processor, gateway] = await processors[name]()
  const deliver = deliveries[name]
  afterAll(() => processor.close())
  const { ledger } = processor
  let now = new Date('2026-11-21T09:00:00Z')
  const later = (minutes: number) => {
    now = new Date(now.getTime() + minutes * 60_000)
  }
  const payments = testPayments(store, { gateway: quick(gateway), timeoutMs, clock: () => now })
  const { app } = await testApi(store, { payments, clock: () => now })
  const keyId = await insertDonationTargets(store.db, [2045])

  const address = `/api/public/payments/${name}`
  const post = async ({ headers, payload }: Delivery) => {
    const answer = await app.inject({
      ...{ method: 'POST', url: address, payload },
      headers: { ...headers, accept: 'application/json' },
    })
    return { status: answer.statusCode, outcome: answer.json().webhook_response?.outcome, text: answer.body }
  }
  /** A donation of 40, and its charge at the processor. */
  const donate = async () => {
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, donationRequest())
    const { id, reference } = await newestDonation(store.db)
    await ledger.controls.settle(reference)
    return { id, reference, charge: ledger.only(reference) }
  }
  const send = async (what: Happening, charge: Parameters<typeof deliver>[1], options: Partial<DeliveryOptions> = {}) =>
    await post(deliver(what, charge, { at: now, ...options }))
  const handle = async () => {
    later(1)
    return await handleDueWebhooks(payments)
  }
  const totals = async () => {
    const { rows } = await store.db.query<{ funding: number; count: number }>(
      `select (funding - 1250)::float8 as funding, number_of_donations - 37 as count from project where id = 2045`,
    )
    return rows[0]
  }
  const events = async () => (await store.db.query('select kind, state, outcome from webhook_event order by id')).rows
  const newest = async () => (await events()).at(-1)
  const needs = async () => (await paymentNeeds(store.db)).map(({ message }) => message)
  const agree = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])

  it('are stored, handled, and shown in totals, months and feeds', async () => {
    const publisher = await testPublisher(store, { maxLossPercent: 100 })
    publisher.now = new Date('2026-11-22T02:00:00Z')
    const refunds = async () => {
      await publisher.publish()
      const xml = await publisher.read('/iati/activities.xml')
      return /ref="ref-2045-2026-11-USD"[\s\S]*?<value[^>]*>([^<]+)</.exec(xml)?.[1]
    }
    const { charge } = await donate()
    expect(await refunds()).toBeUndefined()
    charge.failed = true
    expect(await send('failed', charge)).toMatchObject({ status: 200, outcome: 'stored' })
    expect(await totals()).toEqual({ funding: 40, count: 1 })
    expect(await handle()).toEqual({ done: 1, later: 0, failed: 0 })
    expect(await totals()).toEqual({ funding: 0, count: 0 })
    expect(await newest()).toMatchObject({ state: 'done', outcome: 'corrected' })
    expect(await refunds()).toMatch(/^-40(\.0+)?$/)
    await agree()
  })

  it('take back what was refunded in the console, and leave the rest', async () => {
    const before = await totals()
    const { charge, reference } = await donate()
    ledger.refundInConsole(reference, '15')
    await send('refunded', charge)
    await handle()
    expect(await totals()).toEqual({ funding: (before?.funding ?? 0) + 25, count: (before?.count ?? 0) + 1 })
    await agree()
  })

  it('of a refund that failed lead to its charge', async () => {
    const { id, charge, reference } = await donate()
    const refund = ledger.refundInConsole(reference, '15')
    await send('refunded', charge)
    await handle()
    refund.failed = true
    later(5)
    expect(await send('refund-failed', charge)).toMatchObject({ outcome: 'stored' })
    await handle()
    expect(await newest()).toMatchObject({ state: 'done', outcome: 'differs' })
    expect((await needs()).join()).toContain(`donation ${id}`)
    ledger.refundInConsole(reference, '15')
    await send('refunded', charge, { id: 'evt_again' })
    await handle()
    expect(await needs()).toEqual([])
    await agree()
  })

  it('are delivered again and again, and have one effect', async () => {
    const { charge, reference } = await donate()
    const before = await totals()
    ledger.refundInConsole(reference, '15')
    expect(await send('refunded', charge, { id: 'evt_twice', at: now })).toMatchObject({ outcome: 'stored' })
    expect(await send('refunded', charge, { id: 'evt_twice', at: now })).toMatchObject({
      status: 200,
      outcome: 'known',
    })
    expect(await handle()).toMatchObject({ done: 1 })
    expect(
      await send('refunded', charge, { id: 'evt_twice', at: new Date(now.getTime() - 60_000), signedAt: now }),
    ).toMatchObject({ status: 200, outcome: 'known' })
    expect(await handle()).toMatchObject({ done: 0 })
    expect(await totals()).toEqual({ funding: (before?.funding ?? 0) - 15, count: before?.count })
  })

  it('that arrive while their charge is followed are handled after it', async () => {
    const { charge } = await donate()
    await send('settled', charge)
    ledger.beforeAnswer = async () => {
      ledger.beforeAnswer = async () => undefined
      await send('disputed', charge)
    }
    expect(await handle()).toEqual({ done: 2, later: 0, failed: 0 })
  })

  it('say the same in the reverse order', async () => {
    const { id, charge, reference } = await donate()
    const before = await totals()
    const dispute = ledger.dispute(reference)
    await send('disputed', charge)
    await handle()
    expect(await needs()).toContain(`donation ${id} is disputed: answer in the console of the payment processor`)
    expect(await totals()).toEqual(before)
    const opened = now
    later(60)
    dispute.status = 'lost'
    await send('lost', charge)
    await handle()
    await send('disputed', charge, { id: 'evt_late', at: opened, signedAt: now })
    await handle()
    expect(await totals()).toEqual({ funding: (before?.funding ?? 0) - 40, count: (before?.count ?? 0) - 1 })
    expect(await needs()).toEqual([])
    const won = await donate()
    ledger.dispute(won.reference).status = 'won'
    await send('won', won.charge)
    await send('disputed', won.charge)
    expect(await handle()).toEqual({ done: 1, later: 0, failed: 0 })
    expect(await needs()).toEqual([])
    await agree()
  })

  it('are refused without a signature, with a wrong one, and when they were changed', async () => {
    const { charge } = await donate()
    const before = await events()
    const good = deliver('settled', charge, { at: now })
    const other = deliver('failed', charge, { at: now })
    const forged: Readonly<Record<string, Delivery>> = {
      'another secret': deliver('settled', charge, { at: now, secret: 'whsec_another' }),
      'no signature': { headers: { 'content-type': 'application/json' }, payload: '{}' },
      'no body': { headers: good.headers, payload: '' },
      'another body': {
        headers: good.headers,
        payload:
          name === 'stripe'
            ? other.payload
            : `${good.payload.split('&bt_payload')[0]}&bt_payload${other.payload.split('&bt_payload')[1]}`,
      },
    }
    for (const [what, delivery] of Object.entries(forged)) {
      const { status, text } = await post(delivery)
      expect(status, what).toBe(400)
      expect(text, what).toMatch(/the webhook is refused: (the signature is not that of|it has no)/)
    }
    expect(await events()).toEqual(before)
  })

  it('are refused when they are too old, also when they came before', async () => {
    const { charge } = await donate()
    const sent = deliver('settled', charge, { at: now })
    expect(await post(sent)).toMatchObject({ status: 200 })
    later(name === 'stripe' ? 6 : 2 * 24 * 60 + 1)
    expect(await post(sent)).toMatchObject({ status: 400, text: expect.stringMatching(/seconds ago|days old/) })
    await handle()
  })

  it('that are signed and make no sense are refused, and stored nowhere', async () => {
    const { charge } = await donate()
    const before = await events()
    const time = now.toISOString().replace(/\.\d+/, '')
    const good = JSON.parse(stripeDelivery('settled', charge, { at: now }).payload)
    const notification = (inside: string, at = time) =>
      `<notification><timestamp type="datetime">${at}</timestamp><kind>transaction_settled</kind>${inside}</notification>`
    const signed = {
      stripe: [
        ...['null', '[]', '1', '{}'],
        ...[{ id: 'evt\0' }, { type: null }, { created: 1e300 }, { created: 'now' }, { livemode: 1 }, { data: null }],
        ...[{ data: { object: { ...good.data.object, id: 'pi\0' } } }, { data: { object: null } }],
        { data: { object: { ...good.data.object, metadata: { reference: 'a\0' } } } },
        { data: { object: { ...good.data.object, metadata: { reference: 'x'.repeat(100_000) } } } },
      ].map((body) =>
        signedByStripe(typeof body === 'string' ? body : JSON.stringify({ ...good, ...body }), now.getTime() / 1000),
      ),
      braintree: [
        ...['<a/>', '<notification/>', '<notification>text</notification>', 'null'],
        ...['+275000-01-01T00:00:00Z', 'never', '1e300'].map((at) => notification('', at)),
        notification('<subject/>'),
        notification('<subject><transaction><id>a&#0;b</id></transaction></subject>'),
        notification('<subject><transaction><id><b>1</b></id></transaction></subject>'),
        notification(
          `<subject><transaction ${Array.from({ length: 12_000 }, (_, at) => `a${at}=""`).join(' ')}/></subject>`,
        ),
      ].map((xml) => signedByBraintree(xml)),
    }[name] as readonly Delivery[]
    for (const [at, delivery] of signed.entries()) {
      const { status, text } = await post(delivery)
      expect([at, status, text], text).toEqual([at, status === 200 ? 200 : 400, text])
    }
    const after = await events()
    expect(after.slice(before.length).map((event) => (event as { outcome: string }).outcome)).toEqual(
      after.slice(before.length).map(() => 'no effect'),
    )
  })

  it.runIf(name === 'stripe')('are refused when their time is in the future, or none', async () => {
    const { charge } = await donate()
    const { payload } = stripeDelivery('settled', charge, { at: now })
    const seconds = now.getTime() / 1000
    for (const time of [seconds + 301, 'NaN', `${seconds}.5`, '1e9', '', `${seconds},t=${seconds}`]) {
      expect(await post(signedByStripe(payload, time)), String(time)).toMatchObject({ status: 400 })
    }
    expect(await post(signedByStripe(payload, seconds + 300))).toMatchObject({ status: 200 })
    await handle()
  })

  it('of other kinds are acknowledged and not handled', async () => {
    const { charge } = await donate()
    expect(await send('other', charge)).toMatchObject({ status: 200, outcome: 'ignored' })
    expect(await newest()).toMatchObject({ state: 'ignored', outcome: 'no effect' })
    expect(await handle()).toEqual({ done: 0, later: 0, failed: 0 })
  })

  it('about charges that no donation here has change nothing', async () => {
    const id = ledger.nextId('pi_')
    const stray = ledger.charge({ id, reference: randomUUID(), amount: 4000, currency: 'USD' })
    const before = await totals()
    stray.failed = true
    expect(await send('failed', stray)).toMatchObject({ outcome: 'stored' })
    expect(await handle()).toMatchObject({ done: 1 })
    expect(await newest()).toMatchObject({ state: 'done', outcome: 'unknown' })
    expect(await totals()).toEqual(before)
    expect(await paymentWarnings(store.db, gateway)).toEqual([
      '1 webhooks were about charges that no donation here has',
    ])
  })

  it('about charges of another amount are left to a person', async () => {
    const { id, charge } = await donate()
    const before = await totals()
    charge.amount = toCents('41')
    await send('settled', charge)
    await handle()
    expect(await newest()).toMatchObject({ state: 'done', outcome: 'differs' })
    expect(await totals()).toEqual(before)
    const difference = `donation ${id} differs: the processor charged 41.00 USD, the books say 40.00 USD; then run giving payments follow ${id}`
    expect(await needs()).toEqual([difference])
    charge.amount = toCents('40')
    expect(await followAndClose(payments, charge.id)).toBe('agrees')
    expect(await needs()).toEqual([])
  })

  it('wait for a processor that does not answer, and for a person after two days and a half', async () => {
    const { charge, reference } = await donate()
    ledger.refundInConsole(reference, '40')
    await send('refunded', charge)
    ledger.beforeAnswer = async () => {
      throw new Error('cut')
    }
    const before = await totals()
    expect(await handle()).toEqual({ done: 0, later: 1, failed: 0 })
    expect(await handle()).toEqual({ done: 0, later: 1, failed: 0 })
    expect(await handle()).toEqual({ done: 0, later: 0, failed: 0 })
    await store.db.query(`update webhook_event set tries = 13 where charge_id = $1`, [charge.id])
    later(6 * 60)
    expect(await handle()).toEqual({ done: 0, later: 0, failed: 1 })
    expect(await needs()).toEqual(['1 webhooks could not be handled: giving payments webhooks --state failed'])
    expect(await totals()).toEqual(before)
    ledger.beforeAnswer = async () => undefined
    expect(await followAndClose(payments, charge.id)).toBe('corrected')
    expect(await needs()).toEqual([])
    expect(await totals()).toEqual({ funding: (before?.funding ?? 0) - 40, count: (before?.count ?? 0) - 1 })
  })

  it('that are too large or no event are refused with the reason', async () => {
    const large = await post({ headers: { 'content-type': 'application/json' }, payload: 'x'.repeat(262_145) })
    expect(large).toMatchObject({ status: 400, text: expect.stringContaining('the webhook is larger than 256 KB') })
    const get = await app.inject({ url: address })
    expect(get.statusCode).toBe(405)
  })

  it('are taken over HTTPS only, and leave nothing of the donor', async () => {
    const { charge } = await donate()
    const { headers, payload } = deliver('settled', charge, { at: now })
    const plain = await app.inject({ method: 'POST', url: address, payload, headers, remoteAddress: '203.0.113.7' })
    expect(plain.statusCode).toBe(403)
    expect(await everyRow(store.db)).not.toMatch(/Xanthippe|Quillfeather|xanthippe@/)
  })

  it('are served at the address of the chosen processor only', async () => {
    const { charge } = await donate()
    const elsewhere = name === 'stripe' ? 'braintree' : 'stripe'
    const { headers, payload } = deliver('settled', charge, { at: now })
    const other = await app.inject({ method: 'POST', url: `/api/public/payments/${elsewhere}`, payload, headers })
    expect(other.statusCode).toBe(404)
    const { app: sandboxed } = await testApi(store, { store })
    const none = await sandboxed.inject({ method: 'POST', url: address, payload, headers })
    expect(none.statusCode).toBe(404)
    const { post: described } = (await app.inject('/api/openapi.json')).json().paths['/api/public/payments/{gateway}']
    expect(described.summary).toBe('Receive an event of the payment processor')
    expect(Object.keys(described.requestBody.content)).toContain(headers['content-type'])
    expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['200', '400', '403', '503']))
    expect((await sandboxed.inject('/api/openapi.json')).json().paths['/api/public/payments/{gateway}']).toBeUndefined()
  })

  if (name === 'stripe') {
    it('of real money touch no test books, and need the secret', async () => {
      const { charge } = await donate()
      charge.failed = true
      const before = await totals()
      expect(await send('failed', charge, { live: true })).toMatchObject({ status: 200, outcome: 'ignored' })
      expect(await newest()).toMatchObject({ state: 'ignored', outcome: 'other mode' })
      expect(await handle()).toMatchObject({ done: 0 })
      expect(await totals()).toEqual(before)
      const { webhookSecret: _, ...keys } = stripeKeys
      const silent = createStripeGateway({ ...keys, timeoutMs, address: processor.address })
      expect(silent.webhooks).toBeUndefined()
      expect(await paymentWarnings(store.db, silent)).toContain(
        'webhooks of the payment processor are not received: STRIPE_WEBHOOK_SECRET is not set',
      )
    })

    it('that a killed worker had begun are handled by the next', async () => {
      now = new Date()
      const { charge, reference } = await donate()
      const before = await totals()
      ledger.refundInConsole(reference, '40')
      await send('refunded', charge)
      const { host, port, caFile } = processor.address
      const child = await forkStripped('test/support/processes/webhook-process.ts', [url, host, port, caFile])
      ledger.beforeAnswer = async () => void child.kill('SIGKILL')
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
      ledger.beforeAnswer = async () => undefined
      expect(await newest()).toMatchObject({ state: 'due' })
      expect(await totals()).toEqual(before)
      later(2)
      expect(await handleDueWebhooks(payments)).toMatchObject({ done: 1 })
      expect(await totals()).toEqual({ funding: (before?.funding ?? 0) - 40, count: (before?.count ?? 0) - 1 })
      // Killed after the books were written, before the event was closed: the charge is followed again.
      await store.db.query(`update webhook_event set state = 'due', next_at = $1 where charge_id = $2`, [
        now,
        charge.id,
      ])
      expect(await handleDueWebhooks(payments)).toMatchObject({ done: 1 })
      expect(await newest()).toMatchObject({ outcome: 'agrees' })
      await agree()
    })
  }
})
