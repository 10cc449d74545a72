import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { readBraintreeCharge, type Transaction } from '../../../src/extensions/braintree/braintree-charge-state.js'
import { listBraintreeEntries } from '../../../src/extensions/braintree/braintree-entries.js'
import { fromStripeAmount, toStripeAmount } from '../../../src/extensions/stripe/stripe-amounts.js'
import { readStripeCharge } from '../../../src/extensions/stripe/stripe-charge-state.js'
import { listStripeEntries } from '../../../src/extensions/stripe/stripe-entries.js'
import type { CurrencyCode, Decimal } from '../../../src/kernel/money.js'
import { chargedOf, chargeOf, type DonationRequest } from '../../../src/money/donation-request.js'
import { declineOf } from '../../../src/money/gateways/declines.js'

const amount = (text: string) => text as Decimal
const { signal } = new AbortController()

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

it('a decline has the text of its code, or one for all others', () => {
  expect(declineOf(2001)).toEqual({ code: 2001, text: 'Insufficient Funds' })
  expect(declineOf(2999)).toEqual({ code: 2999, text: 'Processor Declined' })
})

describe('a charge', () => {
  const request: DonationRequest = {
    ...{ refcode: 'r', email: 'a@b.example', amount: amount('40.00'), currency: 'USD' as CurrencyCode, projectId: 7 },
    ...{ newsletterPlatform: false, newsletterCharity: false, payer: { firstname: 'A' } },
    payment: { gateway: 'braintree', gatewayKey: 'k', method: { kind: 'nonce', nonce: 'n' } },
  }
  const least = {
    ...{ reference: 'ours', amount: '40.00', currency: 'USD', gatewayKey: 'k', method: { kind: 'nonce', nonce: 'n' } },
    ...{ attempt: 1, again: false, mayAsk: false, notes: { projectId: 7, addon: '0', refcode: 'r' } },
    payer: { firstname: 'A', email: 'a@b.example' },
  }

  it('is of the donation and the tip', () => {
    expect(chargedOf(request)).toBe('40.00')
    expect(chargedOf({ ...request, addon: amount('2.5') })).toBe('42.50')
  })

  it('has what the request says, and no member for what it does not say', () => {
    expect(chargeOf(request, 'ours')).toStrictEqual(least)
    const more = { deviceData: 'd', threeDSecureAuthenticationId: 't' }
    const of = { ipAddress: '::1', userAgent: 'u' }
    const payment = { ...(request.payment as NonNullable<DonationRequest['payment']>), ...more }
    expect(chargeOf({ ...request, ...of, payment }, 'ours')).toStrictEqual({
      ...least,
      ...more,
      payer: { ...least.payer, ...of },
    })
  })

  it('carries a refcode that cannot be of a person, and no other', () => {
    const carried = (refcode: string) => chargeOf({ ...request, refcode }, 'ours').notes?.refcode
    expect(carried('spring-drive_2026')).toBe('spring-drive_2026')
    for (const other of ['lina@example.org', 'Lina Okoro', 'a.b', 'x'.repeat(65)])
      expect(carried(other)).toBeUndefined()
  })

  it('is made for a request of version 2 only', () => {
    const { payment: _none, ...version1 } = request
    expect(() => chargeOf(version1, 'ours')).toThrow('only a request of version 2 can be charged')
  })
})

describe("Stripe's numbers", () => {
  it.each([
    ['40.01', 'USD', 4001],
    ['40.00', 'USD', 4000],
    ['40', 'JPY', 40],
    ['40', 'UGX', 4000],
    ['40', 'ISK', 4000],
    ['40', 'MGA', 40],
    ['1.230', 'KWD', 1230],
  ])('of %s %s is %i', (of, currency, number) => {
    expect(toStripeAmount(amount(of), currency as CurrencyCode)).toBe(number)
    const back = fromStripeAmount({ amount: number, currency: currency.toLowerCase() })
    expect([Number(back.amount), back.currency]).toEqual([Number(of), currency])
  })

  it.each([
    ['40.001', 'USD'],
    ['40.00001', 'USD'],
    ['40.5', 'JPY'],
    ['40.5', 'MGA'],
    ['1.234', 'KWD'],
  ])('have none for %s %s', (of, currency) => {
    expect(() => toStripeAmount(amount(of), currency as CurrencyCode)).toThrow(`Stripe charges no ${of} ${currency}`)
  })
})

describe('a sale of Braintree', () => {
  const sale: Transaction = {
    ...{ id: 's1', type: 'sale', amount: '40.00', status: 'settled', orderId: 'ours', currencyIsoCode: 'USD' },
    createdAt: '2026-11-21T09:15:30Z',
  }
  const read = (changes: Partial<Transaction> = {}, refunds: readonly Transaction[] = []) =>
    readBraintreeCharge(
      async (id) => (id === 's1' ? { ...sale, ...changes } : refunds.find((one) => one.id === id)),
      's1',
    )

  it('is none for another kind of transaction, or without one', async () => {
    expect(await read({ type: 'credit' })).toBeUndefined()
    expect(await readBraintreeCharge(async () => undefined, 's1')).toBeUndefined()
  })

  it('is a charge', async () => {
    const money = { amount: '40.00', currency: 'USD', refunds: [], disputes: [], notes: undefined }
    const charge = { chargeId: 's1', progress: 'settled', at: new Date(sale.createdAt), ...money }
    expect(await read()).toEqual({ ...charge, reference: 'ours' })
    const reference = '0123456789abcdef0123456789abcdef'
    expect(await read({ orderId: `${reference}.2045.250.spring-drive` })).toEqual({
      ...{ ...charge, reference, notes: { projectId: 2045, addon: '2.50', refcode: 'spring-drive' } },
    })
    // Of another system that charges the same account.
    expect(await read({ orderId: 'A.2045.250' })).toEqual({ ...charge, reference: 'A.2045.250' })
    expect(await read({ orderId: '' })).toEqual({ ...charge, reference: undefined })
  })

  it.each([
    ['settled', 'settled'],
    ['voided', 'voided'],
    ['authorization_expired', 'failed'],
    ['processor_declined', 'failed'],
    ['gateway_rejected', 'failed'],
    ['failed', 'failed'],
    ['settlement_declined', 'failed'],
    ['settling', 'pending'],
    ['authorized', 'pending'],
  ] as const)('that is %s has %s', async (status, progress) => {
    expect((await read({ status }))?.progress).toBe(progress)
  })

  it('has the refunds that are made or being made', async () => {
    const refund = (id: string, changes: Partial<Transaction> = {}): Transaction => ({
      ...{ ...sale, id, type: 'credit', amount: '5.00', orderId: `our ${id}` },
      ...changes,
    })
    const found = [
      refund('r1'),
      refund('r2', { orderId: '', status: 'settling' }),
      refund('r3', { status: 'voided' }),
      refund('r4', { status: 'processor_declined' }),
    ]
    const charge = await read({ refundIds: ['r1', 'r2', 'r3', 'r4', 'lost'] }, found)
    expect(charge?.refunds).toEqual([
      { id: 'r1', reference: 'our r1', amount: '5.00' },
      { id: 'r2', reference: undefined, amount: '5.00' },
    ])
  })

  it('is found by one of its refunds', async () => {
    const refund = { ...sale, id: 'r1', type: 'credit', refundedTransactionId: 's1' }
    const found = await readBraintreeCharge(async (id) => [sale, refund].find((one) => one.id === id), 'r1')
    expect(found?.chargeId).toBe('s1')
  })

  it.each([
    ['lost', 'lost'],
    ['accepted', 'lost'],
    ['auto_accepted', 'lost'],
    ['expired', 'lost'],
    ['won', 'won'],
    ['open', 'open'],
    ['disputed', 'open'],
  ])('has a dispute that is %s as %s', async (status, expected) => {
    const disputes = [
      { id: 'd1', status, amount: '7.00' },
      { id: 'd2', kind: 'chargeback', status, amount: '7.00', amountDisputed: '6.00' },
      { id: 'd3', kind: 'retrieval', status, amount: '7.00' },
    ]
    expect((await read({ disputes }))?.disputes).toEqual([
      { id: 'd1', amount: '7.00', status: expected },
      { id: 'd2', amount: '6.00', status: expected },
    ])
  })

  it.each([{ amount: '' }, { amount: undefined as unknown as string }, { disputes: [{ id: 'd', status: 'open' }] }])(
    'is unclear without an amount: %o',
    async (changes) => {
      await expect(read(changes)).rejects.toMatchObject({
        name: 'UnclearAnswer',
        message: 'Braintree sent a transaction or a dispute without an amount',
      })
    },
  )
})

describe('the entries of Braintree', () => {
  const span = { from: new Date('2026-10-01T00:00:00Z'), until: new Date('2026-10-02T00:00:00Z') }
  const settled = (timestamp: string) => [
    { status: 'submitted_for_settlement', timestamp: '2026-09-01T00:00:00Z' },
    { status: 'settled', timestamp },
  ]
  const listed = (id: string, changes: object = {}) => ({
    ...{ id, type: 'sale', amount: '40.00', currencyIsoCode: 'USD', orderId: 'ours' },
    ...{ statusHistory: settled('2026-10-01T10:00:00Z'), ...changes },
  })
  const list = (transactions: readonly ReturnType<typeof listed>[], disputed: string[] = []) => {
    const asked: object[] = []
    const entries = listBraintreeEntries(
      {
        search: async (criteria) => {
          asked.push(criteria)
          return 'disputeDate' in criteria ? disputed : transactions.map(({ id }) => id)
        },
        fetch: async (ids) => {
          asked.push(ids)
          return transactions.filter(({ id }) => ids.includes(id))
        },
      },
      span,
      signal,
    )
    return { asked, entries: all(entries) }
  }
  const entry = { amount: '40.00', currency: 'USD', settledAt: new Date('2026-10-01T10:00:00Z') }

  it('are sales, refunds and disputes of these days', async () => {
    const found = list(
      [
        listed('s1'),
        listed('s2', { orderId: '' }),
        listed('r1', { type: 'credit', refundedTransactionId: 's1' }),
        listed('r2', { type: 'credit', refundedTransactionId: null }),
        listed('early', { statusHistory: settled('2026-09-30T23:59:59Z') }),
        listed('first', { statusHistory: settled('2026-10-01T00:00:00Z') }),
        listed('late', { statusHistory: settled('2026-10-02T00:00:00Z') }),
      ],
      ['s9'],
    )
    expect(await found.entries).toEqual([
      { ...entry, kind: 'charge', id: 's1', chargeId: 's1', reference: 'ours' },
      { ...entry, kind: 'charge', id: 's2', chargeId: 's2', reference: undefined },
      { ...entry, kind: 'refund', id: 'r1', chargeId: 's1', reference: 'ours' },
      { ...entry, kind: 'refund', id: 'r2', chargeId: 'r2', reference: 'ours' },
      { ...entry, kind: 'charge', id: 'first', chargeId: 'first', reference: 'ours', settledAt: span.from },
      { kind: 'changed', chargeId: 's9' },
    ])
    expect(found.asked[0]).toEqual({ settledAt: { min: '2026-10-01T00:00:00.000Z', max: '2026-10-02T00:00:00.000Z' } })
    expect(found.asked.at(-1)).toEqual({ disputeDate: { min: '2026-10-01', max: '2026-10-02' } })
  })

  it('are fetched in pages of fifty', async () => {
    const { entries, asked } = list(Array.from({ length: 100 }, (_, index) => listed(`s${index}`)))
    expect(await entries).toHaveLength(100)
    expect(asked.filter((one) => Array.isArray(one)).map((ids) => (ids as string[]).length)).toEqual([50, 50])
  })

  it('are searched in halves where one search would not show all', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `${index}`)
    const spans: string[] = []
    const search = async (criteria: { settledAt?: { min: string; max: string } }) => {
      const { min = '', max = '' } = criteria.settledAt ?? {}
      spans.push(`${min.slice(8, 16)} ${max.slice(8, 16)}`)
      return spans.length === 1 ? ids : []
    }
    await all(listBraintreeEntries({ search, fetch: async () => [] }, span, signal))
    expect(spans.slice(0, 3)).toEqual(['01T00:00 02T00:00', '01T00:00 01T12:00', '01T12:00 02T00:00'])
    await expect(
      all(listBraintreeEntries({ search: async () => ids, fetch: async () => [] }, span, signal)),
    ).rejects.toMatchObject({
      name: 'UnclearAnswer',
      message: 'Braintree settled more than 10000 transactions in one second',
    })
  })

  it('stop when they are not wanted any more', async () => {
    const stopped = listBraintreeEntries(
      { search: async () => ['s1'], fetch: async () => [] },
      span,
      AbortSignal.abort(new Error('stop')),
    )
    await expect(all(stopped)).rejects.toThrow('stop')
  })

  it.each([{ amount: 'x' }, { statusHistory: [] }, { statusHistory: undefined }])(
    'are unclear without %o',
    async (changes) => {
      await expect(list([listed('s1', changes)]).entries).rejects.toMatchObject({
        name: 'UnclearAnswer',
        message: 'Braintree listed the transaction s1 without its amount or the time of its settlement',
      })
    },
  )
})

describe('the entries of Stripe', () => {
  const span = { from: new Date('2026-10-01T00:00:00.500Z'), until: new Date('2026-10-02T00:00:00.500Z') }
  const settledAt = new Date('2026-10-01T10:00:00Z')
  const about = { id: 'ch', amount: 4000, currency: 'usd', payment_intent: 'pi', metadata: { reference: 'ours' } }
  const list = async (type: string, source: unknown) => {
    const asked: unknown[] = []
    const stripe = {
      balanceTransactions: {
        async *list(query: unknown) {
          asked.push(query)
          yield { id: 'txn', type, source, created: settledAt.getTime() / 1000 }
        },
      },
    }
    return { asked, entries: await all(listStripeEntries(stripe as unknown as Stripe, span, signal)) }
  }
  const money = { chargeId: 'pi', amount: '40.00', currency: 'USD', settledAt }
  const charge = { ...money, kind: 'charge', id: 'pi', reference: 'ours' }
  const refund = { ...money, kind: 'refund', id: 'ch', reference: 'ours' }
  const failure = { ...money, kind: 'refund', id: 'txn', reference: undefined }
  const changed = { kind: 'changed', chargeId: 'pi' }

  it.each([
    ['charge', about, [charge]],
    ['payment', { ...about, payment_intent: { id: 'pi' } }, [charge]],
    ['charge', { ...about, payment_intent: null }, [{ ...charge, id: 'ch', chargeId: 'ch' }]],
    ['charge', { ...about, metadata: null }, [{ ...charge, reference: undefined }]],
    ['refund', about, [refund]],
    ['payment_refund', about, [refund]],
    ['payment_failure_refund', about, [failure, changed]],
    ['payment_reversal', about, [failure, changed]],
    ['adjustment', about, [changed]],
    ['refund_failure', about, [changed]],
    ['adjustment', { ...about, payment_intent: null }, []],
    ['adjustment', null, []],
    ['payout', null, []],
    ['payout', about, []],
  ])('of a %s about %j are %j', async (type, source, expected) => {
    expect((await list(type, source)).entries).toEqual(expected)
  })

  it('are asked for with their sources, from whole seconds', async () => {
    expect((await list('charge', about)).asked).toEqual([
      {
        created: { gte: Date.parse('2026-10-01T00:00:01Z') / 1000, lt: Date.parse('2026-10-02T00:00:01Z') / 1000 },
        limit: 100,
        expand: ['data.source'],
      },
    ])
  })

  it.each([
    ['charge', null],
    ['charge', 'ch'],
    ['adjustment', 'ch'],
  ])('are unclear for a %s with the source %j', async (type, source) => {
    await expect(list(type, source)).rejects.toMatchObject({
      name: 'UnclearAnswer',
      message: `Stripe listed a ${type} without its source`,
    })
  })
})

describe('a PaymentIntent of Stripe', () => {
  const intent = {
    id: 'pi',
    amount: 4000,
    amount_received: 4000,
    currency: 'usd',
    created: 1,
    metadata: { reference: 'ours' },
  }
  const read = async ({ status = 'succeeded', refunds = [] as object[], disputes = [] as object[] }) => {
    const asked: unknown[] = []
    const listOf = (data: object[]) => ({
      list: async (query: unknown) => {
        asked.push(query)
        return { data }
      },
    })
    const stripe = {
      ...{ paymentIntents: { retrieve: async () => ({ ...intent, status }) } },
      ...{ refunds: listOf(refunds), disputes: listOf(disputes) },
    }
    return { asked, charge: await readStripeCharge(stripe as unknown as Stripe, 'pi') }
  }

  it.each([
    ['succeeded', 'settled'],
    ['processing', 'pending'],
    ['requires_capture', 'pending'],
    ['canceled', 'voided'],
    ['requires_payment_method', 'failed'],
  ])('that is %s is a charge that is %s', async (status, progress) => {
    const { charge, asked } = await read({ status })
    expect(charge).toEqual({
      ...{ chargeId: 'pi', reference: 'ours', amount: '40.00', currency: 'USD', progress },
      ...{ refunds: [], disputes: [], at: new Date(1000), notes: undefined },
    })
    expect(asked).toEqual([1, 2].map(() => ({ payment_intent: 'pi', limit: 100 })))
  })

  it('has the refunds that did not fail', async () => {
    const refund = (id: string, status: string, metadata: object | null) => {
      return { id, status, metadata, amount: 500, currency: 'usd' }
    }
    const refunds = [
      refund('r1', 'succeeded', { reference: 'mine' }),
      refund('r2', 'pending', null),
      refund('r3', 'failed', null),
      refund('r4', 'canceled', null),
    ]
    expect((await read({ refunds })).charge?.refunds).toEqual([
      { id: 'r1', reference: 'mine', amount: '5.00' },
      { id: 'r2', reference: undefined, amount: '5.00' },
    ])
  })

  it.each([
    ['lost', 'lost'],
    ['won', 'won'],
    ['prevented', 'won'],
    ['warning_closed', 'won'],
    ['under_review', 'open'],
  ])('has a dispute that is %s as %s, in the currency of the charge', async (status, expected) => {
    const disputes = [
      { id: 'd1', status, amount: 700, currency: 'usd' },
      { id: 'd2', status, amount: 90_000, currency: 'kes' },
    ]
    expect((await read({ disputes })).charge?.disputes).toEqual([
      { id: 'd1', amount: '7.00', status: expected },
      { id: 'd2', amount: '40.00', status: expected },
    ])
  })

  it('is none where Stripe knows no such id, and an error for everything else', async () => {
    const failing = (error: Error) =>
      readStripeCharge(
        {
          paymentIntents: {
            retrieve: async () => {
              throw error
            },
          },
        } as unknown as Stripe,
        'pi',
      )
    const invalid = (code: string) =>
      new Stripe.errors.StripeInvalidRequestError({ type: 'invalid_request_error', message: 'no', code })
    const other = invalid('parameter_invalid_empty')
    const missing = Object.assign(new Error('no'), { code: 'resource_missing' })
    expect(await failing(invalid('resource_missing'))).toBeUndefined()
    await expect(failing(other)).rejects.toBe(other)
    await expect(failing(missing)).rejects.toBe(missing)
  })
})
