import type { Clock } from '../kernel/dates.js'
import { ServiceError } from '../kernel/errors.js'
import { type CurrencyCode, type Decimal, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../kernel/money.js'
import type { Store } from '../platform/database/store.js'
import type { DonorVault } from './donors/donor-vault.js'
import type { Gateway } from './gateways/gateway.js'
import type { DonationBooks } from './sql/donation-books.js'

/** The smallest and the largest donation of a currency; without `most` the largest that the books can hold. */
export type GiftLimits = { readonly least: Decimal; readonly most?: Decimal | undefined }

/** The limits where the operator sets none. */
export const usualLimits: GiftLimits = { least: '10' as Decimal }

/** What payments and refunds work with. */
export type Payments = {
  readonly store: Store
  /** Enters donations; one per process, since it batches concurrent entries. */
  readonly books: DonationBooks
  readonly gateway: Gateway
  readonly donors: DonorVault
  readonly clock: Clock
  /** How long the gateway may take to answer one call. */
  readonly timeoutMs: number
  /** The platform's share of each donation, as a percentage. */
  readonly feePercent: Decimal
  /** The platform's currency, in which the books are. */
  readonly currency: CurrencyCode
  /** The currencies that are taken, the platform's among them. */
  readonly limits: Readonly<Record<string, GiftLimits>>
  /** Whether receipts are mailed to donors. */
  readonly mailsReceipts?: boolean
  /** Present: these are a rehearsal's, with the sandbox of this service and no real publisher; asks how its time was moved. */
  readonly rehearsal?: { readonly refresh: () => Promise<void> }
  /** Why donations are refused at the moment, for operators; undefined: they are taken. */
  readonly closedBecause?: () => Promise<string | undefined>
  /** Reports what a person must look at, such as amounts that do not agree; never personal data. */
  readonly warn: (details: Readonly<Record<string, string | number>>, message: string) => void
}

/** Throws `donations-closed` while no donations are taken; the reason names variables, and is for operators. */
export async function ensureOpen({ closedBecause }: Payments): Promise<void> {
  if ((await closedBecause?.()) === undefined) return
  throw new ServiceError('donations-closed', 'no donations are taken at the moment')
}

/** A failed donation is looked up once more after this time, in case its charge came later than the processor promised. */
export const lookAgainSeconds = 600

/** Seconds within which a charge that is requested in time (`isLate`) may still appear at the gateway. */
export function leaseSecondsOf({ gateway, timeoutMs }: Payments): number {
  return (2 * timeoutMs) / 1000 + gateway.lateSeconds
}

/**
 * Whether so much time has passed since a lease was asked for (`performance.now()`) that no money may be moved under it: the
 * process stood still, and another one may have looked already.
 */
export function isLate({ timeoutMs }: Payments, leasedAt: number): boolean {
  return performance.now() - leasedAt >= timeoutMs
}

/** The platform's share of an amount, rounded half up to the currency's smallest unit. */
export function feeOf(amount: Decimal, percent: Decimal, currency: CurrencyCode): Decimal {
  const places = minorUnitExponent(currency)
  return fromMinorUnits((toMinorUnits(amount, places) * toMinorUnits(percent, 2) + 5000n) / 10_000n, places)
}

/** The sum of two amounts in the currency's places. */
export function sumOf(a: Decimal, b: Decimal, currency: CurrencyCode): Decimal {
  const places = minorUnitExponent(currency)
  return fromMinorUnits(toMinorUnits(a, places) + toMinorUnits(b, places), places)
}
