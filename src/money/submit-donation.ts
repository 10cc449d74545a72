import { randomBytes, randomUUID } from 'node:crypto'
import type { Donation, ProjectTotals } from '../kernel/donation.js'
import { invalidFields, ServiceError } from '../kernel/errors.js'
import { type Decimal, fromMinorUnits, sameAmount, signOf, toMinorUnits } from '../kernel/money.js'
import { awaitEarlierDonation } from './await-donation.js'
import { chargeOf, type DonationRequest } from './donation-request.js'
import { donorLink } from './donors/donor-link.js'
import type { DonorVault } from './donors/donor-vault.js'
import { withTimeout } from './gateways/gateway.js'
import { earlierDigests, payloadDigest } from './payload-digests.js'
import { ensureOpen, feeOf, leaseSecondsOf, type Payments } from './payments.js'
import {
  claimDonation,
  type EarlierDonation,
  findDonationByKey,
  findDonationByReference,
  findDonationTarget,
} from './sql/donation-intents.js'
import type { Settlement } from './sql/donation-outcomes.js'
import { recordPlan } from './sql/donation-plans.js'
import { otherDonation, type PaymentResult, type PendingDonation, takePayment } from './take-payment.js'

/**
 * Who submits: the account, by a name that no loss of the database changes, the API key, and the request's own id, which
 * stands in for a missing `transactionId`.
 */
export type DonationCaller = { readonly account: string; readonly keyId: number; readonly requestId: string }

/** A donation that has settled, or one whose money is awaited. */
export type TakenDonation = (
  | Settlement
  | (PendingDonation & { readonly [name in 'receiptNumber' | 'settledAt']?: never })
) & {
  /** The last part of the address at which the donor ends the plan that it began. */
  readonly planLink?: string
}

/**
 * Takes a donation: records the intent, charges it, enters it into the books. The same `transactionId` with the same
 * request gives the first outcome again, without a second charge, also while the first request is still running, and also
 * when the books have lost it, since the charge is found at the processor by its reference. Throws
 * `donations-closed`, `not-found`, `project-inactive`, `request-invalid` (the `transactionId` belongs to another request),
 * `payment-declined`, `payment-action-required` (the donor confirms it, then the request is repeated), `payment-unavailable`, `payment-pending` or `donor-key-missing` (the first request cannot be compared).
 */
export async function submitDonation(
  payments: Payments,
  { account, keyId, requestId }: DonationCaller,
  request: DonationRequest,
): Promise<TakenDonation> {
  await ensureOpen(payments)
  const { transactionId, projectId } = request
  const idempotencyKey = transactionId === undefined ? `rq:${requestId}` : `tx:${transactionId}`
  const named = transactionId !== undefined && payments.donors.references(account, transactionId)
  const references = named || ([randomUUID()] as const)
  const intentOf = (reference: string) => ({ ...toIntent(payments, request, reference), keyId, idempotencyKey })
  let plan: { readonly planLink?: string } = {}
  /** Enters the plan before its first charge, so that no charge is without it. */
  const begin = async (donationId: number, reference: string) => {
    if (request.frequency === undefined) return
    const id = await recordPlan(payments.store.db, donationId, payments.clock())
    plan = { planLink: donorLink(payments.donors, 'plan', { id, reference }) }
  }
  const take = async (reference: string) => {
    const leasedAt = performance.now()
    const intent = await payments.books.recordIntent(intentOf(reference))
    if (!intent) return undefined
    const { id, attempt, lease } = intent
    await begin(id, reference)
    const held = { triedBefore: attempt > 1, lease, leasedAt }
    return await takePayment(payments, id, chargeOf(request, reference, attempt), held)
  }
  try {
    const first = await take(await usedReference(payments, references))
    if (first) return { ...taken(payments, first), ...plan }
    const { db } = payments.store
    const earlier =
      (await findDonationByKey(db, { keyId, idempotencyKey })) ?? (await findDonationByReference(db, references))
    if (earlier && (await isOwn(earlier))) {
      const { id, reference = '' } = earlier.donation
      await begin(id, reference)
      const result = await awaitEarlierDonation(payments, earlier, (ref) => chargeOf(request, ref))
      return { ...taken(payments, result), ...plan }
    }
    await findOpenProject(payments, projectId)
    // Another key of the account has a donation of this name, or one was given back under it.
    const over = earlier && (earlier.donation.status !== 'failed' || earlier.chargeId !== undefined)
    const other = over ? await take(randomUUID()) : undefined
    if (other) return { ...taken(payments, other), ...plan }
    throw new ServiceError('payment-unavailable', 'the donation could not be taken at this moment; nothing was charged')
  } catch (error) {
    throw withAdvice(error, transactionId)
  }

  /** Whether an earlier donation is that of this request. Throws when this key may have no other of its name. */
  async function isOwn(earlier: EarlierDonation): Promise<boolean> {
    if (earlier.donation.status === 'failed') return false
    const same = isSamePayload(payments.donors, request, earlier)
    if (earlier.keyId === undefined) {
      if (!same && (earlier.payload || !isEnteredAs(earlier.donation, request))) throw otherDonation()
      await claimDonation(payments.store.db, earlier.donation.id, intentOf(earlier.donation.reference ?? ''))
      return true
    }
    if (!same && earlier.keyId === keyId) throw earlier.payload ? otherDonation() : erasedDonation()
    return same
  }
}

/**
 * The reference to charge under: that of the key that encrypts first, or, after a change of keys, the one that a lost donation
 * was charged under.
 */
async function usedReference(payments: Payments, [current, ...older]: readonly [string, ...string[]]): Promise<string> {
  const { gateway, timeoutMs, clock } = payments
  for (const reference of older) {
    try {
      const wanted = { reference, since: clock() }
      if (await withTimeout(timeoutMs, (signal) => gateway.findByReference(wanted, signal))) return reference
    } catch (cause) {
      throw new ServiceError('payment-unavailable', 'the payment gateway cannot be asked; nothing was charged', {
        cause,
      })
    }
  }
  return current
}

/** Checks a test donation in full and returns its outcome; stores and charges nothing. */
export async function rehearseDonation(payments: Payments, request: DonationRequest): Promise<Settlement> {
  const before = await findOpenProject(payments, request.projectId)
  return {
    receiptNumber: 'R0-GC0-TEST',
    settledAt: payments.clock(),
    totals: request.currency === payments.currency ? totalsAfter(before, request) : before,
  }
}

async function findOpenProject({ store }: Payments, id: number): Promise<ProjectTotals> {
  const target = await findDonationTarget(store.db, id)
  // Reading clamps a number that is too large.
  const named = Number.isSafeInteger(id + 1) ? `project ${id}` : 'project with so large a number'
  if (!target) throw new ServiceError('not-found', `there is no ${named}`)
  if (!target.open) throw new ServiceError('project-inactive', `project ${id} is inactive and takes no donations`)
  return target.totals
}

function toIntent(payments: Payments, request: DonationRequest, reference: string) {
  const { amount, addon, currency, payer, email } = request
  const { twitterUsername, noteToOrganization, ipAddress, userAgent } = request
  const language = request.language ?? request.acceptedLanguage
  const extra = Object.entries({ twitterUsername, noteToOrganization, ipAddress, userAgent, language })
  const details = { ...payer, ...Object.fromEntries(extra.flatMap(([name, value]) => (value ? [[name, value]] : []))) }
  const payloadSalt = randomBytes(16)
  return {
    projectId: request.projectId,
    amount,
    addon: addon ?? ('0' as Decimal),
    // Of another currency it is known once the charge has settled.
    fee: currency === payments.currency ? feeOf(amount, payments.feePercent, currency) : ('0' as Decimal),
    currency,
    reference,
    gateway: payments.gateway.name,
    transactionId: request.transactionId,
    refcode: request.refcode,
    partnerCode: request.partnerCode,
    newsletterPlatform: request.newsletterPlatform,
    newsletterCharity: request.newsletterCharity,
    at: payments.clock(),
    leaseSeconds: leaseSecondsOf(payments),
    donor: {
      ...payments.donors.seal({ email, details }, reference, payloadDigest(request, payloadSalt)),
      payloadSalt,
    },
  }
}

function isSamePayload(
  donors: DonorVault,
  request: DonationRequest,
  { donation: { reference = '' }, payload }: EarlierDonation,
): boolean {
  if (!payload) return false
  const digests = [payloadDigest(request, payload.salt), ...earlierDigests(request, payload.salt)]
  return donors.provesPayload(payload, reference, digests)
}

/** Whether a donation that was entered from its charge says what the request does, as far as it says anything. */
function isEnteredAs({ projectId, amount, addon, currency }: Donation, request: DonationRequest): boolean {
  const [wanted, tip] = [request.amount, request.addon ?? ('0' as Decimal)]
  const sameMoney = currency === request.currency && sameAmount(amount, wanted) && sameAmount(addon, tip)
  return sameMoney && projectId === request.projectId
}

function erasedDonation(): ServiceError {
  const expected = 'one that was not used before: this one belongs to a donation whose donor has been erased'
  return invalidFields([{ field: 'donation.transactionId', expected }])
}

function taken({ gateway }: Payments, result: PaymentResult): TakenDonation {
  if (result.kind === 'settled' || result.kind === 'pending') return result
  if (result.kind === 'action-required') {
    const { clientSecret } = result
    throw new ServiceError(
      'payment-action-required',
      'The bank asks the donor to confirm the payment: let the page do that with requires_action, then repeat the request with the same transactionId.',
      { number: 2099, requiresAction: { paymentGateway: gateway.wireNames[0] ?? gateway.name, clientSecret } },
    )
  }
  const { code, text } = result.decline
  throw new ServiceError('payment-declined', `The payment was declined: ${text}.`, { number: code })
}

/** Adds to the error of an unfinished payment what its client may safely do. */
function withAdvice(error: unknown, transactionId: string | undefined): unknown {
  if (!(error instanceof ServiceError) || (error.code !== 'payment-pending' && error.code !== 'payment-unavailable')) {
    return error
  }
  const advice =
    transactionId !== undefined
      ? 'repeat the request with the same transactionId, it will not be charged twice'
      : error.code === 'payment-unavailable'
        ? 'the request may be repeated'
        : 'do not repeat the request, since without a transactionId it would be another donation'
  return new ServiceError(error.code, `${error.message}: ${advice}`, { cause: error.cause })
}

function totalsAfter(before: ProjectTotals, { amount }: DonationRequest): ProjectTotals {
  const funding = fromMinorUnits(toMinorUnits(before.funding, 3) + toMinorUnits(amount, 3), 3)
  const { goal } = before
  const rest = goal && fromMinorUnits(toMinorUnits(goal, 3) - toMinorUnits(funding, 3), 3)
  return {
    ...before,
    funding,
    numberOfDonations: before.numberOfDonations + 1,
    ...(rest !== undefined && { remaining: signOf(rest) < 0 ? ('0' as Decimal) : rest }),
  }
}
