import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Decimal } from '../../src/kernel/money.js'
import { followCharge } from '../../src/money/follow-charge.js'
import { refundDonation } from '../../src/money/refund-donation.js'
import { settleOpen } from '../../src/money/settlement.js'
import { listDifferences } from '../../src/money/sql/books-check.js'
import { findDonationHistory } from '../../src/money/sql/donations.js'
import { submitDonation } from '../../src/money/submit-donation.js'
import { testDatabase } from '../support/database.js'
import { account, donationRequest, insertDonationTargets, quick, testPayments } from '../support/donations.js'
import { limits, processors, timeoutMs } from '../support/processors.js'

describe.each(Object.entries(processors))(
  'a donation at %s whose calls fail one after the other',
  async (name, start) => {
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
    let keyId = 0
    beforeAll(async () => {
      keyId = await insertDonationTargets(store.db, [2045])
    })
    const funding = async () =>
      Number(
        (await store.db.query<{ sum: string }>('select funding::text as sum from project where id = 2045')).rows[0]
          ?.sum,
      )
    const later = async (minutes: number) => {
      now = new Date(now.getTime() + minutes * 60_000)
      await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
      await store.db.query(`update donation_refund set lease_until = now() - interval '1 s' where done_at is null`)
      await settleOpen(payments)
    }
    /** What is asked for once, again after everything that failed, and what the settlement does between. */
    const live = async (currencyCode: string) => {
      const changes = { amount: '40.00', currencyCode, addon: { amount: '2.50' }, transactionId: randomUUID() }
      const send = () => {
        const request = donationRequest(changes, { paymentGateway: name }, undefined, limits)
        return submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
      }
      await send().catch(() => undefined)
      await later(2)
      await send().catch(() => undefined)
      for (const charge of ledger.approved()) if (!charge.settled) ledger.settle(charge)
      await later(10)
      const { receiptNumber } = await send().catch(send)
      const { rows } = await store.db.query<{ id: number; reference: string }>(
        'select id, reference from donation where receipt_number = $1',
        [receiptNumber],
      )
      const { id, reference } = rows[0] ?? { id: 0, reference: '' }
      const part = { donationId: id, kind: 'refund', amount: '15' as Decimal } as const
      await refundDonation(payments, part).catch(() => undefined)
      await later(2)
      await later(2)
      const dispute = ledger.dispute(reference)
      Object.assign(dispute, { status: 'lost', amount: 1500 })
      const follow = () => followCharge(payments, ledger.only(reference).id)
      await follow().catch(() => undefined)
      await later(2)
      await follow().catch(follow)
      const history = await findDonationHistory(store.db, id)
      return { reference, donation: history?.donation }
    }

    it.each(['USD', 'EUR'])(
      'is charged once, given back once and booked once in %s',
      { timeout: 600_000 },
      async (code) => {
        const rate = code === 'USD' ? 1 : 1.1
        for (const lost of ['the request', 'the answer'] as const) {
          for (let failing = 1, calls = failing; calls >= failing; failing++) {
            const before = await funding()
            calls = 0
            const isTurn = () => calls === failing
            ledger.beforeAnswer = async () => {
              calls++
              if (lost === 'the request' && isTurn()) throw new Error('the request was lost')
            }
            ledger.losesAnswer = () => lost === 'the answer' && isTurn()
            const { reference, donation } = await live(code)
            const what = `${lost} of call ${failing} was lost`
            expect(ledger.approved(reference).length, what).toBe(1)
            expect(ledger.left(ledger.only(reference)), what).toBe(2750)
            expect(donation, what).toMatchObject({ status: 'refunded', refunded: '30.000', currency: code })
            expect((await funding()) - before, what).toBeCloseTo(10 * rate, 6)
          }
        }
        ledger.beforeAnswer = async () => undefined
        ledger.losesAnswer = () => false
        expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
        const { rows } = await store.db.query<{ n: number }>(
          `select count(*)::int as n from donation where status in ('settled', 'refunded')
        group by reference having count(*) > 1`,
        )
        expect(rows).toEqual([])
      },
    )
  },
)
