import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { type Charge, GatewayRefusal } from '../../../../src/money/gateways/gateway.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { rehearseDonation, submitDonation } from '../../../../src/money/submit-donation.js'
import { openStore } from '../../../../src/platform/database/store.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  quick,
  testPayments,
  usd,
} from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { standStill } from '../../../support/values/stand-still.js'

const projects = [2045, 2046, 2047, 2048, 2049, 2050, 2051, 2052, 2053, 2054]

describe('a donation', async () => {
  const { store, url } = await testDatabase()
  const payments = testPayments(store)

  const keyId = await insertDonationTargets(store.db, projects)

  const submit = (request = donationRequest(), requestId = randomUUID(), with_ = payments) =>
    submitDonation(with_, { account, keyId, requestId }, request)
  const one = async <T extends object>(text: string, values: unknown[] = []): Promise<T> => {
    const { rows } = await store.db.query<T>(text, values)
    return rows[0] as T
  }
  const charges = async (transactionId: string) =>
    (
      await one<{ n: number }>(
        `select count(*) as n from sandbox_charge c join donation d on d.reference = c.reference
          where d.transaction_id = $1 and c.decline_code is null`,
        [transactionId],
      )
    ).n
  const refunded = async (reference: string) => {
    const { rows } = await store.db.query<{ amount: string }>(
      `select r.amount from sandbox_refund r join sandbox_charge c on c.id = r.charge_id where c.reference = $1`,
      [reference],
    )
    return rows[0]?.amount
  }
  const donationCharge = (reference: string, amount: string): Charge => ({
    reference,
    amount: amount as Charge['amount'],
    currency: usd,
    gatewayKey: 'key',
    method: { kind: 'nonce', nonce: 'fake-valid-nonce' },
    payer: {},
  })
  const failure = async (work: Promise<unknown>): Promise<ServiceError> => {
    const error = await work.then(
      () => new Error('expected a failure'),
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof ServiceError)) throw error
    return error
  }

  it('is charged, counted and answered with the totals after it', async () => {
    const answer = await submit(donationRequest({ project: { id: 2052 }, addon: { amount: '2.5' } }))
    expect(answer).toMatchObject({
      receiptNumber: expect.stringMatching(/^R\d+-GC\d+-\w+$/),
      totals: { funding: '1290.000', numberOfDonations: 38, goal: '8000.000', remaining: '6710.000' },
    })
    expect(await one('select funding, remaining, number_of_donations from project where id = 2052')).toEqual({
      funding: '1290.000',
      remaining: '6710.000',
      numberOfDonations: 38,
    })
    const { rows } = await store.db.query(
      `select kind, month, amount, count, last_on, itemised from donation_month
        where project_id = 2052 and source = 'local' order by kind`,
    )
    const when = { month: '2026-11-01', count: 1, lastOn: '2026-11-21' }
    expect(rows).toEqual([
      { kind: 'fee', amount: '2.000', itemised: '2.000', ...when },
      { kind: 'gift', amount: '40.000', itemised: '40.000', ...when },
    ])
    expect(
      await one('select c.amount from sandbox_charge c join donation using (reference) where project_id = 2052'),
    ).toEqual({ amount: '42.500' })
    expect(await one(`select dirty from project_version where project_id = 2052`)).toEqual({ dirty: true })
  })

  it('is answered the same again for the same transactionId, after later donations too, without a second charge', async () => {
    const request = donationRequest({ project: { id: 2046 } })
    const first = await submit(request)
    await submit(donationRequest({ project: { id: 2046 } }))
    expect(await submit(request)).toEqual(first)
    expect(await charges(request.transactionId ?? '')).toBe(1)
  })

  it('is refused when its transactionId belongs to another request, or to an erased donor', async () => {
    const request = donationRequest()
    await submit(request)
    const other = await failure(submit({ ...request, amount: '41' as typeof request.amount }))
    expect(other).toMatchObject({ code: 'request-invalid', problems: [{ field: 'donation.transactionId' }] })
    await store.db.query('delete from donor where donation_id = (select id from donation where transaction_id = $1)', [
      request.transactionId,
    ])
    expect((await failure(submit(request))).message).toContain('has been erased')
  })

  it('is another one for each request without a transactionId', async () => {
    const { transactionId: _, ...request } = donationRequest({ project: { id: 2047 } })
    const [first, second] = [await submit(request), await submit(request)]
    expect(second.totals.numberOfDonations).toBe(first.totals.numberOfDonations + 1)
  })

  it('is one donation when two processes get the same request at the same instant', async () => {
    await using other = openStore({ url, max: 4, applicationName: 'the other process' })
    for (const nonce of ['fake-valid-nonce', 'fake-slow-nonce']) {
      const request = donationRequest({ project: { id: 2048 } }, { paymentGatewayNonce: nonce })
      const slow = { timeoutMs: 5000 }
      const answers = await Promise.all([
        submit(request, randomUUID(), testPayments(store, slow)),
        submit(request, randomUUID(), testPayments(other, slow)),
      ])
      expect(answers[0]).toEqual(answers[1])
      expect(await charges(request.transactionId ?? '')).toBe(1)
    }
  })

  it('is refused with the processor’s number when it is declined, again and again, and counts nowhere', async () => {
    const request = donationRequest({ project: { id: 2053 } }, { paymentGatewayNonce: 'fake-declined-2004-nonce' })
    for (const _ of [1, 2]) {
      expect(await failure(submit(request))).toMatchObject({
        code: 'payment-declined',
        number: 2004,
        message: 'The payment was declined: Expired Card.',
      })
    }
    expect(await one('select funding from project where id = 2053')).toEqual({ funding: '1250.000' })
    expect((await failure(submit(donationRequest({ amount: '2001.50' })))).number).toBe(2001)
  })

  it('that the gateway was down for is not charged, and may be repeated under its transactionId', async () => {
    const request = donationRequest({ project: { id: 2049 } }, { paymentGatewayNonce: 'fake-down-nonce' })
    const error = await failure(submit(request))
    expect(error).toMatchObject({ code: 'payment-unavailable', status: 503 })
    expect(error.message).toContain('same transactionId')
    const up = { ...request, payment: { ...request.payment, method: { kind: 'nonce', nonce: 'fake-valid-nonce' } } }
    await submit(up as typeof request)
    expect(await charges(request.transactionId ?? '')).toBe(1)
  })

  /** Ends the time in which nobody else may take up these donations. */
  const lapsed = async (...requests: { readonly transactionId?: string }[]) =>
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where transaction_id = any ($1)`, [
      requests.map(({ transactionId }) => transactionId),
    ])

  it('whose answer was lost after the charge is found by a repeated request', async () => {
    const request = donationRequest({ project: { id: 2049 } }, { paymentGatewayNonce: 'fake-timeout-after-nonce' })
    const error = await failure(submit(request))
    expect(error).toMatchObject({ code: 'payment-pending', status: 503 })
    expect(error.message).toContain('repeat the request with the same transactionId')
    expect((await submit(request)).receiptNumber).toMatch(/^R\d+/)
    expect(await charges(request.transactionId ?? '')).toBe(1)
  })

  it('whose answer was lost is completed or failed by the settlement', async () => {
    // What other tests have left open.
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
    await settleOpen(payments)
    await store.db.query(`update donation set lease_until = null where status = 'failed'`)
    const after = donationRequest({ project: { id: 2050 } }, { paymentGatewayNonce: 'fake-timeout-after-nonce' })
    const before = donationRequest({ project: { id: 2050 } }, { paymentGatewayNonce: 'fake-timeout-before-nonce' })
    await Promise.all([failure(submit(after)), failure(submit(before))])
    await lapsed(after, before)
    expect(await settleOpen(payments)).toEqual({ settled: 1, declined: 0, failed: 1, refunded: 0, waiting: 0, open: 0 })
    expect(await one('select funding from project where id = 2050')).toEqual({ funding: '1290.000' })
    expect((await submit(after)).totals.funding).toBe('1290.000')
    const { rows } = await store.db.query(
      `select d.transaction_id, e.kind from donation_event e join donation d on d.id = e.donation_id
        where d.transaction_id = any ($1) order by e.id`,
      [[after.transactionId, before.transactionId]],
    )
    const kinds = (id?: string) =>
      rows.flatMap((row) => ('kind' in row && Object(row).transactionId === id ? [row.kind] : []))
    expect(kinds(after.transactionId)).toEqual(['received', 'settled'])
    expect(kinds(before.transactionId)).toEqual(['received', 'failed'])
  })

  it('that never was charged is charged once by a repeated request after the lease', async () => {
    let down = true
    const sandbox = createSandboxGateway(payments)
    const gateway = quick({
      ...sandbox,
      charge: (charge, signal) => (down ? new Promise(() => undefined) : sandbox.charge(charge, signal)),
    })
    const silent = testPayments(store, { gateway, timeoutMs: 100 })
    const request = donationRequest({ project: { id: 2051 } })
    await failure(submit(request, randomUUID(), silent))
    down = false
    await lapsed(request)
    const patient = testPayments(store, { gateway, timeoutMs: 60_000 })
    expect((await submit(request, randomUUID(), patient)).totals.funding).toBe('1290.000')
    expect(await charges(request.transactionId ?? '')).toBe(1)
  })

  it('whose second attempt is refused is looked up once more, since the first may have been charged', async () => {
    let refusing = false
    const sandbox = createSandboxGateway(payments)
    const gateway = quick({
      ...sandbox,
      charge: () => (refusing ? Promise.reject(new GatewayRefusal('busy')) : new Promise(() => undefined)),
    })
    const silent = testPayments(store, { gateway, timeoutMs: 100 })
    const request = donationRequest({ project: { id: 2051 } })
    await failure(submit(request, randomUUID(), silent))
    refusing = true
    await lapsed(request)
    const patient = testPayments(store, { gateway, timeoutMs: 60_000 })
    expect(await failure(submit(request, randomUUID(), patient))).toMatchObject({ code: 'payment-unavailable' })
    const failed = await one<{ status: string; looks: boolean }>(
      'select status, lease_until > clock_timestamp() as looks from donation where transaction_id = $1',
      [request.transactionId],
    )
    expect(failed).toEqual({ status: 'failed', looks: true })
  })

  it('whose charge comes after it was given up is given back', async () => {
    const sandbox = createSandboxGateway(payments)
    const gateway = quick({
      ...sandbox,
      charge: async (charge, signal) => {
        await store.db.query(`update donation set lease_until = now() - interval '1 s' where reference = $1`, [
          charge.reference,
        ])
        await settleOpen(payments)
        return await sandbox.charge(charge, signal)
      },
    })
    const late = testPayments(store, { gateway, timeoutMs: 5000 })
    expect(await failure(submit(donationRequest(), randomUUID(), late))).toMatchObject({ code: 'payment-unavailable' })
    expect(late.warnings).toEqual(['a charge came after its donation had been given up, and was given back'])
    expect(await one('select amount from sandbox_refund order by id desc limit 1')).toEqual({ amount: '40.000' })
  })

  it('is not charged by a process that stood still once it had written the intent', async () => {
    const standing = testPayments(store)
    const books = {
      ...standing.books,
      recordIntent: async (...given: Parameters<typeof standing.books.recordIntent>) => {
        const recorded = await standing.books.recordIntent(...given)
        standStill(standing.timeoutMs)
        return recorded
      },
    }
    const request = donationRequest()
    expect(await failure(submit(request, randomUUID(), { ...standing, books }))).toMatchObject({
      code: 'payment-pending',
    })
    expect(await charges(request.transactionId ?? '')).toBe(0)
    await lapsed(request)
    expect((await submit(request)).receiptNumber).toMatch(/^R\d+/)
  })

  it('whose charge came after the last look, and could not be given back at once, is given back by the settlement', async () => {
    const sandbox = createSandboxGateway(payments)
    const gateway = quick({
      ...sandbox,
      charge: async (charge, signal) => {
        for (const _ of [1, 2]) {
          await store.db.query(`update donation set lease_until = now() - interval '1 s' where reference = $1`, [
            charge.reference,
          ])
          await settleOpen(payments)
        }
        return await sandbox.charge(charge, signal)
      },
      refund: () => Promise.reject(new Error('no answer')),
    })
    const request = donationRequest()
    await failure(submit(request, randomUUID(), testPayments(store, { gateway, timeoutMs: 5000 })))
    const { reference } = await one<{ reference: string }>('select reference from donation where transaction_id = $1', [
      request.transactionId,
    ])
    expect(await refunded(reference)).toBeUndefined()
    await store.db.query(
      `update donation set lease_until = now() - interval '1 s' where reference = $1 and lease_until is not null`,
      [reference],
    )
    await settleOpen(payments)
    expect(await refunded(reference)).toBe('40.000')
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('of which parts are to go back takes each refund when its turn comes, so that each is made within its lease', async () => {
    const sandbox = createSandboxGateway(payments)
    const deaf = testPayments(store, {
      gateway: quick({ ...sandbox, refund: () => Promise.reject(new Error('no answer')) }),
    })
    for (const _ of [1, 2, 3]) {
      const { receiptNumber = '' } = await submit(donationRequest())
      const { id } = await one<{ id: number }>('select id from donation where receipt_number = $1', [receiptNumber])
      await failure(refundDonation(deaf, { donationId: id, kind: 'refund', amount: '10' as Decimal }))
    }
    await store.db.query(`update donation_refund set lease_until = now() - interval '1 s' where done_at is null`)
    const held: number[] = []
    const gateway = quick({
      ...sandbox,
      refund: async (refund, signal) => {
        const { n } = await one<{ n: number }>(
          'select count(*)::int as n from donation_refund where done_at is null and lease_until > clock_timestamp()',
        )
        held.push(n)
        return await sandbox.refund(refund, signal)
      },
    })
    expect(await settleOpen(testPayments(store, { gateway, timeoutMs: 60_000 }))).toMatchObject({ refunded: 3 })
    expect(held).toEqual([1, 1, 1])
  })

  it('that failed is charged under the same reference when it is repeated, and counts a charge that came late', async () => {
    const request = donationRequest({ addon: { amount: '2' } }, { paymentGatewayNonce: 'fake-timeout-before-nonce' })
    await failure(submit(request))
    await lapsed(request)
    await settleOpen(payments)
    const failed = await one<{ id: number; reference: string; looks: boolean }>(
      `select id, reference, lease_until > clock_timestamp() as looks
        from donation where transaction_id = $1 and status = 'failed'`,
      [request.transactionId],
    )
    expect(failed.looks).toBe(true)
    const sandbox = createSandboxGateway(payments)
    await sandbox.charge(donationCharge(failed.reference, '42.00'), new AbortController().signal)
    const paid = { ...request, payment: { ...request.payment, method: { kind: 'nonce', nonce: 'fake-valid-nonce' } } }
    const answer = await submit(paid as typeof request)
    expect(await submit(paid as typeof request)).toEqual(answer)
    expect(await charges(request.transactionId ?? '')).toBe(1)
    expect(await refunded(failed.reference)).toBeUndefined()
    expect(
      await one(
        'select id, status, lease_until > clock_timestamp() as leased from donation where transaction_id = $1',
        [request.transactionId],
      ),
    ).toEqual({ id: failed.id, status: 'settled', leased: true })
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('that failed and turns out to be charged ten minutes later is given back, and is another one when it is repeated', async () => {
    const request = donationRequest({ addon: { amount: '2' } }, { paymentGatewayNonce: 'fake-timeout-before-nonce' })
    await failure(submit(request))
    await lapsed(request)
    await settleOpen(payments)
    const { id, reference } = await one<{ id: number; reference: string }>(
      'select id, reference from donation where transaction_id = $1',
      [request.transactionId],
    )
    const sandbox = createSandboxGateway(payments)
    await sandbox.charge(donationCharge(reference, '42.00'), new AbortController().signal)
    await settleOpen(payments)
    expect(await refunded(reference)).toBeUndefined()

    const lapse = () =>
      store.db.query(
        `update donation set lease_until = now() - interval '1 s' where lease_until is not null and id = $1`,
        [id],
      )
    await lapse()
    const deaf = quick({ ...sandbox, findByReference: () => Promise.reject(new Error('no answer')) })
    await settleOpen(testPayments(store, { gateway: deaf }))
    expect(await refunded(reference)).toBeUndefined()
    for (const _ of [1, 2]) {
      await lapse()
      await settleOpen(payments)
      expect(await refunded(reference)).toBe('42.000')
    }
    expect(await one('select status, lease_until from donation where id = $1', [id])).toEqual({
      status: 'failed',
      leaseUntil: undefined,
    })
    const { rows } = await store.db.query(
      'select kind, details from donation_event where donation_id = $1 order by id',
      [id],
    )
    expect(rows).toEqual([
      { kind: 'received', details: {} },
      { kind: 'failed', details: { reason: 'never charged' } },
      {
        kind: 'failed',
        details: {
          reason: 'late charge given back',
          chargeId: expect.stringMatching(/^sandbox-\d+$/),
          amount: '42.000',
        },
      },
    ])
    const paid = { ...request, payment: { ...request.payment, method: { kind: 'nonce', nonce: 'fake-valid-nonce' } } }
    const answer = await submit(paid as typeof request)
    expect(await submit(paid as typeof request)).toEqual(answer)
    expect(await charges(request.transactionId ?? '')).toBe(2)
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('to an unknown project is 404, to an inactive or paused one 410, tests included', async () => {
    await store.db.query(
      `insert into project (id, active, paused, status, title, source) values
        (3001, false, false, 'retired', 'Closed', 'local'), (3002, true, true, 'active', 'Paused', 'local')`,
    )
    for (const [id, code] of [
      [999, 'not-found'],
      [3001, 'project-inactive'],
      [3002, 'project-inactive'],
    ] as const) {
      expect(await failure(submit(donationRequest({ project: { id } })))).toMatchObject({ code })
      expect(await failure(rehearseDonation(payments, donationRequest({ project: { id } })))).toMatchObject({ code })
    }
  })

  it('that is a test is told in full, and stored nowhere', async () => {
    const before = await one<{ n: number }>('select count(*) as n from donation')
    const answer = await rehearseDonation(payments, donationRequest({ project: { id: 2054 }, amount: 9000 }))
    expect(answer).toMatchObject({
      receiptNumber: 'R0-GC0-TEST',
      totals: { funding: '10250.000', numberOfDonations: 38, remaining: '0' },
    })
    expect(await one('select count(*) as n from donation')).toEqual(before)
  })

  it('has receipts that are unique and increasing', async () => {
    const { rows } = await store.db.query<{ receiptNumber: string }>(
      `select receipt_number from donation where status = 'settled' order by id`,
    )
    const numbers = rows.map(({ receiptNumber }) => Number(/^R(\d+)-/.exec(receiptNumber)?.[1]))
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  it('has events that nobody can change', async () => {
    await expect(store.db.query(`update donation_event set kind = 'failed'`)).rejects.toThrow('append-only')
    await expect(store.db.query('delete from donation_event')).rejects.toThrow('append-only')
  })
})
