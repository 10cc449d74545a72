import { type Command, Option } from 'commander'
import type { Environment } from '../config/config.js'
import type { Donation, DonationStatus } from '../domain/donation.js'
import { ServiceError } from '../domain/errors.js'
import {
  type CurrencyCode,
  type Decimal,
  minorUnitExponent,
  parseDecimal,
  roundToCurrency,
  signOf,
  toMinorUnits,
} from '../domain/money.js'
import { refundDonation } from '../payments/refund-donation.js'
import { type DonationHistory, findDonationHistory, listDonations } from '../store/donations/donations.js'
import { type CommandLine, jsonOption, wholeNumber } from './command-line.js'
import type { Output } from './output.js'
import { openPayments, paymentFields } from './wiring/payments.js'
import { openRuntime } from './wiring/runtime.js'

const donationStatuses = ['received', 'settled', 'declined', 'failed', 'refunded'] satisfies DonationStatus[]

/** `giving donations`. */
export function registerDonations(program: Command, { environment, action }: CommandLine): void {
  const donations = program.command('donations').description('donations that were made here')
  donations
    .command('list')
    .description('the newest donations')
    .option('--project <id>', 'only of this project', wholeNumber)
    .addOption(new Option('--status <status>', 'only in this state').choices(donationStatuses))
    .option('--transaction <id>', 'only with this transactionId')
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .option(...jsonOption)
    .action(action((output, options: DonationListOptions) => listDonationsCommand(environment, options, output)))
  donations
    .command('show')
    .description('one donation and all that happened to it')
    .argument('<id>', 'its number', wholeNumber)
    .option(...jsonOption)
    .action(action((output, id: number) => showDonationCommand(environment, id, output)))
  donations
    .command('refund')
    .description('give a donation back, all that is left of it or a part')
    .argument('<id>', 'its number', wholeNumber)
    .option('--amount <amount>', 'a part of it')
    .option('--chargeback', 'the processor has taken the money already: only book it', false)
    .option(...jsonOption)
    .action(
      action((output, id: number, options: RefundOptions) =>
        refundDonationCommand(environment, { ...options, id }, output),
      ),
    )
}

/** The filters of `giving donations list`. */
export type DonationListOptions = {
  readonly project?: number
  readonly status?: DonationStatus
  readonly transaction?: string
  readonly limit: number
}

/** `giving donations list`: the newest first, without names of donors. */
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
  output.result(donations, () => (donations.length > 0 ? donations.map(describe) : 'no donations'))
  return 0
}

/** `giving donations show ID`: the donation and its history. */
export async function showDonationCommand(environment: Environment, id: number, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const history = await findDonationHistory(runtime.store.db, id)
  if (!history) throw new ServiceError('not-found', `there is no donation ${id}`)
  output.result(history, () => describeHistory(history))
  return 0
}

function describeHistory({ donation, events, donorKnown }: DonationHistory): string[] {
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
  return [
    ...rows.flatMap(([what, value]) => (value === undefined ? [] : `${`${what}:`.padEnd(15)} ${value}`)),
    ...events.map(
      ({ at, kind, details }) =>
        `${at.toISOString()} ${kind.padEnd(9)} ${Object.keys(details).length > 0 ? JSON.stringify(details) : ''}`,
    ),
  ]
}

type RefundOptions = { readonly amount?: string; readonly chargeback: boolean }

/** `giving donations refund ID`: refunds what is left, or a part; a chargeback is only entered in the books. */
export async function refundDonationCommand(
  environment: Environment,
  options: RefundOptions & { readonly id: number },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, paymentFields)
  const amount = options.amount === undefined ? undefined : readAmount(options.amount, runtime.config.currency)
  const refund = await refundDonation(openPayments(runtime), {
    donationId: options.id,
    kind: options.chargeback ? 'chargeback' : 'refund',
    amount,
  })
  const result = { donation: options.id, kind: refund.kind, amount: refund.amount, reference: refund.reference }
  output.result(
    result,
    () => `${refund.kind} of ${money(refund.donation, refund.amount)} booked for donation ${options.id}`,
  )
  return 0
}

function readAmount(text: string, currency: CurrencyCode): Decimal {
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
