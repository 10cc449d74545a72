import type { Operator } from '../../accounts/sql/audit-events.js'
import { isoDateOf } from '../../kernel/dates.js'
import type { Donor } from '../../kernel/donor.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { type Decimal, toMinorUnits } from '../../kernel/money.js'
import type { DonorVault } from '../../money/donors/donor-vault.js'
import { type DonorRecord, donorOf, findDonor } from '../../money/donors/find-donor.js'
import type { Followed } from '../../money/follow-charge.js'
import { followAndClose } from '../../money/handle-webhooks.js'
import type { Payments } from '../../money/payments.js'
import { refundDonation } from '../../money/refund-donation.js'
import { findChargeOf } from '../../money/sql/charge-states.js'
import { endPlan, findPlan } from '../../money/sql/donation-plans.js'
import { requeueReceiptMail } from '../../money/sql/receipt-mails.js'
import { type RefundIntent, type RefundKind, sumRefundsSince } from '../../money/sql/refunds.js'
import type { Db } from '../../platform/database/connection.js'
import { orNotFound } from '../command-line.js'
import { audited, auditOperator } from './audit.js'
import type { Runtime } from './runtime.js'

type RefundByHand = {
  readonly donationId: number
  readonly kind: RefundKind
  readonly amount: Decimal | undefined
  /** The most that may be given back in a UTC day, in the currency of the books. */
  readonly mostInDay?: Decimal
}

/** Gives a donation back, all that is left or a part; a chargeback is only booked. Throws as `refundDonation`, and beyond the limit of a day. */
export async function refundByHand(
  runtime: Runtime,
  payments: Payments,
  { mostInDay, ...wanted }: RefundByHand,
  operator?: Operator,
): Promise<RefundIntent> {
  const action = wanted.kind === 'refund' ? 'donation-refunded' : 'donation-charged-back'
  const subject = `donation ${wanted.donationId}`
  try {
    return await refundDonation(payments, {
      ...wanted,
      recorded: async (db, { amount, donation, reference }) => {
        if (mostInDay !== undefined) {
          const sum = await sumRefundsSince(db, new Date(`${isoDateOf(payments.clock())}T00:00:00Z`))
          if (toMinorUnits(sum, 3) > toMinorUnits(mostInDay, 3)) {
            throw new ServiceError(
              'request-invalid',
              `expected refunds of at most ${mostInDay} ${payments.currency} in a day (OPS_REFUND_LIMIT); with this one it would be ${sum}`,
            )
          }
        }
        const details = { amount, currency: donation.currency, reference }
        await auditOperator(runtime, db, { action, subject, details }, operator)
      },
    })
  } catch (error) {
    if (toServiceError(error).code === 'payment-unavailable') {
      const details = { gateway: 'gave nothing back' }
      await auditOperator(runtime, runtime.store.db, { action, refused: true, subject, details }, operator)
    }
    throw error
  }
}

/** Makes the receipt of a donation due, again if need be. */
export async function mailReceiptAgain(runtime: Runtime, id: number, operator?: Operator): Promise<void> {
  const none = `donation ${id} has no receipt, or its receipt is being mailed right now`
  const requeue = async (db: Db) => orNotFound((await requeueReceiptMail(db, id, runtime.clock())) || undefined, none)
  await audited(runtime, { action: 'receipt-requeued', subject: `donation ${id}` }, requeue, operator)
}

/** Ends a plan: nothing more is charged. */
export async function endPlanByHand(runtime: Runtime, id: number, operator?: Operator): Promise<void> {
  const end = async (db: Db) => {
    orNotFound(await findPlan(db, id), `there is no plan ${id}`)
    const isEnded = await endPlan(db, id, { reason: 'the operator ended it', at: runtime.clock() })
    if (!isEnded) throw new ServiceError('request-invalid', `plan ${id} has ended already`)
  }
  await audited(runtime, { action: 'plan-ended', subject: `plan ${id}` }, end, operator)
}

/** Brings the books in line with the charge of a donation; returns how that ended. Throws `not-found` and `request-invalid`. */
export async function compareByHand(
  runtime: Runtime,
  payments: Payments,
  donationId: number,
  operator?: Operator,
): Promise<{ readonly charge: string; readonly found: Followed }> {
  const { db } = runtime.store
  const known = orNotFound(await findChargeOf(db, donationId), `there is no donation ${donationId}`)
  const { chargeId: charge } = known
  const { name } = payments.gateway
  if (charge === undefined || known.gateway !== name) {
    throw new ServiceError('request-invalid', `donation ${donationId} has no charge at the gateway ${name}`)
  }
  const found = await followAndClose(payments, charge)
  const event = { action: 'charge-compared', subject: `donation ${donationId}`, details: { found } } as const
  await auditOperator(runtime, db, event, operator)
  return { charge, found }
}

/** Who made a donation; the look is entered. Undefined: nobody is known. */
export async function discloseDonor(
  runtime: Runtime,
  vault: DonorVault,
  donationId: number,
  operator?: Operator,
): Promise<Donor | undefined> {
  const { db } = runtime.store
  const donor = await donorOf(db, vault, donationId)
  const event = { action: 'donor-disclosed', subject: `donation ${donationId}` } as const
  if (donor) await auditOperator(runtime, db, event, operator)
  return donor
}

/** The donations of a person; the look is entered, without who was looked for. */
export async function discloseDonations(
  runtime: Runtime,
  vault: DonorVault,
  email: string,
  operator?: Operator,
): Promise<DonorRecord[]> {
  const { db } = runtime.store
  const donations = await findDonor(db, vault, email)
  const event = { action: 'donor-disclosed', details: { donations: donations.length } } as const
  if (donations.length > 0) await auditOperator(runtime, db, event, operator)
  return donations
}
