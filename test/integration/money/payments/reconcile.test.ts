import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { nightlySpan, reconcileDays, reconciliationNeeds } from '../../../../src/money/reconcile.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { acceptDifferences, sumDifferences } from '../../../../src/money/sql/reconciliation.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { openConsole } from '../../../support/api/console.js'
import { commandStore } from '../../../support/commands/command-store.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { processors, timeoutMs } from '../../../support/money/processors.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { someOf } from '../../../support/runner/some-of.js'
import type { LedgerCharge } from '../../../support/servers/processor-server.js'
import { testDatabase } from '../../../support/store/database.js'

const day = '2026-11-16' as IsoDate
const noon = new Date(`${day}T12:00:00Z`)

describe.each(someOf(['braintree', 'stripe'] as const, 2))('the settled payments of %s', inOrder, async (name) => {
  const { store } = await testDatabase()
  const [processor, real] = await processors[name]()
  afterAll(() => processor.close())
  const { ledger } = processor
  let now = noon
  const gateway = quick(real)
  const payments = testPayments(store, { gateway, timeoutMs, clock: () => now })
  const keyId = await insertDonationTargets(store.db, [7])

  const { signal } = new AbortController()
  const settle = (charge: LedgerCharge, at = new Date(noon.getTime() + 3_600_000)) => {
    ledger.settle(charge, at.getTime())
    Object.assign(charge, { at: at.getTime() })
    for (const refund of charge.refunds) refund.at = at.getTime()
  }
  /** A donation at noon, its charge, and its id. */
  const give = async (amount: number) => {
    now = noon
    const request = donationRequest({ project: { id: 7 }, amount })
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    const { id, reference } = await newestDonation(store.db)
    const charge = ledger.only(reference)
    settle(charge)
    return { id, reference, charge }
  }
  const refund = async (donationId: number, amount: string) => {
    await refundDonation(payments, { donationId, kind: 'refund', amount: amount as Decimal })
  }
  /** What a comparison a week later says of the day. */
  const reconcile = async () => {
    now = new Date(noon.getTime() + 8 * 86_400_000)
    const { days, differences } = await reconcileDays(payments, { from: day, to: day }, signal)
    return { money: days.map(({ processorAmount, booksAmount }) => [processorAmount, booksAmount]), differences }
  }
  const inShort = (differences: Awaited<ReturnType<typeof reconcile>>['differences']) =>
    differences.map(({ kind, entry, processorAmount, booksAmount }) => [kind, entry, processorAmount, booksAmount])
  const statusOf = async (id: number) => {
    const { rows } = await store.db.query<{ status: string; refunded: string }>(
      'select status, refunded::text from donation where id = $1',
      [id],
    )
    return rows[0]
  }

  it('agree with the books, refunds and trials of the gateway too', async () => {
    await give(40)
    const partly = await give(50)
    await refund(partly.id, '12.50')
    settle(partly.charge)
    const trial = ledger.charge({ id: ledger.nextId('trial'), reference: 'check-1', amount: 1000, currency: 'USD' })
    ledger.refund(trial, { id: ledger.nextId('trial'), reference: 'check-1-late', amount: 1000 })
    settle(trial)
    expect(await reconcile()).toEqual({ money: [['77.500', '77.500']], differences: [] })
    expect(await reconciliationNeeds(payments)).toEqual([])
    expect(await sumDifferences(store.db)).toEqual({ USD: 0 })
  })

  it('are missing, doubled, changed or unknown, and each is found and named', async () => {
    const [before = []] = (await reconcile()).money
    const [missing, doubled, changed, lost, other, twice] = [
      ...[await give(11), await give(12), await give(13)],
      ...[await give(14), await give(15), await give(16)],
    ]
    if (!missing || !doubled || !changed || !lost || !other || !twice) throw new Error('a donation is missing')
    ledger.charges.splice(ledger.charges.indexOf(missing.charge), 1)
    settle(ledger.charge({ ...doubled.charge, id: ledger.nextId('second') }))
    changed.charge.amount += 100
    for (const { id } of [lost, other, twice]) await refund(id, '5')
    lost.charge.refunds.pop()
    Object.assign(other.charge.refunds[0] ?? {}, { amount: 600 })
    ledger.refund(twice.charge, { ...twice.charge.refunds[0], id: ledger.nextId('again'), amount: 500, reference: '' })
    Object.assign(twice.charge.refunds[1] ?? {}, { reference: twice.charge.refunds[0]?.reference })
    const unknown = ledger.charge({ id: ledger.nextId('shop'), reference: 'shop-7', amount: 999, currency: 'USD' })
    ledger.refund(unknown, { id: ledger.nextId('shop'), reference: '', amount: 99 })
    for (const { charge } of [lost, other, twice]) settle(charge)
    settle(unknown)

    const { money, differences } = await reconcile()
    expect(inShort(differences)).toEqual([
      ['changed', 'charge', '14.000 USD', '13.000 USD'],
      ['changed', 'refund', '6.000 USD', '5.000 USD'],
      ['doubled', 'charge', '12.000 USD', undefined],
      ['doubled', 'refund', '5.000 USD', undefined],
      ['missing', 'charge', undefined, '11.000 USD'],
      ['missing', 'refund', undefined, '5.000 USD'],
      ['unknown', 'charge', '9.990 USD', undefined],
      ['unknown', 'refund', '0.990 USD', undefined],
    ])
    const references = differences.filter(({ entry }) => entry === 'charge').map(({ reference }) => reference)
    expect(references).toEqual([changed.reference, doubled.reference, missing.reference, 'shop-7'])
    // Books: 81 less 15; processor: 12 + 12 + 14 + 14 + 15 + 16 - 6 - 10 + 9.99 - 0.99.
    expect(money.map((sums) => sums.map((sum, at) => Number(sum) - Number(before[at] ?? 0)))).toEqual([[76, 66]])
    expect(await reconciliationNeeds(payments)).toEqual([
      `${gateway.name} and the books differ in 8 charges or refunds of ${day}: run giving books reconcile --day ${day}`,
    ])
    // 1 + 1 + 12 + 5 + 11 + 5 + 9.99 + 0.99
    expect(await sumDifferences(store.db)).toEqual({ USD: 45.98 })
  })

  it('need no person any more once a person accepted what differs, and do again for what is new', async () => {
    const shop = (reference: string, amount: number) =>
      settle(ledger.charge({ id: ledger.nextId('shop'), reference, amount, currency: 'USD' }))
    shop('shop-8', 400)
    const { differences: known } = await reconcile()
    expect(await acceptDifferences(store.db, { gateway: gateway.name, day, at: now })).toBe(known.length)
    expect(await reconciliationNeeds(payments)).toEqual([])
    shop('shop-9', 500)
    const { differences } = await reconcile()
    expect(differences).toHaveLength(known.length + 1)
    expect(await sumDifferences(store.db)).toEqual({ USD: 5 })
    expect(await reconciliationNeeds(payments)).toHaveLength(1)
    expect(await acceptDifferences(store.db, { gateway: gateway.name, day, at: now })).toBe(1)
  })

  it('bring the books in line without any webhook: a refund made in the console of the processor', async () => {
    const { id, charge } = await give(60)
    ledger.refundInConsole(charge.reference, '7.00')
    settle(charge)
    const before = await reconcile()
    expect(before.differences.filter(({ donationId }) => donationId === id)).toEqual([])
    expect(await statusOf(id)).toEqual({ status: 'refunded', refunded: '7.000' })
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('find a charge of a donation that failed', async () => {
    const { id, charge } = await give(61)
    await store.db.query(`update donation set status = 'failed', settled_at = null where id = $1`, [id])
    const { differences } = await reconcile()
    expect(inShort(differences.filter(({ reference }) => reference === charge.reference))).toEqual([
      ['unknown', 'charge', '61.000 USD', undefined],
    ])
    await store.db.query(`update donation set status = 'settled', settled_at = $2 where id = $1`, [id, noon])
  })

  it('of which the last week is compared each night, and say when that has not come about', async () => {
    now = new Date('2026-11-24T04:41:00Z')
    const span = nightlySpan(payments)
    expect(span.to).toBe('2026-11-23')
    expect(span.from <= addSettling('2026-11-17')).toBe(true)
    await reconcileDays(payments, span, signal)
    expect(await reconciliationNeeds(payments)).toEqual([])
    now = new Date('2026-11-26T05:00:00Z')
    expect((await reconciliationNeeds(payments)).join()).toContain('have not been compared since 2026-11-24T04:41')
  })

  const addSettling = (last: string) => {
    const date = new Date(`${last}T00:00:00Z`)
    date.setUTCDate(date.getUTCDate() - gateway.settlesWithinDays)
    return date.toISOString().slice(0, 10)
  }

  if (name !== 'braintree') return
  it('bring the books in line without any webhook: payments that failed after their approval, or were voided', async () => {
    const [failed, voided] = [await give(62), await give(63)]
    for (const { charge } of [failed, voided]) charge.settled = false
    failed.charge.failed = true
    voided.charge.voided = true
    const { differences } = await reconcile()
    expect(differences.filter(({ donationId }) => donationId === failed.id || donationId === voided.id)).toEqual([])
    expect(await statusOf(failed.id)).toEqual({ status: 'refunded', refunded: '62.000' })
    expect(await statusOf(voided.id)).toEqual({ status: 'refunded', refunded: '63.000' })
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('ask after three days for a payment of the day that has not settled', async () => {
    const { id, charge } = await give(65)
    Object.assign(charge, { settled: false, failed: true })
    now = new Date(noon.getTime() + 3 * 86_400_000)
    await reconcileDays(payments, { from: day, to: day }, signal)
    expect(await statusOf(id)).toEqual({ status: 'refunded', refunded: '65.000' })
  })

  it('leave charges alone that are still being settled', async () => {
    const { id, charge } = await give(64)
    charge.settled = false
    now = new Date(noon.getTime() + 86_400_000)
    const { differences } = await reconcileDays(payments, { from: day, to: day }, signal)
    expect(differences.filter(({ donationId }) => donationId === id)).toEqual([])
    const late = await reconcile()
    expect(inShort(late.differences.filter(({ donationId }) => donationId === id))).toEqual([
      ['missing', 'charge', undefined, '64.000 USD'],
    ])
  })
})

describe('two processors of one store', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  const [stripe, real] = await processors.stripe()
  afterAll(() => stripe.close())
  const { ledger } = stripe
  let now = noon
  const clock = () => now
  const gateway = quick(real)
  const ofStripe = testPayments(store, { gateway, timeoutMs, clock })
  const ofSandbox = testPayments(store, { clock })
  const keyId = await insertDonationTargets(store.db, [7])

  const give = async (payments: typeof ofStripe, at: Date, amount: number) => {
    now = at
    await submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      donationRequest({ project: { id: 7 }, amount }),
    )
    const { reference } = await newestDonation(store.db)
    if (payments === ofStripe) {
      const charge = ledger.only(reference)
      ledger.settle(charge, at.getTime())
      Object.assign(charge, { at: at.getTime() })
    }
    return reference
  }
  const reconcile = async (payments: typeof ofStripe, of = day) => {
    now = new Date(now.getTime() + 60_000)
    const { days, differences } = await reconcileDays(payments, { from: of, to: of }, new AbortController().signal)
    return {
      money: days.map((sums) => [Number(sums.processorAmount), Number(sums.booksAmount)]),
      differences: differences.map(({ kind, reference }) => [kind, reference]),
    }
  }
  const daysLater = (days: number) => new Date(noon.getTime() + days * 86_400_000)

  it('are compared with the books each by itself, and a person accepts the differences of one', async () => {
    const [charged, entered] = [await give(ofStripe, noon, 40), await give(ofSandbox, noon, 30)]
    now = daysLater(8)
    expect(await reconcile(ofStripe)).toEqual({ money: [[40, 40]], differences: [] })
    expect(await reconcile(ofSandbox)).toEqual({ money: [[30, 30]], differences: [] })
    ledger.charges.splice(ledger.charges.indexOf(ledger.only(charged)), 1)
    await store.db.query('delete from sandbox_charge where reference = $1', [entered])
    const missing = (amount: number, reference: string) => ({
      money: [[0, amount]],
      differences: [['missing', reference]],
    })
    expect(await reconcile(ofSandbox)).toEqual(missing(30, entered))
    expect(await reconcile(ofStripe)).toEqual(missing(40, charged))
    const needs = (gateway: string) => expect.stringMatching(new RegExp(`^${gateway} and the books differ in 1 `))
    expect(await reconciliationNeeds(ofStripe)).toEqual([needs('sandbox'), needs(gateway.name)])
    expect(await acceptDifferences(store.db, { gateway: gateway.name, day, at: now })).toBe(1)
    expect(await reconciliationNeeds(ofStripe)).toEqual([needs('sandbox')])
    expect(await sumDifferences(store.db)).toEqual({ USD: 30 })
  })

  it('are overdue each by itself', async () => {
    now = daysLater(9)
    await reconcile(ofStripe)
    now = daysLater(12)
    await reconcile(ofSandbox)
    expect((await reconciliationNeeds(ofStripe)).join()).toContain(
      `${gateway.name} and the books have not been compared since`,
    )
    expect((await reconciliationNeeds(ofSandbox)).join()).not.toContain('compared since')
  })

  it.each([
    [gateway.name, ofStripe],
    ['sandbox', ofSandbox],
  ] as const)(
    'take what %s settled at midnight for a payment of the day that begins, lost or not',
    async (name, payments) => {
      const [before, from] = ['2026-10-16', '2026-10-17'] as [IsoDate, IsoDate]
      const reference = await give(payments, new Date(`${from}T00:00:00Z`), 25)
      const kept = async () =>
        (await store.db.query('select from processor_entry where gateway = $1 and settled_at = $2', [name, from]))
          .rowCount
      now = daysLater(8)
      expect(await reconcile(payments, from)).toEqual({ money: [[25, 25]], differences: [] })
      expect(await reconcile(payments, before)).toEqual({ money: [[0, 0]], differences: [] })
      expect(await kept()).toBe(1)
      if (payments === ofStripe) ledger.charges.splice(ledger.charges.indexOf(ledger.only(reference)), 1)
      else await store.db.query('delete from sandbox_charge where reference = $1', [reference])
      expect(await reconcile(payments, before)).toEqual({ money: [[0, 0]], differences: [] })
      expect(await reconcile(payments, from)).toEqual({ money: [[0, 25]], differences: [['missing', reference]] })
      expect(await kept()).toBe(0)
      await acceptDifferences(store.db, { gateway: name, day: from, at: now })
    },
  )

  it('settle what is known for 400 days', async () => {
    const at = new Date('2026-09-01T12:00:00Z')
    await give(ofSandbox, at, 20)
    await reconcile(ofSandbox, '2026-09-01' as IsoDate)
    const prune = async (ms: number) =>
      (
        await pruneDatabase(store.db, new Date(at.getTime() + 400 * 86_400_000 + ms), {
          ...{ keepReleases: 3, donorRetentionDays: undefined },
        })
      ).processorEntries
    expect([await prune(0), await prune(1)]).toEqual([0, 1])
  })
})

describe('giving books reconcile', { shuffle: false }, async () => {
  const { store, environment, folder, run: type } = await commandStore({})
  const today = new Date().toISOString().slice(0, 10)
  const run = async (...args: string[]) => await type(['books reconcile', ...args].join(' '))

  it('says which payments differ, with its exit code, in status and in the metric', async () => {
    const keyId = await insertDonationTargets(store.db, [7])
    const payments = testPayments(store, { clock: () => new Date() })
    const give = async (amount: number) => {
      await submitDonation(
        payments,
        { account, keyId, requestId: randomUUID() },
        donationRequest({ project: { id: 7 }, amount }),
      )
    }
    await give(40)
    await give(41.5)
    const agree = await run('--day', today)
    expect(agree).toMatchObject({ code: 0, stdout: expect.stringContaining('sandbox 81.500, books 81.500') })
    expect(agree.stdout).toContain('sandbox and the books agree')
    expect(await readdir(folder)).not.toContain('donor-keys')
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('books 0') })

    const { rows } = await store.db.query<{ reference: string }>(
      'delete from sandbox_charge where amount = 40 returning reference',
    )
    const differs = await run('--day', today)
    expect(differs.code).toBe(1)
    expect(differs.stdout).toContain(`missing charge: reference ${rows[0]?.reference}, donation `)
    expect(differs.stdout).toContain('processor nothing, books 40.000 USD\n1 differences\n')
    const { stdout } = await run('--day', today, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ gateway: 'sandbox', day: today, accepted: 0 },
      days: [{ day: today, currency: 'USD', processorAmount: '41.500', booksAmount: '81.500', difference: '-40.000' }],
      differences: [{ kind: 'missing', entry: 'charge', reference: rows[0]?.reference, booksAmount: '40.000 USD' }],
    })
    const need = `sandbox and the books differ in 1 charges or refunds of ${today}: run giving books reconcile --day ${today}`
    expect((await type('status')).stdout).toContain(need)
    const { ask, close } = await openConsole(environment)
    onTestFinished(close)
    expect((await ask('/metrics')).text).toContain('giving_reconciliation_difference{currency="USD"} 40')

    await store.db.query(`insert into sandbox_charge (reference, amount, currency, charged_at)
      values ('of-no-donation', 12, 'USD', now())`)
    const { stdout: left } = await run('--day', today, '--adopt')
    expect(left).toMatch(/left charge sandbox-\d+: it does not say what it was for: this service did not make it\n/)
    expect(left).toContain('2 differences\n')

    expect(await run('--day', today, '--accept')).toMatchObject({ code: 0 })
    expect((await type('status')).stdout).not.toContain('books reconcile')
    expect((await type('audit')).stdout).toMatch(/differences-accepted .*: day \d/)
  })

  it('refuses a day that is none or has not come', async () => {
    expect(await run('--day', '2026-02-30')).toMatchObject({ code: 2 })
    const future = await run('--day', '2999-01-01')
    expect(future.code).toBe(2)
    expect(future.stderr).toContain('--day: expected a day until today')
  })
})
