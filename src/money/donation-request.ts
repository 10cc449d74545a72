import type { CurrencyCode, Decimal } from '../kernel/money.js'
import { notesOf } from './gateways/charge-notes.js'
import type { Charge } from './gateways/gateway.js'
import type { MaskedCard } from './gateways/sandbox/test-cards.js'
import { sumOf } from './payments.js'

/** A donation request whose fields have been read and checked; empty fields are absent. */
export type DonationRequest = {
  readonly refcode: string
  readonly transactionId?: string
  readonly email: string
  readonly twitterUsername?: string
  readonly amount: Decimal
  /** A tip to the platform. */
  readonly addon?: Decimal
  readonly currency: CurrencyCode
  readonly projectId: number
  /** Present: the first gift of a plan. */
  readonly frequency?: 'monthly'
  readonly newsletterPlatform: boolean
  readonly newsletterCharity: boolean
  readonly noteToOrganization?: string
  readonly partnerCode?: string
  /** In which language the donor wants mail: the primary one, such as `fr`. */
  readonly language?: string
  /** The one that the request's header asks for; it is no part of the request. */
  readonly acceptedLanguage?: string
  readonly ipAddress?: string
  readonly userAgent?: string
  /** Names and address, as they came; only fields that were sent. */
  readonly payer: Readonly<Record<string, string>>
  /** Version 2. */
  readonly payment?: { readonly gateway: string } & Pick<
    Charge,
    'gatewayKey' | 'method' | 'deviceData' | 'threeDSecureAuthenticationId'
  >
  /** Version 1 with one of the published test cards. */
  readonly card?: MaskedCard
}

/** What the payment instrument is charged: the donation and the tip. */
export function chargedOf({ amount, addon, currency }: DonationRequest): Decimal {
  return sumOf(amount, addon ?? ('0' as Decimal), currency)
}

/** The charge of a request under the given reference. */
export function chargeOf(request: DonationRequest, reference: string, attempt = 1): Charge {
  const { payment, payer, email, ipAddress, userAgent } = request
  if (!payment) throw new TypeError('only a request of version 2 can be charged')
  const { gatewayKey, method, deviceData, threeDSecureAuthenticationId } = payment
  return {
    ...{ reference, attempt, notes: notesOf(request) },
    // Without a transactionId no request can be the same as an earlier one.
    again: request.transactionId !== undefined,
    mayAsk: request.transactionId !== undefined,
    ...(request.frequency !== undefined && { keeps: true }),
    amount: chargedOf(request),
    currency: request.currency,
    gatewayKey,
    method,
    ...(deviceData !== undefined && { deviceData }),
    ...(threeDSecureAuthenticationId !== undefined && { threeDSecureAuthenticationId }),
    payer: {
      ...payer,
      email,
      ...(ipAddress !== undefined && { ipAddress }),
      ...(userAgent !== undefined && { userAgent }),
    },
  }
}
