import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createStripeGateway } from '../../../../src/extensions/stripe/stripe-gateway.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { followCharge } from '../../../../src/money/follow-charge.js'
import { handleDueWebhooks, storeWebhook } from '../../../../src/money/handle-webhooks.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
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
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'

const happenings = ['console', 'ours', 'dispute', 'win', 'lose', 'handle', 'handle twice at once'] as const

/** What happens to one of a few donations, and how often its event is delivered: lost, once, doubled. */
const steps = fc.array(
  fc.record({
    donation: fc.nat(3),
    what: fc.constantFrom(...happenings),
    cents: fc.integer({ min: 1, max: 4_250 }),
    deliveries: fc.nat(2),
  }),
  { minLength: 12, maxLength: 24 },
)

describe('whatever a processor does, and whichever of its events arrive', async () => {
  const { store } = await testDatabase()
  const { ledger, address, close } = await startStripe()
  afterAll(close)
  const timeoutMs = 5_000
  const gateway = quick(createStripeGateway({ ...stripeKeys, timeoutMs, address }))
  // Each round is hours after the one before, so that nothing is too young to be taken for final.
  let ahead = 0
  const payments = testPayments(store, { gateway, timeoutMs, clock: () => new Date(Date.now() + ahead) })
  const keyId = await insertDonationTargets(store.db, [2045])

  const donate = async () => {
    await submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      donationRequest({ addon: { amount: 2.5 } }),
    )
    const { id, reference } = await newestDonation(store.db)
    return { id, reference, charge: ledger.only(reference) }
  }
  const backAt = ({ refunds, disputes }: ReturnType<typeof ledger.only>) =>
    [...refunds, ...disputes.filter(({ status }) => status === 'lost')].reduce((sum, { amount }) => sum + amount, 0)

  it('the books end as the processor has it', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        const donations = [await donate(), await donate(), await donate(), await donate()]
        for (const { donation, what, cents, deliveries } of story) {
          const { id, reference, charge } = donations[donation] as (typeof donations)[number]
          const text = (cents / 100).toFixed(2)
          if (what === 'console' && cents <= ledger.left(charge)) ledger.refundInConsole(reference, text)
          if (what === 'ours') {
            const refund = { donationId: id, kind: 'refund', amount: text as Decimal } as const
            // More than is left, here or there, is refused.
            await refundDonation(payments, refund).catch((error: unknown) =>
              expect(error).toMatchObject({ code: expect.stringMatching(/^(request-invalid|payment-unavailable)$/) }),
            )
          }
          if (what === 'dispute' && charge.disputes.length === 0) ledger.dispute(reference)
          for (const dispute of charge.disputes) {
            if (what === 'win') dispute.status = 'won'
            if (what === 'lose' && dispute.status === 'open') dispute.status = 'lost'
          }
          const event = { id: randomUUID(), kind: 'charge.updated', at: payments.clock(), test: true }
          for (let n = 0; n < deliveries; n++) await storeWebhook(payments, { ...event, chargeId: charge.id })
          if (what === 'handle') await handleDueWebhooks(payments)
          if (what === 'handle twice at once') {
            await Promise.all([handleDueWebhooks(payments), followCharge(payments, charge.id)])
          }
        }
        // The nightly look.
        ahead += 12 * 3_600_000
        for (const { charge } of donations) await followCharge(payments, charge.id)
        for (const { id, charge } of donations) {
          const { rows } = await store.db.query<{ back: number; lost: boolean }>(
            `select coalesce(sum(amount + addon), 0)::float8 as back, bool_or(kind = 'chargeback') as lost
              from donation_refund where donation_id = $1 and done_at is not null`,
            [id],
          )
          const wentBack = Math.min(backAt(charge), charge.amount) / 100
          const wonAfterLost = rows[0]?.lost && charge.disputes.some(({ status }) => status === 'won')
          if (!wonAfterLost) expect(rows[0]?.back).toBeCloseTo(wentBack, 2)
        }
        await handleDueWebhooks(payments)
        const { rows } = await store.db.query<{ agrees: boolean }>(
          `select p.funding = 1250 + (select sum(amount - refunded) from donation where reference is not null) as agrees
            from project p where id = 2045`,
        )
        expect(rows).toEqual([{ agrees: true }])
        expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
      }),
      { numRuns: 12 },
    )
  })
})
