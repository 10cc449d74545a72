import type { Decline } from '../../kernel/donation.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { within } from '../../kernel/within.js'
import type { ChargeNotes } from './charge-notes.js'

/**
 * The port to a payment processor. A call may take until its signal is aborted. It throws `GatewayRefusal` when the gateway
 * certainly did nothing, and anything else when the outcome is not known.
 */
export type Gateway = {
  /** Its name in the books; that of a gateway at which no money moves ends with `sandbox`. */
  readonly name: string
  /** Values of the wire's `paymentGateway` that mean this gateway, in small letters. */
  readonly wireNames: readonly string[]
  /** Names the account that is charged. Throws `GatewayRefusal` when the keys or the account's currency are wrong. */
  describeAccount(signal: AbortSignal): Promise<string>
  /** What the account lacks for gifts in these currencies, in words for the operator; absent: that cannot be asked. */
  listLacks?(currencies: readonly string[], signal: AbortSignal): Promise<readonly string[]>
  /** What an operator may want to set otherwise; nothing of it is a fault. */
  readonly notes?: readonly string[]
  /** A nonce that is approved as long as no money moves. */
  readonly testNonce: string
  /** Whether it charges this foreign currency and reports the settled amount. */
  takes?(currency: string): boolean
  /** What a page needs to make a nonce with the processor's client library. */
  clientToken(signal: AbortSignal): Promise<string>
  /**
   * Charges once per reference: a later call with the same reference and `again` must not charge again, whoever made the
   * first. Calls with one reference that the books know of never overlap: the later one comes `lateSeconds` after the signal
   * of the earlier one was aborted. A charge can be found under its reference by then, or never. Calls the signal's
   * `throwIfAborted` right before it sends the charge.
   */
  charge(charge: Charge, signal: AbortSignal): Promise<ChargeOutcome>
  readonly lateSeconds: number
  /** Whether it keeps ways to pay, which regular gifts need. */
  readonly keepsMethods?: boolean
  /** The charge with our reference; undefined when the gateway has none, or has voided it. */
  findByReference(wanted: WantedCharge, signal: AbortSignal): Promise<FoundCharge | undefined>
  /**
   * Ends the charge with our reference that waits for the donor, so that nobody can complete it any more. Throws when it is not
   * certain that it has ended. Absent: no charge of this gateway waits for a donor.
   */
  abandon?(wanted: WantedCharge, signal: AbortSignal): Promise<void>
  /**
   * Gives part or all of a charge back, once per `reference`: before its settlement by a void where the processor does
   * that. Throws `RefundLater` when it can be done only after the settlement.
   */
  refund(refund: Refund, signal: AbortSignal): Promise<{ readonly refundId: string }>
  /** What the processor has of one charge at this moment; undefined: no charge has this id. */
  readCharge(chargeId: string, signal: AbortSignal): Promise<ChargeState | undefined>
  /**
   * All that the processor settled from one instant until before another, in any order, and charges to which something
   * else happened then. Throws when the answer may be incomplete.
   */
  settledBetween(from: Date, until: Date, signal: AbortSignal): AsyncIterable<ProcessorEntry>
  /** How many days after an approval a charge has settled at the latest. */
  readonly settlesWithinDays: number
  /** What the processor sends by itself; absent: nothing, or the secret to check it with is missing. */
  readonly webhooks?: Webhooks | undefined
}

export type Webhooks = {
  /** The last part of the address that the processor sends to. */
  readonly name: string
  /** Content-Type of what it sends. */
  readonly mediaType: string
  /** Kinds that the operator must subscribe to, where the processor does not say which it sends. */
  readonly unseenKinds?: readonly string[]
  /**
   * Checks the signature and reads what was sent. Throws `webhook-refused` when the signature does not fit or is too old at
   * `now`, `request-malformed` when what was signed cannot be read.
   */
  read(delivery: WebhookDelivery, now: Date): Promise<WebhookEvent>
}

type WebhookDelivery = { readonly body: Buffer; readonly header: (name: string) => string | undefined }

/** An event of one charge, as a processor reports it; the charge itself is read before anything is done. */
export type WebhookEvent = {
  /** The processor's id; the same event has the same id in every delivery. */
  readonly id: string
  readonly kind: string
  readonly at: Date
  /** Whether no money moves at its side of the processor. */
  readonly test: boolean
  /** A way to pay, or a donor, that the processor has given up: nothing more is charged with it. */
  readonly endedMethod?: string | undefined
  /** Absent: an event that this service has no use for, or one of a way to pay. */
  readonly chargeId?: string | undefined
  readonly reference?: string | undefined
}

/** Whether no money moves at this gateway. */
export function isSandbox({ name }: Pick<Gateway, 'name'>): boolean {
  return name.endsWith('sandbox')
}

/** A charge that may have been made. */
export type WantedCharge = {
  readonly reference: string
  /** When its donation was received: it was not charged before. */
  readonly since: Date
}

/** How the donor pays: a token of the processor in place of a card. Only a kept one is stored, which is of no use without our keys. */
export type PaymentMethod =
  | { readonly kind: 'nonce'; readonly nonce: string }
  | { readonly kind: 'saved-token'; readonly token: string }
  | ({ readonly kind: 'kept' } & KeptMethod)

/** The processor's names for a way to pay that it keeps for charges without the donor, and for the donor. */
export type KeptMethod = { readonly token: string; readonly customer?: string | undefined }

export type Charge = {
  /** Our name for this payment, unique for ever. */
  readonly reference: string
  /** Whether an earlier call may have had the same reference, known to the books or lost, and may have charged. */
  readonly again?: boolean
  /** Which try of the donation this is, when earlier ones ended without a charge; the first: 1. */
  readonly attempt?: number
  /** Whether the donor may be asked to confirm the payment: the caller can repeat the request after that. */
  readonly mayAsk?: boolean
  /** Whether the processor is to keep the way to pay for later charges without the donor. */
  readonly keeps?: boolean
  /** What the charge carries beside the reference; absent: it is no donation. */
  readonly notes?: ChargeNotes
  readonly amount: Decimal
  readonly currency: CurrencyCode
  /** The key that the processor gave to the client's page. */
  readonly gatewayKey: string
  readonly method: PaymentMethod
  /** Device data from the processor's client library, for its checks against fraud. */
  readonly deviceData?: string
  /** The processor's id of a 3-D Secure authentication that was made apart from the nonce. */
  readonly threeDSecureAuthenticationId?: string
  /** Who pays, for the processor's own checks: names, address, `ipAddress`, `userAgent`. */
  readonly payer: Readonly<Record<string, string>>
}

export type ChargeOutcome =
  | ({
      readonly kind: 'approved'
      readonly chargeId: string
      readonly liabilityShifted?: boolean | undefined
      readonly settled?: SettledMoney | undefined
    } & Earlier)
  | { readonly kind: 'declined'; readonly decline: Decline }
  /** The donor's bank wants the donor to confirm it, which the processor's client library does with the secret. */
  | ({ readonly kind: 'action-required'; readonly clientSecret: string } & Earlier)
  /** The donor has done all; whether money comes is known in days, as with a direct debit. */
  | ({ readonly kind: 'processing' } & Earlier)

/** What came of a charge in the currency that the processor pays out in; absent: it has not said so yet. */
export type SettledMoney = { readonly amount: Decimal; readonly currency: string }

type Earlier = {
  /** What is charged, where an earlier call may have charged it. */
  readonly charged?: Charged | undefined
}

/** What a processor has charged; without notes where it was charged before there were any. */
export type Charged = { readonly amount: Decimal; readonly currency: string; readonly notes?: ChargeNotes | undefined }

/** An outcome that the gateway has stored, and what was charged. */
export type FoundCharge = Charged & {
  readonly outcome: ChargeOutcome
  /** Present where the charge was to keep it, and was approved. */
  readonly kept?: KeptMethod | undefined
}

/** The outcome of a charge that an earlier call has made. */
export function asEarlier({ outcome, kept: _, ...charged }: FoundCharge): ChargeOutcome {
  return outcome.kind === 'declined' ? outcome : { ...outcome, charged }
}

/** `failed`: approved at first, without money in the end, or declined; `voided`: ended before money moved. */
export type ChargeProgress = 'pending' | 'settled' | 'failed' | 'voided'

/** One charge as its processor has it, whoever changed it there. */
export type ChargeState = {
  readonly chargeId: string
  /** Absent: it was not charged by this service. */
  readonly reference?: string | undefined
  readonly notes?: ChargeNotes | undefined
  /** When it was made. */
  readonly at: Date
  readonly amount: Decimal
  readonly currency: string
  readonly settled?: SettledMoney | undefined
  readonly progress: ChargeProgress
  /** Refunds that were made, or are being made; without those that failed. */
  readonly refunds: readonly ProcessorRefund[]
  readonly disputes: readonly Dispute[]
}

/** Money that the processor gave back; `reference` is ours, where the refund has one. */
export type ProcessorRefund = { readonly id: string; readonly reference?: string | undefined; readonly amount: Decimal }

/** A donor's complaint to the card's bank; `lost`: the bank has taken the money back for good. */
export type Dispute = { readonly id: string; readonly amount: Decimal; readonly status: DisputeStatus }
export type DisputeStatus = 'open' | 'won' | 'lost'

export type Refund = {
  /** Our name for this refund, unique for ever. */
  readonly reference: string
  readonly chargeReference: string
  readonly chargeId: string
  readonly amount: Decimal
  readonly currency: CurrencyCode
}

/** An entry of a processor's list: money of a charge or a refund has moved, or a charge has changed (`changed`). */
export type ProcessorEntry =
  | {
      readonly kind: 'charge' | 'refund'
      /** The processor's name for it. */
      readonly id: string
      /** The charge's name at the processor; of a refund: of the charge that it gives back. */
      readonly chargeId: string
      /** Our name for it; undefined: it was not made by us. */
      readonly reference: string | undefined
      readonly amount: Decimal
      readonly currency: string
      readonly settledAt: Date
    }
  | { readonly kind: 'changed'; readonly chargeId: string }

/** The gateway certainly did nothing: it could not be reached, or it refused the request as such. */
export class GatewayRefusal extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'GatewayRefusal'
  }
}

/** The gateway gave nothing back yet, and will when it is asked again after the charge has settled. */
export class RefundLater extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RefundLater'
  }
}

/** Runs a gateway call with a time-out: then it rejects, even when the call ignores its signal. */
export async function withTimeout<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const startedAt = performance.now()
  const late = () => {
    controller.abort()
    return new Error(`the payment gateway did not answer within ${ms} ms`)
  }
  // A process that stood still reads the answers that came meanwhile before its timers fire.
  signal.throwIfAborted = () => {
    if (signal.aborted || performance.now() - startedAt >= ms) throw late()
  }
  // A rejection after the time-out has no reader; the settlement looks the charge up.
  return await within(ms, call(signal), late)
}
