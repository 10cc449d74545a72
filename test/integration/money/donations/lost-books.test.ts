import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Decimal } from '../../../../src/kernel/money.js'
import { adoptCharges } from '../../../../src/money/adopt-charges.js'
import { DonorVault } from '../../../../src/money/donors/donor-vault.js'
import { findDonor } from '../../../../src/money/donors/find-donor.js'
import { GatewayRefusal } from '../../../../src/money/gateways/gateway.js'
import { reconcileDays } from '../../../../src/money/reconcile.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { processors, timeoutMs } from '../../../support/money/processors.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { someOf } from '../../../support/runner/some-of.js'
import { testDatabase } from '../../../support/store/database.js'

const { signal } = new AbortController()

const names = someOf(['braintree', 'stripe'] as const, 2)

/** Two databases with the same account: what the first has taken is lost for the second, but for the processor. */
describe.each(names)('donations at %s that the books have lost', inOrder, async (name) => {
  const [lost, left] = [await testDatabase(), await testDatabase()]
  const [processor, real] = await processors[name]()
  afterAll(() => processor.close())
  const { ledger } = processor
  const gateway = quick(real)
  const clock = () => new Date()
  const before = testPayments(lost.store, { gateway, timeoutMs, clock })
  const after = testPayments(left.store, { gateway, timeoutMs, clock })
  const keys = new Map<typeof before, number>()
  beforeAll(async () => {
    for (const payments of [before, after]) {
      keys.set(payments, await insertDonationTargets(payments.store.db, [2045, 2046]))
    }
  })

  type Request = ReturnType<typeof donationRequest>
  const submit = (payments: typeof before, request: Request, with_ = payments, keyId = keys.get(payments) ?? 0) =>
    submitDonation(with_, { account, keyId, requestId: randomUUID() }, request)
  /** Takes a donation in the books that are lost, more than a minute ago; gives its charge. */
  const lose = async (request: Request) => {
    await submit(before, request)
    const charge = ledger.charges.at(-1)
    if (!charge) throw new Error('expected a charge')
    Object.assign(charge, { at: charge.at - 61_000 })
    ledger.settle(charge)
    return charge
  }
  const refusal = { code: 'request-invalid', problems: [{ field: 'donation.transactionId' }] }
  const funding = async () => {
    const { rows } = await left.store.db.query<{ sum: string }>('select sum(funding - 1250) as sum from project')
    return Number(rows[0]?.sum)
  }
  const held = () => ledger.approved().reduce((sum, charge) => sum + ledger.left(charge), 0) / 100
  const reconcile = async () => {
    const days = { from: new Date(Date.now() - 86_400_000), to: new Date() }
    const [from, to] = [days.from, days.to].map((day) => day.toISOString().slice(0, 10) as never)
    return await reconcileDays(after, { from, to } as never, signal)
  }
  const expectAgreement = async () => {
    expect(await left.store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    expect(await funding()).toBe(held())
  }

  it('are found by a repeated request, and not charged again', async () => {
    const request = donationRequest()
    const charge = await lose(request)
    const answer = await submit(after, request)
    expect(answer).toMatchObject({ receiptNumber: expect.stringMatching(/^R\d+/), totals: { numberOfDonations: 38 } })
    expect(await submit(after, request)).toEqual(answer)
    expect(ledger.approved(charge.reference)).toHaveLength(1)
    await expectAgreement()
  })

  it('are not paid for by another request with their transactionId', async () => {
    const request = donationRequest()
    const { reference } = await lose(request)
    const charged = ledger.charges.length
    const others = [
      { ...request, amount: '41.00' as Decimal },
      { ...request, projectId: 2046 },
      { ...request, amount: '38.00' as Decimal, addon: '2.00' as Decimal },
    ]
    for (const other of others) await expect(submit(after, other)).rejects.toMatchObject(refusal)
    expect(ledger.charges).toHaveLength(charged)
    // What was refused is not given back: it is entered from its charge, or by its own request.
    await settleOpen(after)
    expect(ledger.left(ledger.only(reference))).toBe(4000)
    await submit(after, request)
    expect(ledger.charges).toHaveLength(charged)
    await expectAgreement()
  })

  it('are found under an older key of donors, after a change of keys', async () => {
    const request = donationRequest()
    const { reference } = await lose(request)
    const donors = new DonorVault([
      { id: 'new', secret: Buffer.alloc(32, 8) },
      { id: 'test', secret: Buffer.alloc(32, 7) },
    ])
    const rotated = { ...after, donors }
    const answer = await submit(after, request, rotated)
    expect(await submit(after, request, rotated)).toEqual(answer)
    expect(ledger.approved(reference)).toHaveLength(1)
    await submit(after, donationRequest(), rotated)
    for (const charge of ledger.charges) ledger.settle(charge)
    await expectAgreement()
  })

  it('are entered from their charges, once, with what went back, and known again to their request', async () => {
    const [request, whole] = [donationRequest({ addon: { amount: 2.5 } }), donationRequest()]
    const [part, kept] = [await lose(request), await lose(whole)]
    ledger.refundInConsole(part.reference, '10.00')
    const { differences } = await reconcile()
    expect(differences.map(({ kind, reference }) => [kind, reference])).toEqual(
      expect.arrayContaining([part, kept].map(({ reference }) => ['unknown', reference])),
    )
    const adopted = await adoptCharges(after, differences, signal)
    expect(adopted.map(({ chargeId }) => chargeId).toSorted()).toEqual([part.id, kept.id].toSorted())
    expect(adopted.every((one) => 'donationId' in one)).toBe(true)
    expect((await reconcile()).differences).toEqual([])
    expect((await adoptCharges(after, differences, signal)).every((one) => 'left' in one)).toBe(true)
    const { rows } = await left.store.db.query(
      `select amount, addon, refcode, status, refunded, settled_at - received_at as late from donation where reference = $1`,
      [part.reference],
    )
    expect(rows).toMatchObject([
      { amount: '40.000', addon: '2.500', refcode: 'spring-drive', status: 'refunded', refunded: '10.000' },
    ])

    await expect(submit(after, { ...whole, amount: '41.00' as Decimal })).rejects.toMatchObject(refusal)
    const person = { ...whole, email: 'xena@example.org' }
    const answer = await submit(after, person)
    expect(await submit(after, person)).toEqual(answer)
    await expect(submit(after, whole)).rejects.toMatchObject(refusal)
    expect(await findDonor(left.store.db, after.donors, 'xena@example.org')).toHaveLength(1)
    expect(ledger.approved(kept.reference)).toHaveLength(1)
    expect(await left.store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    // The tip is no money of the project.
    expect(await funding()).toBe(held() - 2.5)
  })

  it('are entered from their charges where a repeated request was refused before', async () => {
    const request = donationRequest()
    const { reference } = await lose(request)
    await expect(submit(after, { ...request, amount: '41.00' as Decimal })).rejects.toMatchObject(refusal)
    const adopted = await adoptCharges(after, (await reconcile()).differences, signal)
    expect(adopted).toEqual([{ chargeId: ledger.only(reference).id, donationId: expect.any(Number) }])
    const { rows } = await left.store.db.query(
      `select settled_at - received_at = interval '0' as "atOnce", (select count(*) from receipt_mail m where m.donation_id = d.id) as mails
          from donation d where reference = $1`,
      [reference],
    )
    expect(rows).toEqual([{ atOnce: true, mails: 0 }])
    expect((await submit(after, request)).receiptNumber).toMatch(/^R\d+/)
    expect(ledger.approved(reference)).toHaveLength(1)
  })

  it('keep a charge that the processor could not be asked about', async () => {
    const request = donationRequest()
    const { reference } = await lose(request)
    const deaf = { ...after, gateway: { ...gateway, charge: () => Promise.reject(new GatewayRefusal('busy')) } }
    await expect(submit(after, request, deaf)).rejects.toMatchObject({ code: 'payment-unavailable' })
    await left.store.db.query(
      `update donation set lease_until = now() - interval '1 s' where reference = $1
      and lease_until is not null`,
      [reference],
    )
    await settleOpen(after)
    expect(ledger.left(ledger.only(reference))).toBe(4000)
    await submit(after, request)
    expect(ledger.approved(reference)).toHaveLength(1)
  })

  it('are left where their charges do not say what they were for', async () => {
    const foreign = ledger.charge({
      id: ledger.nextId(),
      reference: 'another-shop',
      amount: 900,
      currency: name === 'stripe' ? 'usd' : 'USD',
    })
    ledger.settle(foreign)
    const unknown = await lose(donationRequest({ project: { id: 2046 } }))
    await left.store.db.query('update donation set project_id = 2045 where project_id = 2046')
    await left.store.db.query('delete from donation_month where project_id = 2046')
    await left.store.db.query('delete from project where id = 2046')
    const adopted = await adoptCharges(after, (await reconcile()).differences, signal)
    expect(adopted.toSorted((a, b) => a.chargeId.localeCompare(b.chargeId))).toEqual(
      [
        { chargeId: foreign.id, left: expect.stringContaining('does not say what it was for') },
        { chargeId: unknown.id, left: expect.stringContaining('there is no project 2046') },
      ].toSorted((a, b) => a.chargeId.localeCompare(b.chargeId)),
    )
  })

  it('is one donation of two keys of an account when their requests are the same, and two when they differ', async () => {
    const { rows } = await lost.store.db.query<{ id: number }>(
      `insert into api_key (account_id, key_hash, created_at)
        select account_id, sha256(random()::text::bytea), now() from api_key limit 1 returning id`,
    )
    const other = rows[0]?.id
    const request = donationRequest()
    const first = await submit(before, request)
    expect(await submit(before, request, before, other)).toEqual(first)
    const differs = { ...request, amount: '44.00' as Decimal }
    const second = await submit(before, differs, before, other)
    expect(second.receiptNumber).not.toBe(first.receiptNumber)
    expect(await submit(before, differs, before, other)).toEqual(second)
  })
})
