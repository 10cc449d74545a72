import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { ProjectTotals } from '../kernel/donation.js'
import { invalidFields, ServiceError } from '../kernel/errors.js'
import { type Decimal, fromMinorUnits, signOf, toMinorUnits } from '../kernel/money.js'
import { awaitEarlierDonation } from './await-donation.js'
import { chargeOf, type DonationRequest } from './donation-request.js'
import type { DonorVault } from './donors/donor-vault.js'
import { ensureOpen, feeOf, leaseSecondsOf, type Payments } from './payments.js'
import { type EarlierDonation, findDonationByKey, findDonationTarget } from './sql/donation-intents.js'
import type { Settlement } from './sql/donation-outcomes.js'
import { type PaymentResult, takePayment } from './take-payment.js'

/** Who submits: the API key, and the request's own id, which stands in for a missing `transactionId`. */
export type DonationCaller = { readonly keyId: number; readonly requestId: string }

/**
 * Takes a donation: records the intent, charges it, enters it into the books. The same `transactionId` with the same
 * request gives the first outcome again, without a second charge, also while the first request is still running. Throws
 * `donations-closed`, `not-found`, `project-inactive`, `request-invalid` (the `transactionId` belongs to another request),
 * `payment-declined`, `payment-unavailable`, `payment-pending` or `donor-key-missing` (the first request cannot be compared).
 */
export async function submitDonation(
  payments: Payments,
  { keyId, requestId }: DonationCaller,
  request: DonationRequest,
): Promise<Settlement> {
  await ensureOpen(payments)
  const { transactionId, projectId } = request
  const idempotencyKey = transactionId === undefined ? `rq:${requestId}` : `tx:${transactionId}`
  const reference = randomUUID()
  const charge = (chargeReference: string) => chargeOf(request, chargeReference)
  try {
    const intent = { ...toIntent(payments, request, reference), keyId, idempotencyKey }
    const id = await payments.books.recordIntent(intent)
    if (id !== undefined) return settled(await takePayment(payments, id, charge(reference)))
    const earlier = await findDonationByKey(payments.store.db, { keyId, idempotencyKey })
    if (!earlier) {
      await findOpenProject(payments, projectId)
      throw new ServiceError(
        'payment-unavailable',
        'the donation could not be taken at this moment; nothing was charged',
      )
    }
    refuseOtherPayload(payments.donors, request, earlier)
    return settled(await awaitEarlierDonation(payments, earlier, charge))
  } catch (error) {
    throw withAdvice(error, transactionId)
  }
}

/** Checks a test donation in full and returns its outcome; stores and charges nothing. */
export async function rehearseDonation(payments: Payments, request: DonationRequest): Promise<Settlement> {
  const before = await findOpenProject(payments, request.projectId)
  return {
    receiptNumber: 'R0-GC0-TEST',
    settledAt: payments.clock(),
    totals: totalsAfter(before, request),
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
  const extra = Object.entries({ twitterUsername, noteToOrganization, ipAddress, userAgent })
  const details = { ...payer, ...Object.fromEntries(extra.flatMap(([name, value]) => (value ? [[name, value]] : []))) }
  const payloadSalt = randomBytes(16)
  return {
    projectId: request.projectId,
    amount,
    addon: addon ?? ('0' as Decimal),
    fee: feeOf(amount, payments.feePercent, currency),
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

/** Equal requests have equal texts, since the reader fills in their fields in one order. */
function payloadDigest(request: DonationRequest, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(JSON.stringify(request)).digest()
}

function refuseOtherPayload(
  donors: DonorVault,
  request: DonationRequest,
  { donation: { reference = '' }, payload }: EarlierDonation,
): void {
  if (payload && donors.provesPayload(payload, reference, payloadDigest(request, payload.salt))) return
  const expected = payload
    ? 'one that was not used before: this one belongs to another donation'
    : 'one that was not used before: this one belongs to a donation whose donor has been erased'
  throw invalidFields([{ field: 'donation.transactionId', expected }])
}

function settled(result: PaymentResult): Settlement {
  if (result.kind === 'settled') return result
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
