import { randomUUID } from 'node:crypto'
import type { Decimal } from '../../../src/kernel/money.js'
import { followCharge } from '../../../src/money/follow-charge.js'
import type { Payments } from '../../../src/money/payments.js'
import { chargeDuePlans } from '../../../src/money/plans/charge-plans.js'
import { refundDonation } from '../../../src/money/refund-donation.js'
import { settleOpen } from '../../../src/money/settlement.js'
import { submitDonation } from '../../../src/money/submit-donation.js'
import { account, donationRequest } from './donations.js'

/** What a process of the service does with one donation; each step gives text, or nothing. */
export type DonationSteps = {
  /** Gives the number of the receipt. */
  submit(changes: Record<string, unknown>, payment?: Record<string, unknown>): Promise<string>
  settle(): Promise<void>
  chargePlans(): Promise<void>
  refund(donationId: number, amount: string | undefined): Promise<void>
  follow(chargeId: string): Promise<string>
}

export function donationSteps(payments: Payments, keyId: number): DonationSteps {
  return {
    submit: async (changes, payment) => {
      const request = donationRequest(changes, payment, undefined, payments.limits)
      const { receiptNumber } = await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
      return receiptNumber ?? ''
    },
    settle: async () => void (await settleOpen(payments)),
    chargePlans: async () => void (await chargeDuePlans(payments)),
    refund: async (donationId, amount) => {
      await refundDonation(payments, { donationId, kind: 'refund', amount: amount as Decimal | undefined })
    },
    follow: (chargeId) => followCharge(payments, chargeId),
  }
}
