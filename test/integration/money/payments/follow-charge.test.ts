import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Decimal } from '../../../../src/kernel/money.js'
import { followCharge } from '../../../../src/money/follow-charge.js'
import type { Gateway } from '../../../../src/money/gateways/gateway.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { processors, timeoutMs } from '../../../support/money/processors.js'
import { someOf } from '../../../support/runner/some-of.js'
import { toCents } from '../../../support/servers/processor-server.js'
import { testDatabase } from '../../../support/store/database.js'

describe.each(someOf(Object.entries(processors), 2, 1))('a charge that is followed at %s', async (name, start) => {
  const hasTwo = name === 'braintree'
  const { store } = await testDatabase()
  const [processor, gateway] = await start()
  afterAll(() => processor.close())
  const { ledger } = processor
  let ahead = 0
  const payments = testPayments(store, {
    ...{ gateway: quick(gateway), timeoutMs, clock: () => new Date(Date.now() + ahead) },
  })
  afterEach(() => {
    ahead = 0
  })
  const keyId = await insertDonationTargets(store.db, [2045])

  const submit = (nonce = 'fake-valid-nonce') =>
    submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      donationRequest({ addon: { amount: 2.5 } }, { paymentGatewayNonce: nonce }),
    )
  const newest = () => newestDonation(store.db)
  /** A donation of 40 with a tip of 2.50. */
  const donate = async () => {
    await submit()
    const { chargeId: charge, ...donation } = await newest()
    return { ...donation, charge }
  }
  const follow = (charge: string) => followCharge(payments, charge)
  /** What the project has more than at the start of the test. */
  const totals = async () => {
    const { rows } = await store.db.query<{ funding: number; count: number; months: number }>(
      `select (funding - 1250)::float8 as funding, number_of_donations - 37 as count, (select sum(amount)::float8
        from donation_month where project_id = p.id and source = 'local' and kind <> 'fee') as months
        from project p where id = 2045`,
    )
    return rows[0] ?? { funding: 0, count: 0, months: 0 }
  }
  const change = async (work: () => Promise<unknown>) => {
    const before = await totals()
    await work()
    const after = await totals()
    expect(after.months).toBe(after.funding)
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    return { funding: after.funding - before.funding, count: after.count - before.count }
  }
  const eventsOf = async (id: number) => {
    const { rows } = await store.db.query<{ event: string }>(
      `select concat_ws(' ', kind, details ->> 'kind', details ->> 'status') as event from donation_event
        where donation_id = $1 order by id`,
      [id],
    )
    return rows.map(({ event }) => event)
  }
  const differenceOf = async (id: number) => {
    const { rows } = await store.db.query<{ difference: string }>(
      'select difference from charge_state where donation_id = $1',
      [id],
    )
    return rows[0]?.difference
  }

  it('is the only one that stays of a donation which two processes have charged', async () => {
    const request = donationRequest()
    const submitBy = (of: typeof payments) => submitDonation(of, { account, keyId, requestId: randomUUID() }, request)
    const overtaken = testPayments(store, {
      ...{ clock: payments.clock, timeoutMs: 20_000 },
      gateway: {
        ...payments.gateway,
        charge: async (charge, signal) => {
          const outcome = await payments.gateway.charge(charge, signal)
          await store.db.query('update donation set lease_until = now() where reference = $1', [charge.reference])
          // The search of Braintree does not show a charge at once; Stripe gives the repeated call the first one.
          const hidden = hasTwo ? ledger.charges.splice(-1) : []
          await submitBy(payments)
          ledger.charges.unshift(...hidden)
          return outcome
        },
      },
    })
    expect(await change(() => submitBy(overtaken))).toEqual({ funding: 40, count: 1 })
    const { reference, chargeId: charge, refunded } = await newest()
    expect(refunded).toBe('0.000')
    const [first, ...others] = ledger.approved(reference)
    expect(others.map(({ id }) => id)).toEqual(hasTwo ? [charge] : [])
    expect(first?.voided).toBe(hasTwo)
    expect(overtaken.warnings).toEqual(hasTwo ? ['a second charge of a donation was given back'] : [])
    expect(ledger.held(reference).amount).toBe('40.00')
  })

  it('is confirmed once', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    expect(await follow(charge)).toBe('corrected')
    expect(await follow(charge)).toBe('agrees')
    expect(await eventsOf(id)).toEqual(['received', 'settled', 'confirmed'])
  })

  it('is booked as given back, in part and then whole with its tip, once', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    ledger.refundInConsole(reference, '10')
    expect(await change(() => follow(charge))).toEqual({ funding: -10, count: 0 })
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    ledger.refundInConsole(reference, '30')
    expect(await change(() => follow(charge))).toEqual({ funding: -30, count: -1 })
    ledger.refundInConsole(reference, '2.50')
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    expect(await follow(charge)).toBe('agrees')
    const { rows } = await store.db.query(
      'select amount::float8, addon::float8 from donation_refund where donation_id = $1 order by id',
      [id],
    )
    expect(rows).toEqual([
      { amount: 10, addon: 0 },
      { amount: 30, addon: 0 },
      { amount: 0, addon: 2.5 },
    ])
  })

  it('is booked as given back when it was voided in the console', async () => {
    const { reference, charge } = await donate()
    ledger.only(reference).voided = true
    expect(await change(() => follow(charge))).toEqual({ funding: -40, count: -1 })
    expect(await follow(charge)).toBe('agrees')
  })

  it('is not booked twice when this service gave it back, in part or whole', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: '15' as Decimal })
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    ledger.refundInConsole(reference, '5')
    expect(await change(() => follow(charge))).toEqual({ funding: -5, count: 0 })
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: undefined })
    expect(await follow(charge)).toBe('agrees')
    const whole = await donate()
    await refundDonation(payments, { donationId: whole.id, kind: 'refund', amount: undefined })
    expect(await change(() => follow(whole.charge))).toEqual({ funding: 0, count: 0 })
    expect(await differenceOf(whole.id)).toBeUndefined()
  })

  it('is taken out of the totals when it failed after it was approved', async () => {
    const { id, reference, charge } = await donate()
    ledger.only(reference).failed = true
    expect(await change(() => follow(charge))).toEqual({ funding: -40, count: -1 })
    expect(await follow(charge)).toBe('agrees')
    expect(await eventsOf(id)).toEqual(['received', 'settled', 'refunded failure'])
  })

  it('counts while it is disputed, and when that is won', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    const dispute = ledger.dispute(reference)
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    dispute.status = 'won'
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    expect(await eventsOf(id)).toEqual(['received', 'settled', 'confirmed', 'disputed open', 'disputed won'])
  })

  it('counts no more when a dispute is lost, also where an operator has booked that', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    ledger.dispute(reference).status = 'lost'
    expect(await change(() => follow(charge))).toEqual({ funding: -40, count: -1 })
    expect(await eventsOf(id)).toContain('refunded chargeback')
    const second = await donate()
    await ledger.controls.settle(second.reference)
    const dispute = ledger.dispute(second.reference)
    await refundDonation(payments, { donationId: second.id, kind: 'chargeback', amount: undefined })
    expect(await follow(second.charge)).toBe('corrected')
    expect(await differenceOf(second.id)).toBeUndefined()
    dispute.status = 'lost'
    expect(await change(() => follow(second.charge))).toEqual({ funding: 0, count: 0 })
    expect(await differenceOf(second.id)).toBeUndefined()
    dispute.status = 'won'
    ahead += 180_000
    expect(await follow(second.charge)).toBe('differs')
    expect(await differenceOf(second.id)).toBe('the books have given back 42.50 USD, the processor 0.00 USD')
  })

  it('differs when a refund failed after it was booked, until it is made again', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    const refund = ledger.refundInConsole(reference, '10')
    await follow(charge)
    refund.failed = true
    // The processor may not show yet what it has just done.
    expect(await follow(charge)).toBe('waits')
    ahead += 180_000
    expect(await follow(charge)).toBe('differs')
    expect(await differenceOf(id)).toBe('the books have given back 10.00 USD, the processor 0.00 USD')
    expect(payments.warnings).toContain('a charge differs from the books: a person must look')
    ledger.refundInConsole(reference, '10')
    expect(await follow(charge)).toBe('agrees')
    expect(await differenceOf(id)).toBeUndefined()
  })

  it('differs when the amount is another, and changes nothing', async () => {
    const { id, reference, charge } = await donate()
    ledger.only(reference).amount = toCents('41.50')
    ledger.refundInConsole(reference, '41.50')
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    expect(await differenceOf(id)).toBe('the processor charged 41.50 USD, the books say 42.50 USD')
  })

  it('is entered when its outcome was lost', async () => {
    await expect(submit('fake-error-after-nonce')).rejects.toMatchObject({ code: 'payment-pending' })
    const { reference } = await newest()
    expect(await change(() => follow(ledger.only(reference).id))).toEqual({ funding: 40, count: 1 })
    expect(await newest()).toMatchObject({ status: 'settled' })
  })

  it('is given back when its donation had failed', async () => {
    await expect(submit('fake-error-after-nonce')).rejects.toMatchObject({ code: 'payment-pending' })
    const { id, reference } = await newest()
    await store.db.query(`update donation set status = 'failed', lease_until = null where id = $1`, [id])
    const { id: charge } = ledger.only(reference)
    expect(await follow(charge)).toBe('waits')
    await settleOpen(payments)
    expect(ledger.held(reference)).toMatchObject({ amount: '0.00' })
    expect(await follow(charge)).toBe('agrees')
  })

  it('waits while a refund is under way', async () => {
    const { id, reference, charge } = await donate()
    await store.db.query(
      `insert into donation_refund (donation_id, reference, kind, amount, requested_at, lease_until)
        values ($1, 'under-way', 'refund', 5, now(), now() + interval '1 hour')`,
      [id],
    )
    ledger.refundInConsole(reference, '5')
    expect(await follow(charge)).toBe('waits')
    await store.db.query('delete from donation_refund where donation_id = $1', [id])
    expect(await follow(charge)).toBe('corrected')
  })

  it('is followed by several processes at once, and booked once', async () => {
    const { reference, charge } = await donate()
    await ledger.controls.settle(reference)
    ledger.refundInConsole(reference, '42.50')
    const both = () => Promise.all(Array.from({ length: 5 }, () => follow(charge)))
    expect(await change(both)).toEqual({ funding: -40, count: -1 })
  })

  it('is followed again when another process was faster with a newer state', async () => {
    const { id, reference, charge } = await donate()
    await ledger.controls.settle(reference)
    const dispute = ledger.dispute(reference)
    let first = true
    const slow: Gateway = {
      ...gateway,
      readCharge: async (chargeId, signal) => {
        const state = await gateway.readCharge(chargeId, signal)
        if (first) {
          first = false
          dispute.status = 'lost'
          expect(await follow(charge)).toBe('corrected')
        }
        return state
      },
    }
    expect(await followCharge({ ...payments, gateway: slow }, charge)).toBe('waits')
    expect(await followCharge({ ...payments, gateway: slow }, charge)).toBe('agrees')
    expect(await eventsOf(id)).toEqual(['received', 'settled', 'refunded chargeback', 'confirmed', 'disputed lost'])
  })

  it('is unknown when no donation here, or none at this gateway, has it', async () => {
    const stray = ledger.charge({ id: ledger.nextId('pi_'), reference: randomUUID(), amount: 100, currency: 'USD' })
    expect(await follow(stray.id)).toBe('unknown')
    const { id, reference, charge } = await donate()
    await store.db.query(`update donation set gateway = 'another' where id = $1`, [id])
    ledger.only(reference).voided = true
    expect(await change(() => follow(charge))).toEqual({ funding: 0, count: 0 })
    expect(await follow(charge)).toBe('unknown')
  })
})
