import { createHash, randomBytes } from 'node:crypto'
import { addMonths, isoDateOf } from '../../kernel/dates.js'
import type { Donation } from '../../kernel/donation.js'
import type { Donor } from '../../kernel/donor.js'
import { toServiceError } from '../../kernel/errors.js'
import { type Decimal, sameAmount } from '../../kernel/money.js'
import { donorOf } from '../donors/find-donor.js'
import { withTimeout } from '../gateways/gateway.js'
import { leaseSecondsOf, type Payments, sumOf } from '../payments.js'
import { type EarlierDonation, findDonationByReference, findEarlierDonation } from '../sql/donation-intents.js'
import {
  activatePlan,
  claimDuePlan,
  type DuePlan,
  endClaimedPlan,
  enterPlanCharge,
  hasPlanCharge,
  notPaid,
  postponePlan,
  schedulePlan,
} from '../sql/donation-plans.js'
import { takePayment, wantedCharge } from '../take-payment.js'

const [day, batch] = [86_400_000, 50]

/** On which days after its instant a declined charge is tried again. */
const triedAgainAfterDays = [1, 3, 7]

/** An instant that no charge was begun for by then is left out, so that nobody is charged for months at once. */
const latestMs = 10 * day

/**
 * Charges the plans that are due, at most `batch` of them, each once for each instant: the charge has a reference that follows
 * from plan and instant, and is an ordinary donation. Safe to break off and to repeat, from several processes. Returns how
 * many plans were looked at.
 */
export async function chargeDuePlans(payments: Payments, signal?: AbortSignal): Promise<number> {
  const { store, gateway, clock, warn } = payments
  if ((await payments.closedBecause?.()) !== undefined) return 0
  let looked = 0
  while (looked < batch && !signal?.aborted) {
    const plan = await claimDuePlan(store.db, { gateway: gateway.name, now: clock() })
    if (!plan) break
    looked += 1
    try {
      await lookAt(payments, plan)
    } catch (error) {
      warn({ plan: plan.id, error: toServiceError(error).message }, 'a regular gift could not be charged yet')
    }
  }
  return looked
}

async function lookAt(payments: Payments, plan: DuePlan): Promise<void> {
  const first = await findEarlierDonation(payments.store.db, plan.donationId)
  if (!first || first.donation.status === 'received') return
  const { donation } = first
  if (donation.status === 'declined' || donation.status === 'failed') {
    return await end(payments, plan, 'ended', notPaid)
  }
  if (plan.state === 'starting') await start(payments, plan, donation)
  else await chargeInstant(payments, plan, first)
}

/** Asks the processor for its name of the donor's way to pay. */
async function start(payments: Payments, plan: DuePlan, donation: Donation): Promise<void> {
  const { gateway, store, timeoutMs } = payments
  const found = await withTimeout(timeoutMs, (signal) => gateway.findByReference(wantedCharge(donation), signal))
  if (sameAmount(donation.refunded, donation.amount)) {
    return await end(payments, plan, 'ended', 'the first gift was given back')
  }
  if (!found?.kept) return await end(payments, plan, 'asleep', 'the processor keeps no way to pay')
  await activatePlan(store.db, plan, { ...found.kept, nextAt: instantOf(donation, 1) })
}

async function chargeInstant(payments: Payments, plan: DuePlan, first: EarlierDonation): Promise<void> {
  const { store, clock } = payments
  const { db } = store
  const { nextAt = clock(), instant, tries } = plan
  const late = clock().getTime() - nextAt.getTime()
  if (late > latestMs && !(await hasPlanCharge(db, plan))) return await schedule(payments, plan, first.donation)
  if (first.keyId === undefined)
    return await end(payments, plan, 'asleep', 'the API key of the first gift is not known')
  const donor = await donorOf(db, payments.donors, plan.donationId)
  if (!donor) return await end(payments, plan, 'ended', 'the donor was erased')
  const charge = await takeCharge(payments, { ...plan, nextAt }, { first, donor })
  if (charge === 'moved on') return
  if (!charge) return await end(payments, plan, 'asleep', 'the project takes no donations')
  const { status } = charge.donation
  if (status === 'settled' || status === 'refunded') return await schedule(payments, plan, first.donation)
  if (status === 'received') return
  if (status === 'failed' && charge.chargeId === undefined) {
    if (late > latestMs) return await end(payments, plan, 'asleep', 'the processor could not be reached')
    return await postponePlan(db, plan, { tries, lookAt: new Date(clock().getTime() + 3_600_000) })
  }
  const again = triedAgainAfterDays[tries]
  if (again === undefined) return await end(payments, plan, 'asleep', `declined ${tries + 1} times at month ${instant}`)
  await postponePlan(db, plan, { tries: tries + 1, lookAt: new Date(nextAt.getTime() + again * day) })
}

/** The donation of an instant, charged where that is not done; undefined: the project takes none. `moved on`: by another process. */
async function takeCharge(
  payments: Payments,
  plan: DuePlan & { readonly nextAt: Date },
  { first, donor }: { readonly first: EarlierDonation; readonly donor: Donor },
): Promise<EarlierDonation | 'moved on' | undefined> {
  const { store, donors, books, gateway, clock } = payments
  const { reference: ofFirst = '', projectId, amount, addon, currency, refcode = '', fee } = first.donation
  const { id, instant, tries } = plan
  const [own] = donors.references('plan', ofFirst, String(instant), String(tries))
  const reference = await enterPlanCharge(store.db, plan, { reference: own, now: clock() })
  if (reference === undefined) return 'moved on'
  const find = () => findDonationByReference(store.db, [reference])
  const earlier = await find()
  if (earlier && (earlier.donation.status !== 'failed' || earlier.chargeId !== undefined)) return earlier
  // What is charged in another currency has its fee once it has settled.
  const isOwn = currency === payments.currency
  const payloadSalt = randomBytes(16)
  const digest = createHash('sha256').update(reference).digest()
  const leasedAt = performance.now()
  const recorded = await books.recordIntent({
    projectId,
    amount,
    addon,
    fee: isOwn ? fee : ('0' as Decimal),
    currency,
    reference,
    refcode,
    gateway: gateway.name,
    ...{ keyId: first.keyId ?? 0, idempotencyKey: `plan:${id}:${instant}:${tries}` },
    ...{ transactionId: `plan-${id}-${isoDateOf(plan.nextAt)}`, partnerCode: undefined },
    ...{ newsletterPlatform: false, newsletterCharity: false, at: clock(), leaseSeconds: leaseSecondsOf(payments) },
    donor: { ...donors.seal(donor, reference, digest), payloadSalt },
  })
  if (!recorded) {
    const other = await find()
    return other?.donation.status === 'failed' ? undefined : other
  }
  const { email, details } = donor
  const { firstname, lastname, address, address2, city, state, iso3166CountryCode, zip, phone } = details
  const named = { email, firstname, lastname, address, address2, city, state, iso3166CountryCode, zip, phone }
  const payer = Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  const { customer, method: token = '' } = plan
  const charge = {
    ...{ reference, attempt: recorded.attempt, again: true, notes: { projectId, addon, refcode } },
    ...{ amount: sumOf(amount, addon, currency), currency, gatewayKey: '', payer },
    method: { kind: 'kept', token, customer } as const,
  }
  // Its outcome is read from the books: what is not known yet is found by the settlement.
  // Were a first attempt told as tried before, the settlement would only look once more: nothing else follows from it.
  const tried = { triedBefore: recorded.attempt > 1, lease: recorded.lease, leasedAt }
  await takePayment(payments, recorded.id, charge, tried).catch((error: unknown) => {
    payments.warn({ plan: id, error: toServiceError(error).message }, 'a regular gift is not charged yet')
  })
  return await find()
}

/** The first instant after this one that is not over. */
async function schedule({ store, clock }: Payments, plan: DuePlan, first: Donation): Promise<void> {
  let instant = plan.instant + 1
  while (instantOf(first, instant) <= clock()) instant += 1
  await schedulePlan(store.db, plan, { instant, nextAt: instantOf(first, instant) })
}

async function end(
  { store, clock, warn }: Payments,
  plan: DuePlan,
  state: 'asleep' | 'ended',
  reason: string,
): Promise<void> {
  const ended = await endClaimedPlan(store.db, plan, { state, reason, at: clock() })
  if (ended && state === 'asleep') warn({ plan: plan.id, reason }, 'a regular gift sleeps')
}

/** The same day and time that many months after the first donation was paid; the last day of a month that is too short. */
function instantOf({ settledAt = new Date(0) }: Donation, months: number): Date {
  return new Date(addMonths(isoDateOf(settledAt), months) + settledAt.toISOString().slice(10))
}
