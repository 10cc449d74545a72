import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Decline, ProjectTotals } from '../../domain/donation.js'
import { ServiceError } from '../../domain/errors.js'
import { type Decimal, fromMinorUnits, signOf, toMinorUnits } from '../../domain/money.js'
import type { Charge } from '../../payments/gateway.js'
import { feeOf, leaseSecondsOf, type Payments, sumOf } from '../../payments/payments.js'
import { type PaymentResult, takePayment } from '../../payments/take-payment.js'
import { findDonationByKey, findDonationTarget } from '../../store/donations/donation-intents.js'
import type { DonationAnswer } from '../representations/donation.js'
import { awaitEarlierDonation } from './await-donation.js'
import type { DonationRequest } from './donation-request.js'

/** Who submits: the API key, and the request's own id, which stands in for a missing `transactionId`. */
export type DonationCaller = { readonly keyId: number; readonly requestId: string }

/**
 * Takes a donation: intent, charge, books (issue of the contract: section 6.3). The same `transactionId` with the same
 * request gives the first answer again, without a second charge, also while the first is still under way. Throws
 * `not-found`, `project-inactive`, `request-invalid` (the `transactionId` belongs to another request),
 * `payment-declined`, `payment-unavailable` or `payment-pending`.
 */
export async function submitDonation(
  payments: Payments,
  { keyId, requestId }: DonationCaller,
  request: DonationRequest,
): Promise<DonationAnswer> {
  const { transactionId, projectId } = request
  const idempotencyKey = transactionId === undefined ? `rq:${requestId}` : `tx:${transactionId}`
  const reference = randomUUID()
  try {
    const id = await payments.books.recordIntent({
      ...toIntent(payments, request),
      reference,
      keyId,
      idempotencyKey,
    })
    if (id !== undefined) return toAnswer(request, await takePayment(payments, id, toCharge(request, reference)))
    const earlier = await findDonationByKey(payments.store.db, { keyId, idempotencyKey })
    if (!earlier) {
      await findOpenProject(payments, projectId)
      throw new ServiceError(
        'payment-unavailable',
        'the donation could not be taken at this moment; nothing was charged',
      )
    }
    refuseOtherPayload(request, earlier.payload)
    const result = await awaitEarlierDonation(payments, earlier, (itsReference) => toCharge(request, itsReference))
    return toAnswer(request, result)
  } catch (error) {
    throw withAdvice(error, transactionId)
  }
}

/** The answer to a test: everything is checked and told as if it had been taken, and nothing is stored or charged. */
export async function rehearseDonation(
  payments: Pick<Payments, 'store' | 'clock'>,
  request: DonationRequest,
): Promise<DonationAnswer> {
  const before = await findOpenProject(payments, request.projectId)
  return {
    ...toAnswer(request, {
      kind: 'settled',
      receiptNumber: 'R0-GC0-TEST',
      settledAt: payments.clock(),
      totals: totalsAfter(before, request),
    }),
    paymentDetail: request.payment ? undefined : echoPaymentDetail(request),
  }
}

async function findOpenProject({ store }: Pick<Payments, 'store'>, id: number): Promise<ProjectTotals> {
  const target = await findDonationTarget(store.db, id)
  if (!target) throw new ServiceError('not-found', `there is no project ${id}`)
  if (!target.open) throw new ServiceError('project-inactive', `project ${id} is inactive and takes no donations`)
  return target.totals
}

function toIntent(payments: Payments, request: DonationRequest) {
  const { amount, addon, currency, payer, email } = request
  const extra = {
    twitterUsername: request.twitterUsername,
    noteToOrganization: request.noteToOrganization,
    ipAddress: request.ipAddress,
    userAgent: request.userAgent,
  }
  const present = Object.entries(extra).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const payloadSalt = randomBytes(16)
  return {
    projectId: request.projectId,
    amount,
    addon: addon ?? ('0' as Decimal),
    fee: feeOf(amount, payments.feePercent, currency),
    currency,
    gateway: payments.gateway.name,
    transactionId: request.transactionId,
    refcode: request.refcode,
    partnerCode: request.partnerCode,
    newsletterPlatform: request.newsletterPlatform,
    newsletterCharity: request.newsletterCharity,
    at: payments.clock(),
    leaseSeconds: leaseSecondsOf(payments),
    donor: {
      email,
      details: { ...payer, ...(Object.fromEntries(present) as Record<string, string>) },
      payloadSalt,
      payloadHash: payloadHash(request, payloadSalt),
    },
  }
}

function toCharge(request: DonationRequest, reference: string): Charge {
  const { payment, payer, email, ipAddress, userAgent } = request
  if (!payment) throw new TypeError('only a request of version 2 can be charged')
  return {
    reference,
    amount: chargedOf(request),
    currency: request.currency,
    gatewayKey: payment.gatewayKey,
    method: payment.method,
    payer: {
      ...payer,
      email,
      ...(ipAddress !== undefined && { ipAddress }),
      ...(userAgent !== undefined && { userAgent }),
    },
  }
}

function chargedOf({ amount, addon, currency }: DonationRequest): Decimal {
  return sumOf(amount, addon ?? ('0' as Decimal), currency)
}

/** Readers build requests in one order of fields, so equal requests have equal texts. */
function payloadHash(request: DonationRequest, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(JSON.stringify(request)).digest()
}

function refuseOtherPayload(request: DonationRequest, first: { salt: Buffer; hash: Buffer } | undefined): void {
  if (first && payloadHash(request, first.salt).equals(first.hash)) return
  const expected = first
    ? 'one that was not used before: this one belongs to another donation'
    : 'one that was not used before: this one belongs to a donation whose donor has been erased'
  throw new ServiceError('request-invalid', `donation.transactionId: expected ${expected}`, {
    problems: [{ field: 'donation.transactionId', expected }],
  })
}

function toAnswer(request: DonationRequest, result: PaymentResult): DonationAnswer {
  if (result.kind === 'declined') throw declined(result.decline)
  return {
    amount: request.amount,
    addon: request.addon,
    charged: chargedOf(request),
    currency: request.currency,
    at: result.settledAt,
    email: request.email,
    project: result.totals,
    refcode: request.refcode,
    newsletterCharity: request.newsletterCharity,
    newsletterPlatform: request.newsletterPlatform,
    transactionId: request.transactionId,
    receiptNumber: result.receiptNumber,
    paymentDetail: undefined,
  }
}

function declined({ code, text }: Decline): ServiceError {
  return new ServiceError('payment-declined', `The payment was declined: ${text}.`, { number: code })
}

/** Tells the client of an unfinished payment what is safe to do. */
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
  const add = (a: Decimal, sign: bigint) => fromMinorUnits(toMinorUnits(a, 3) + sign * toMinorUnits(amount, 3), 3)
  const funding = add(before.funding, 1n)
  const { goal } = before
  const rest = goal && fromMinorUnits(toMinorUnits(goal, 3) - toMinorUnits(funding, 3), 3)
  return {
    ...before,
    funding,
    numberOfDonations: before.numberOfDonations + 1,
    ...(rest !== undefined && { remaining: signOf(rest) < 0 ? ('0' as Decimal) : rest }),
  }
}

/** Names and address as they came, and the card masked (wire contract 6.3: version 1 only). */
function echoPaymentDetail({ payer, card }: DonationRequest): (readonly [string, string])[] {
  const fields = Object.entries(payer)
  if (!card) return fields
  return [
    ...fields,
    ['creditCardNumber', card.maskedNumber],
    ['creditCardType', card.type],
    ...(card.expiryMonth === undefined ? [] : [['expiryDateMonth', card.expiryMonth] as const]),
    ...(card.expiryYear === undefined ? [] : [['expiryDateYear', card.expiryYear] as const]),
    ['securityCode', 'XXX'],
  ]
}
