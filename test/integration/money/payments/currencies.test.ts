import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import type { CurrencyCode, Decimal } from '../../../../src/kernel/money.js'
import { adoptCharges } from '../../../../src/money/adopt-charges.js'
import { followCharge } from '../../../../src/money/follow-charge.js'
import { reconcileDays } from '../../../../src/money/reconcile.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { settledShare } from '../../../../src/money/settled-share.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { findDonationHistory } from '../../../../src/money/sql/donations.js'
import { removeTestDonations } from '../../../../src/money/sql/test-donations.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { limits, processors, timeoutMs } from '../../../support/money/processors.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { someOf } from '../../../support/runner/some-of.js'
import { testDatabase } from '../../../support/store/database.js'

const never = new AbortController().signal

const some = someOf(Object.entries(processors), 2)

describe.each(some)('donations in three currencies at %s', inOrder, async (name, start) => {
  const { store } = await testDatabase()
  const [processor, real] = await start()
  afterAll(() => processor.close())
  const { ledger } = processor
  let now = new Date('2026-10-05T08:00:00Z')
  ledger.now = () => now.getTime()
  const payments = testPayments(store, {
    gateway: quick(real),
    timeoutMs,
    limits,
    clock: () => now,
    mailsReceipts: true,
  })
  const keyId = await insertDonationTargets(store.db, [2045])

  const send = (changes: Record<string, unknown>, transactionId: string = randomUUID()) => {
    const request = donationRequest({ transactionId, ...changes }, { paymentGateway: name }, undefined, limits)
    return submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
  }
  const newest = async () => {
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    const history = await findDonationHistory(store.db, rows[0]?.id ?? 0)
    if (!history) throw new Error('there is no donation')
    return history.donation
  }
  /** The processor settles what it has charged, as it does once a day; then the settlement looks. */
  const settleAll = async () => {
    for (const charge of ledger.approved()) if (!charge.settled) ledger.settle(charge)
    now = new Date(now.getTime() + 600_000)
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
    await store.db.query(`update donation_refund set lease_until = now() - interval '1 s' where done_at is null`)
    return await settleOpen(payments)
  }
  const months = async () => {
    const { rows } = await store.db.query<{ kind: string; amount: string; currency: string }>(
      `select kind, sum(amount)::numeric(18, 2)::text as amount, currency from donation_month where source = 'local'
        group by kind, currency order by kind`,
    )
    return rows.map(({ kind, amount, currency }) => `${kind} ${amount} ${currency}`)
  }
  const agree = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])

  it('are in the books with what the processor settled for them, once it has said so', async () => {
    const early = await send({ amount: '40.00', currencyCode: 'EUR', addon: { amount: '10.00' } })
    // Braintree says it when it pays out.
    expect(early.settledAt === undefined).toBe(name === 'braintree')
    if (name === 'braintree') {
      expect(await newest()).toMatchObject({ status: 'received', waitsFor: 'processor' })
      expect(early.totals.funding).toBe('1250.000')
    }
    await settleAll()
    expect(await newest()).toMatchObject({
      ...{ status: 'settled', amount: '40.000', addon: '10.000', currency: 'EUR', fee: '2.200' },
      settled: { amount: '44.000', addon: '11.000', currency: 'USD' },
    })
    await send({ amount: '5000', currencyCode: 'JPY' })
    await send({ amount: '25.00' })
    await settleAll()
    expect(await months()).toEqual(['fee 5.08 USD', 'gift 101.50 USD'])
    const { rows } = await store.db.query<{ n: number }>('select count(*)::int as n from receipt_mail')
    expect(rows[0]?.n).toBe(3)
    await agree()
  })

  it('are charged once, whatever is repeated', async () => {
    const [before, transactionId] = [ledger.charges.length, randomUUID()]
    const changes = { amount: '12.00', currencyCode: 'EUR' }
    await send(changes, transactionId)
    await send(changes, transactionId)
    await settleAll()
    const { receiptNumber } = await send(changes, transactionId)
    expect(receiptNumber).toBe((await newest()).receiptNumber)
    await expect(send({ amount: '12.00' }, transactionId)).rejects.toMatchObject({ code: 'request-invalid' })
    expect(ledger.charges.length).toBe(before + 1)
    await agree()
  })

  it('go back in the same share, and leave nothing when all of them went back', async () => {
    const funding = async () =>
      (await store.db.query<{ sum: string }>('select funding::text as sum from project where id = 2045')).rows[0]?.sum
    const before = await funding()
    await send({ amount: '10.01', currencyCode: 'EUR' })
    await settleAll()
    const { id, settled } = await newest()
    // What the currencies have become worth since then changes nothing of that.
    ledger.rates.set('EUR', 2)
    const refund = (amount?: string) =>
      refundDonation(payments, { donationId: id, kind: 'refund', amount: amount as Decimal | undefined })
    await refund('3.33')
    await refund('3.33')
    expect(Number(await funding())).toBeCloseTo(Number(before) + Number(settled?.amount) - 7.33, 6)
    await refund()
    expect(await funding()).toBe(before)
    ledger.rates.set('EUR', 1.1)
    await agree()
    const span = { from: '2026-10-05', to: '2026-10-06' } as unknown as Parameters<typeof reconcileDays>[1]
    expect((await reconcileDays(payments, span, never)).differences).toEqual([])
  })

  it('follow what the processor settles for them later, as long as nothing went back', async () => {
    const funding = async () =>
      Number((await store.db.query<{ sum: number }>('select funding::float8 as sum from project')).rows[0]?.sum)
    await send({ amount: '20.00', currencyCode: 'EUR', addon: { amount: '10.00' } })
    await settleAll()
    const [before, { id, reference }] = [await funding(), await newest()]
    const follow = () => followCharge(payments, ledger.only(reference ?? '').id)
    await follow()
    ledger.rates.set('EUR', 1.2)
    expect(await follow()).toBe('corrected')
    expect(await follow()).toBe('agrees')
    expect(await newest()).toMatchObject({ fee: '1.200', settled: { amount: '24.000', addon: '12.000' } })
    expect((await funding()) - before).toBeCloseTo(2, 6)
    const history = await findDonationHistory(store.db, id)
    expect(history?.events.at(-1)?.details).toEqual({
      difference: 'the processor settled 36.00 USD, the books said 33.00 USD',
    })
    await agree()
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: '5' as Decimal })
    now = new Date(now.getTime() + 600_000)
    ledger.rates.set('EUR', 1.1)
    expect(await follow()).toBe('differs')
    expect(payments.warnings).toContain('a charge differs from the books: a person must look')
    expect(await newest()).toMatchObject({ settled: { amount: '24.000' } })
    // For the sum of what was settled, in the case about the published sums.
    ledger.rates.set('EUR', 1.2)
    expect(await follow()).toBe('agrees')
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: undefined })
    ledger.rates.set('EUR', 1.1)
    await agree()
  })

  it('wait while the processor has not said what it settled, and are adopted with it', async () => {
    ledger.rates.delete('EUR')
    expect(await send({ amount: '20.00', currencyCode: 'EUR' })).toMatchObject({ receivedAt: now })
    await settleAll()
    const { id, reference } = await newest()
    expect(await newest()).toMatchObject({ status: 'received', waitsFor: 'processor' })
    // The books lose it.
    await store.db.query('delete from donation where id = $1', [id])
    const span = { from: '2026-10-05', to: '2026-10-06' } as unknown as Parameters<typeof reconcileDays>[1]
    const adopt = async () =>
      await adoptCharges(payments, (await reconcileDays(payments, span, never)).differences, never)
    expect(await adopt()).toMatchObject([{ left: 'it is in EUR, and nothing has settled for it in USD' }])
    ledger.rates.set('EUR', 1.1)
    expect(await adopt()).toMatchObject([{ donationId: expect.any(Number) }])
    expect(await newest()).toMatchObject({ reference, fee: '1.100', settled: { amount: '22.000' } })
    await agree()
  })

  it('are published in the one currency of the platform', async () => {
    const publisher = await testPublisher(store)
    publisher.now = new Date('2026-11-02T08:00:00Z')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const text = await publisher.read('/iati/activities.xml')
    const values = [...text.matchAll(/<transaction ref="((?:don|ref)[^"]+)">.*?<value [^>]*>([^<]+)<\/value>/gs)]
    const sum = values.reduce((cents, [, , value]) => cents + Math.round(Number(value) * 100), 0)
    const held = ledger.approved().reduce((cents, charge) => {
      return ledger.left(charge) === 0 ? cents : cents + (ledger.settledCents(charge) ?? 0)
    }, 0)
    // The tip of the first is the platform's.
    expect(sum).toBe(held - 1100)
    expect(new Set(values.map(([, ref]) => ref?.slice(-3)))).toEqual(new Set(['USD']))
  })

  it('leave no rest when test donations are taken out', async () => {
    await store.transaction((db) => removeTestDonations(db))
    const { rows } = await store.db.query('select funding::text, number_of_donations as n from project where id = 2045')
    expect(rows).toEqual([{ funding: '1250.000', n: 37 }])
    expect(await months()).toEqual([])
    await agree()
  })
})

describe('what a settled charge brings into the books', { shuffle: false }, () => {
  const books = { currency: 'USD' as CurrencyCode, feePercent: '5' as Decimal }
  const charge = (amount: string, currency: string, addon = '0') => ({
    ...{ amount: amount as Decimal, currency: currency as CurrencyCode },
    notes: { projectId: 1, addon: addon as Decimal },
  })
  const settled = (amount: string, currency = 'USD') => ({ amount: amount as Decimal, currency })

  it('is divided like the charge, and no cent of it is lost', () => {
    expect(settledShare(books, charge('30', 'EUR', '10'), settled('33.34'))).toEqual({
      ...{ amount: '22.23', addon: '11.11', fee: '1.11', currency: 'USD' },
    })
  })

  it('is the charge itself in the same currency, and nothing that is not known or in another', () => {
    expect(settledShare(books, charge('30', 'USD'), settled('31'))).toBeUndefined()
    expect(settledShare(books, charge('30', 'EUR'), undefined)).toBe('unknown')
    expect(settledShare(books, charge('30', 'EUR'), settled('30', 'EUR'))).toBe('foreign')
  })
})
