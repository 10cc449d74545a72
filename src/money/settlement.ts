import { toServiceError } from '../kernel/errors.js'
import { withTimeout } from './gateways/gateway.js'
import { leaseSecondsOf, lookAgainSeconds, type Payments } from './payments.js'
import { finishRefund } from './refund-donation.js'
import { type TakenOver, takeOverDonations } from './sql/donation-intents.js'
import { closeFailedDonation, recordFailed } from './sql/donation-outcomes.js'
import { takeOverOpenRefund } from './sql/refunds.js'
import { abandonCharge, findOutcome, isChargeOf, returnLateCharge, wantedCharge, wantedOf } from './take-payment.js'

/** What a round of settlement did; `open` could not be decided and is left to the next round. */
export type SettlementRound = {
  readonly settled: number
  readonly declined: number
  readonly failed: number
  readonly refunded: number
  /** For the donor, or for a slow payment. */
  readonly waiting: number
  readonly open: number
}

const batch = 50

/** A payment that its donor has not confirmed by then is ended. */
export const abandonedMs = 86_400_000
/** Why such a donation failed. */
export const notAnswered = 'not confirmed by the donor'

/**
 * Finishes what a dead process or a silent gateway left open: each open donation whose lease is over is looked up at
 * the gateway by our reference, and completed or failed; recorded refunds are made. Several processes may do this at once.
 * Stops between two donations when `signal` is aborted.
 */
export async function settleOpen(payments: Payments, signal?: AbortSignal): Promise<SettlementRound> {
  const counts = { settled: 0, declined: 0, failed: 0, refunded: 0, waiting: 0, open: 0 }
  const leaseSeconds = leaseSecondsOf(payments)
  for (;;) {
    const donations = await takeOverDonations(payments.store.db, 'received', { limit: batch, leaseSeconds })
    for (const donation of donations) {
      if (signal?.aborted) return counts
      counts[await settleOne(payments, donation)]++
    }
    // Do not start another batch while the gateway does not answer.
    if (donations.length < batch || counts.open > 0) break
  }
  for (let taken = 0; taken < batch; taken++) {
    if (signal?.aborted) return counts
    // One at a time: each must be made within its lease.
    const leasedAt = performance.now()
    const refund = await takeOverOpenRefund(payments.store.db, leaseSeconds)
    if (!refund) break
    try {
      await finishRefund(payments, refund, leasedAt)
      counts.refunded++
    } catch (error) {
      counts.open++
      payments.warn({ refundId: refund.id, error: toServiceError(error).message }, 'a refund is not finished yet')
    }
  }
  for (const donation of await takeOverDonations(payments.store.db, 'failed', { limit: batch, leaseSeconds })) {
    if (signal?.aborted) return counts
    await lookAgain(payments, donation)
  }
  return counts
}

/**
 * A charge of a failed donation is refunded, never counted: its caller was told that nothing was charged, and may have paid
 * again under another key. One of another amount or project is of a donation that the books lost, and is left.
 */
async function lookAgain(payments: Payments, donation: TakenOver): Promise<void> {
  const { gateway, store, timeoutMs, warn } = payments
  const { id, reference = '' } = donation
  try {
    const found = await withTimeout(timeoutMs, (signal) => gateway.findByReference(wantedCharge(donation), signal))
    if (found?.outcome.kind === 'approved' && isChargeOf(wantedOf(donation), found)) {
      const { amount, outcome } = found
      await returnLateCharge(payments, donation, { reference, chargeId: outcome.chargeId, amount })
    } else if (found?.outcome.kind !== 'processing') {
      await closeFailedDonation(store.db, donation)
    }
  } catch (error) {
    warn(
      { donationId: id, reference, error: toServiceError(error).message },
      'a late charge could not be ruled out yet',
    )
  }
}

async function settleOne(payments: Payments, donation: TakenOver): Promise<keyof SettlementRound> {
  const { store, clock, warn } = payments
  const { id, reference = '', receivedAt = new Date(0), lease } = donation
  try {
    const found = await findOutcome(payments, donation)
    if (found === 'differs') return 'open'
    if (found !== 'unknown') {
      if (found.kind === 'settled' || found.kind === 'declined') return found.kind
      const at = clock()
      if (found.kind === 'pending' || at.getTime() - receivedAt.getTime() < abandonedMs) return 'waiting'
      await abandonCharge(payments, donation)
      return (await recordFailed(store.db, id, { reason: notAnswered, at })) ? 'failed' : 'open'
    }
    const failure = { reason: 'never charged', at: clock(), lookAgainSeconds, lease }
    return (await recordFailed(store.db, id, failure)) ? 'failed' : 'open'
  } catch (error) {
    warn({ donationId: id, reference, error: toServiceError(error).message }, 'a donation could not be settled yet')
    return 'open'
  }
}
