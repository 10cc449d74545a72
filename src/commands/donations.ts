import type { Environment } from '../config/config.js'
import type { Donation, DonationStatus } from '../domain/donation.js'
import { ServiceError } from '../domain/errors.js'
import {
  type Decimal,
  minorUnitExponent,
  parseDecimal,
  roundToCurrency,
  signOf,
  toMinorUnits,
} from '../domain/money.js'
import { refundDonation } from '../payments/refund-donation.js'
import { findDonationHistory, listDonations } from '../store/donations/donations.js'
import type { Output } from './output.js'
import { openPayments } from './payments.js'
import { openRuntime } from './runtime.js'

/** What `giving donations list` may be asked for. */
export type DonationListOptions = {
  readonly project?: number
  readonly status?: DonationStatus
  readonly transaction?: string
  readonly limit: number
}

/** `giving donations list`: the newest first; nothing of it names a person. */
export async function listDonationsCommand(
  environment: Environment,
  options: DonationListOptions,
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const donations = await listDonations(runtime.store.db, {
    projectId: options.project,
    status: options.status,
    transactionId: options.transaction,
    limit: options.limit,
  })
  if (output.json) output.line(JSON.stringify(donations))
  else for (const donation of donations) output.line(describe(donation))
  if (!output.json && donations.length === 0) output.line('no donations')
  return 0
}

/** `giving donations show ID`: all that happened to it. */
export async function showDonationCommand(environment: Environment, id: number, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const history = await findDonationHistory(runtime.store.db, id)
  if (!history) throw new ServiceError('not-found', `there is no donation ${id}`)
  if (output.json) {
    output.line(JSON.stringify(history))
    return 0
  }
  const { donation, events, donorKnown } = history
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['donation', describe(donation)],
    ['reference', donation.reference],
    ['transactionId', donation.transactionId],
    ['receipt', donation.receiptNumber],
    ['tip', signOf(donation.addon) > 0 ? money(donation, donation.addon) : undefined],
    ['fee', signOf(donation.fee) > 0 ? money(donation, donation.fee) : undefined],
    ['declined', donation.decline && `${donation.decline.code} ${donation.decline.text}`],
    ['donor', donorKnown ? 'known' : 'not known, or erased'],
  ]
  for (const [what, value] of rows) if (value !== undefined) output.line(`${`${what}:`.padEnd(15)} ${value}`)
  for (const { at, kind, details } of events) {
    output.line(
      `${at.toISOString()} ${kind.padEnd(9)} ${Object.keys(details).length > 0 ? JSON.stringify(details) : ''}`,
    )
  }
  return 0
}

/** `giving donations refund ID`: gives back all that is left, or a part; a chargeback is only booked. */
export async function refundDonationCommand(
  environment: Environment,
  options: { readonly id: number; readonly amount?: string; readonly chargeback: boolean },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const amount = options.amount === undefined ? undefined : readAmount(options.amount, runtime.config)
  const refund = await refundDonation(openPayments(runtime), {
    donationId: options.id,
    kind: options.chargeback ? 'chargeback' : 'refund',
    amount,
  })
  const result = { donation: options.id, kind: refund.kind, amount: refund.amount, reference: refund.reference }
  output.line(
    output.json
      ? JSON.stringify(result)
      : `${refund.kind} of ${money(refund.donation, refund.amount)} booked for donation ${options.id}`,
  )
  return 0
}

function readAmount(text: string, { currency }: { currency: Donation['currency'] }): Decimal {
  const amount = parseDecimal(text)
  const places = minorUnitExponent(currency)
  if (amount === undefined || signOf(amount) <= 0 || toMinorUnits(amount, 9) % 10n ** BigInt(9 - places) !== 0n) {
    throw new ServiceError('request-invalid', `expected an amount above 0 with at most ${places} decimals, got ${text}`)
  }
  return amount
}

function describe(donation: Donation): string {
  const { id, projectId, status, receivedAt, amount, refunded, receiptNumber } = donation
  const parts = [`${id}`, receivedAt?.toISOString() ?? '', `project ${projectId}`, money(donation, amount), status]
  if (signOf(refunded) > 0) parts.push(`(${money(donation, refunded)} given back)`)
  if (receiptNumber !== undefined) parts.push(receiptNumber)
  return parts.join('  ')
}

function money({ currency }: Donation, amount: Decimal): string {
  return `${roundToCurrency(amount, currency)} ${currency}`
}
