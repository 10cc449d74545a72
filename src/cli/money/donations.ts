import { type Command, Option } from 'commander'
import type { Donation, DonationStatus } from '../../kernel/donation.js'
import { ServiceError } from '../../kernel/errors.js'
import {
  type CurrencyCode,
  type Decimal,
  minorUnitExponent,
  parseDecimal,
  roundToCurrency,
  signOf,
  toMinorUnits,
} from '../../kernel/money.js'
import { receiptPdf } from '../../money/receipts/receipt-pdf.js'
import {
  type DonationPlan,
  findPlan,
  listPlanDonations,
  listPlans,
  type PlanState,
} from '../../money/sql/donation-plans.js'
import { type DonationHistory, findDonationHistory, listDonations } from '../../money/sql/donations.js'
import { requeueUnknownReceiptMails } from '../../money/sql/receipt-mails.js'
import { addCommand, type CommandLine, orNotFound, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { donorFields, openDonorVault } from '../wiring/donor-vault.js'
import { endPlanByHand, mailReceiptAgain, refundByHand } from '../wiring/money-actions.js'
import { numberOf } from '../wiring/named-row.js'
import { openPayments, paymentFields } from '../wiring/payments.js'
import type { Runtime } from '../wiring/runtime.js'
import { writePrivately } from '../wiring/write-privately.js'

const donationStatuses = ['received', 'settled', 'declined', 'failed', 'refunded'] satisfies DonationStatus[]

const planStates = ['starting', 'active', 'asleep', 'ended'] satisfies PlanState[]

/** `giving donations`. */
export function registerDonations(program: Command, commandLine: CommandLine): void {
  const { storeAction } = commandLine
  const donations = program.command('donations').description('donations that were made here')
  addCommand(donations, 'list', 'list donations, newest first')
    .option('--project <id>', 'only of this project: its number or externalId')
    .addOption(new Option('--status <status>', 'only in this state').choices(donationStatuses))
    .option('--transaction <id>', 'only with this transactionId')
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .action(storeAction([], list))
  addCommand(donations, 'show', 'show a donation and all that happened to it')
    .argument('<id>', 'number of the donation', wholeNumber)
    .action(storeAction([], show))
  addCommand(donations, 'refund', 'refund a donation, all that is left of it or a part')
    .argument('<id>', 'number of the donation', wholeNumber)
    .option('--amount <amount>', 'how much, in the currency that was charged; default: all that is left')
    .option('--chargeback', 'the processor has taken the money already: only book it', false)
    .action(storeAction(paymentFields, refund))
  addCommand(donations, 'receipt', 'mail the receipt of a donation to its donor, again if it was mailed before')
    .argument('[id]', 'number of the donation', wholeNumber)
    .option('--pdf <file>', 'write the receipt to FILE as PDF, in the language of the donor, and mail nothing')
    .option('--all-unknown', 'mail every receipt that may or may not have been sent', false)
    .action(storeAction(['mail', 'language', 'reportingOrg', ...donorFields], receipt))
  registerPlans(donations, commandLine)
}

/** `giving donations plans`. */
function registerPlans(donations: Command, { storeAction }: CommandLine): void {
  const plans = donations.command('plans').description('gifts that are charged every month')
  addCommand(plans, 'list', 'list plans, newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(planStates))
    .option('--limit <number>', 'how many at most', wholeNumber, 50)
    .action(storeAction([], listAllPlans))
  addCommand(plans, 'show', 'show a plan and its donations')
    .argument('<id>', 'number of the plan', wholeNumber)
    .action(storeAction([], showPlan))
  addCommand(plans, 'cancel', 'end a plan: nothing more is charged; the donor is not told')
    .argument('<id>', 'number of the plan', wholeNumber)
    .action(storeAction([], cancelPlan))
}

async function listAllPlans(
  { store }: Runtime,
  output: Output,
  filter: { readonly state?: PlanState; readonly limit: number },
): Promise<number> {
  const plans = await listPlans(store.db, { state: filter.state, limit: filter.limit })
  return output.result(plans, () => (plans.length > 0 ? plans.map(describePlan) : 'no plans'))
}

async function showPlan({ store }: Runtime, output: Output, id: number): Promise<number> {
  const plan = orNotFound(await findPlan(store.db, id), `there is no plan ${id}`)
  const donations = await listPlanDonations(store.db, id)
  return output.result({ plan, donations }, () => [describePlan(plan), `donations: ${donations.join(', ')}`])
}

async function cancelPlan(runtime: Runtime, output: Output, id: number): Promise<number> {
  await endPlanByHand(runtime, id)
  return output.result({ plan: id }, () => `plan ${id} has ended: nothing more is charged`)
}

function describePlan(plan: DonationPlan): string {
  const { id, projectId, amount, currency, state, nextAt, tries, endedAt, reason } = plan
  const parts = [`${id}`, `project ${projectId}`, `${roundToCurrency(amount, currency)} ${currency} a month`, state]
  if (nextAt && state === 'active') parts.push(`next ${nextAt.toISOString()}`)
  if (tries > 0) parts.push(`declined ${tries} times`)
  if (endedAt) parts.push(`since ${endedAt.toISOString()}`)
  if (reason !== undefined) parts.push(reason)
  return parts.join('  ')
}

type Filters = {
  readonly project?: string
  readonly status?: DonationStatus
  readonly transaction?: string
  readonly limit: number
}

/** The newest first, without names of donors. */
async function list(
  { store }: Runtime,
  output: Output,
  { project, status, transaction, limit }: Filters,
): Promise<number> {
  const projectId = project === undefined ? undefined : await numberOf(store.db, 'project', project)
  const filter = { projectId, status, transactionId: transaction, limit }
  const donations = await listDonations(store.db, filter)
  return output.result(donations, () => (donations.length > 0 ? donations.map(describe) : 'no donations'))
}

async function show({ store }: Runtime, output: Output, id: number): Promise<number> {
  const history = orNotFound(await findDonationHistory(store.db, id), `there is no donation ${id}`)
  return output.result(history, () => describeHistory(history))
}

function describeHistory({ donation, events, donorKnown }: DonationHistory): string[] {
  const facts = [
    ['donation', describe(donation)],
    ['reference', donation.reference],
    ['transactionId', donation.transactionId],
    ['receipt', donation.receiptNumber],
    ['tip', signOf(donation.addon) > 0 ? money(donation, donation.addon) : undefined],
    ['settled', donation.settled && money(donation.settled, donation.settled.amount)],
    ['fee', signOf(donation.fee) > 0 ? money(donation.settled ?? donation, donation.fee) : undefined],
    ['waits for', donation.waitsFor],
    ['liability shift', donation.liabilityShifted === undefined ? undefined : donation.liabilityShifted ? 'yes' : 'no'],
    ['declined', donation.decline && `${donation.decline.code} ${donation.decline.text}`],
    ['donor', donorKnown ? 'known' : 'not known, or erased'],
  ] as const
  return [
    ...labelled(facts, 16),
    ...events.map(
      ({ at, kind, details }) =>
        `${at.toISOString()} ${kind.padEnd(9)} ${Object.keys(details).length > 0 ? JSON.stringify(details) : ''}`,
    ),
  ]
}

/** Refunds what is left, or a part; a chargeback is only entered in the books. */
async function refund(
  runtime: Runtime,
  output: Output,
  id: number,
  options: { readonly amount?: string; readonly chargeback: boolean },
): Promise<number> {
  const history = orNotFound(await findDonationHistory(runtime.store.db, id), `there is no donation ${id}`)
  const { currency } = history.donation
  const { kind, amount, reference, donation } = await refundByHand(runtime, await openPayments(runtime), {
    donationId: id,
    kind: options.chargeback ? 'chargeback' : 'refund',
    amount: options.amount === undefined ? undefined : readAmount(options.amount, currency),
  })
  return output.result(
    { donation: id, kind, amount, reference },
    () => `${kind} of ${money(donation, amount)} booked for donation ${id}`,
  )
}

type ReceiptOptions = { readonly allUnknown: boolean; readonly pdf?: string }

async function receipt(
  runtime: Runtime,
  output: Output,
  id: number | undefined,
  { allUnknown, pdf }: ReceiptOptions,
): Promise<number> {
  if (pdf === undefined) return await mailReceipts(runtime, output, id, allUnknown)
  if (id === undefined || allUnknown) throw new ServiceError('request-invalid', 'expected the number of a donation')
  return await writeReceipt(runtime, output, id, pdf)
}

/** Writes a receipt into a file that only its owner can read. */
async function writeReceipt(runtime: Runtime, output: Output, id: number, file: string): Promise<number> {
  const { config, store } = runtime
  const donors = await openDonorVault(runtime, { makesKey: false })
  const choice = { language: config.language, operatorsDir: config.mail?.templatesDir }
  const { bytes, language } = await receiptPdf({ store, donors, choice, platform: config.reportingOrg.name }, id)
  await auditOperator(runtime, store.db, { action: 'donor-disclosed', subject: `donation ${id}` })
  await writePrivately(file, bytes)
  return output.result({ donation: id, file, language }, () => `the receipt of donation ${id} is in ${file}`)
}

/** Makes a receipt due, or all that may have been sent; the next minute's job mails them. */
async function mailReceipts(
  runtime: Runtime,
  output: Output,
  id: number | undefined,
  allUnknown: boolean,
): Promise<number> {
  const { config, store, clock } = runtime
  if (!config.mail) throw new ServiceError('request-invalid', 'receipts are not mailed: SMTP_URL is not set')
  if ((id === undefined) !== allUnknown) {
    throw new ServiceError('request-invalid', 'expected the number of a donation or --all-unknown')
  }
  if (id === undefined) {
    const receipts = await store.transaction(async (db) => {
      const requeued = await requeueUnknownReceiptMails(db, clock())
      if (requeued > 0)
        await auditOperator(runtime, db, { action: 'receipt-requeued', details: { receipts: requeued } })
      return requeued
    })
    return output.result({ receipts }, () => `receipts that will be mailed within minutes: ${receipts}`)
  }
  await mailReceiptAgain(runtime, id)
  return output.result({ donation: id }, () => `the receipt of donation ${id} will be mailed within a minute`)
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

function money({ currency }: Pick<Donation, 'currency'>, amount: Decimal): string {
  return `${roundToCurrency(amount, currency)} ${currency}`
}
