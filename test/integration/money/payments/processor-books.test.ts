import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import type { Decimal } from '../../../../src/kernel/money.js'
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
import { testDatabase } from '../../../support/store/database.js'

describe('the books of donations at a processor', async () => {
  const { store } = await testDatabase()
  const [processor, gateway] = await processors.braintree()
  afterAll(() => processor.close())
  const payments = testPayments(store, { gateway: quick(gateway), timeoutMs, clock: () => new Date() })
  const keyId = await insertDonationTargets(store.db, [2045])

  const submit = (nonce: string) =>
    submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      donationRequest({}, { paymentGatewayNonce: nonce }),
    )
  const newest = () => newestDonation(store.db)
  const settleNow = async () => {
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where status = 'received'`)
    await store.db.query(`update donation_refund set lease_until = now() - interval '1 s' where done_at is null`)
    return await settleOpen(payments)
  }

  it('hold a part that is to be given back until the processor has settled the charge', async () => {
    await submit('fake-valid-nonce')
    const { id, reference } = await newest()
    const part = { donationId: id, kind: 'refund', amount: '15' as Decimal } as const
    await expect(refundDonation(payments, part)).rejects.toMatchObject({
      code: 'payment-pending',
      message: 'a part of a charge can be given back once it has settled; the settlement finishes it',
    })
    expect(await settleNow()).toMatchObject({ refunded: 0, open: 1 })
    expect(await newest()).toMatchObject({ status: 'settled', refunded: '0.000' })
    await processor.ledger.controls.settle(reference)
    expect(await settleNow()).toMatchObject({ refunded: 1, open: 0 })
    expect(await newest()).toMatchObject({ refunded: '15.000' })
    expect(processor.ledger.held(reference)).toEqual({ charges: 1, amount: '25.00' })
    expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  })

  it('leave a charge of another amount to a person', async () => {
    await expect(submit('fake-other-amount-nonce')).rejects.toMatchObject({ code: 'payment-pending' })
    expect(await settleNow()).toMatchObject({ settled: 0, failed: 0, open: 1 })
    expect(await newest()).toMatchObject({ status: 'received' })
    expect(payments.warnings).toContain('the gateway charged another amount than the donation says: a person must look')
    await store.db.query(`update donation set status = 'failed', lease_until = null where status = 'received'`)
  })
})
