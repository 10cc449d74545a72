import { Argument, type Command } from 'commander'
import { type IsoDate, isoInstantOf, parseIsoDate } from '../../kernel/dates.js'
import {
  type CurrencyCode,
  type Decimal,
  parseCurrencyCode,
  parseDecimal,
  roundToCurrency,
  signOf,
} from '../../kernel/money.js'
import { wholeNumberIn } from '../../kernel/values.js'
import { type Followed, followCharge } from '../../money/follow-charge.js'
import type { DisputeStatus } from '../../money/gateways/gateway.js'
import { progressOf } from '../../money/gateways/sandbox/sandbox-gateway.js'
import { changeSandboxSettings, readSandboxSettings } from '../../money/gateways/sandbox/sandbox-settings.js'
import type { Payments } from '../../money/payments.js'
import { advanceTime, rehearsalOf, setTime } from '../../money/rehearse.js'
import { findDonationHistory } from '../../money/sql/donations.js'
import {
  findCharge,
  listSandboxCharges,
  type SandboxCharge,
  setCard,
  setDispute,
} from '../../money/sql/sandbox-charges.js'
import {
  addCommand,
  addLongCommand,
  argument,
  type CommandLine,
  durationSeconds,
  orNotFound,
  wholeNumber,
} from '../command-line.js'
import type { Output } from '../output.js'
import { openPayments, paymentFields } from '../wiring/payments.js'
import type { Runtime } from '../wiring/runtime.js'

const dayOrNow = argument('a day such as 2026-11-01, or now', (text) => (text === 'now' ? text : parseIsoDate(text)))
const currencyCode = argument('a currency such as CHF', parseCurrencyCode)
const rateOf = argument('a rate above 0 with at most 6 decimals, such as 1.12', (text) => {
  const rate = parseDecimal(text)
  return rate !== undefined && signOf(rate) > 0 && /^\d{1,6}(\.\d{1,6})?$/.test(rate) ? rate : undefined
})
const cardState = argument('works, or the code of a decline such as 2001', (text) =>
  text === 'works' ? text : wholeNumberIn(1000, 9999).parse(text),
)
const disputeStates = ['open', 'won', 'lost'] satisfies DisputeStatus[]

/** `giving sandbox`. */
export function registerSandbox(program: Command, { storeAction }: CommandLine): void {
  const sandbox = program.command('sandbox').description('a rehearsal of payments, in which no money moves')
  addCommand(sandbox, 'show', 'show its time, its rates and the newest charges')
    .option('--limit <number>', 'how many charges at most', wholeNumber, 20)
    .action(storeAction(paymentFields, show))
  addCommand(sandbox, 'time', 'begin the rehearsal at another time')
    .argument('<day>', 'a day, or now', dayOrNow)
    .action(storeAction(paymentFields, time))
  addLongCommand(
    sandbox,
    'advance',
    'let time go by: what becomes due is charged and settled; exit code 1 when the books differ',
  )
    .argument('<duration>', 'such as 31d', durationSeconds)
    .action(storeAction(paymentFields, advance))
  addCommand(sandbox, 'rate', 'set what one of another currency is worth')
    .argument('<currency>', 'such as CHF', currencyCode)
    .argument('<rate>', "in the platform's currency, such as 1.12", rateOf)
    .action(storeAction(paymentFields, rate))
  addCommand(sandbox, 'card', 'decline what is charged later with the card of a donation')
    .argument('<donation>', 'number of a donation', wholeNumber)
    .argument('<state>', 'the code of the decline, such as 2001, or works', cardState)
    .action(storeAction(paymentFields, card))
  addCommand(sandbox, 'dispute', 'let a donor dispute a donation at the bank, and decide it')
    .argument('<donation>', 'number of the donation', wholeNumber)
    .addArgument(new Argument('<status>', 'how it stands').choices(disputeStates))
    .action(storeAction(paymentFields, dispute))
}

/** The payments of a rehearsal. Throws `request-invalid` where they are none. */
async function open(runtime: Runtime): Promise<Payments> {
  const payments = await openPayments(runtime)
  await rehearsalOf(payments).refresh()
  return payments
}

async function show(runtime: Runtime, output: Output, { limit }: { readonly limit: number }): Promise<number> {
  const payments = await open(runtime)
  const { db } = runtime.store
  const { rates } = await readSandboxSettings(db)
  const charges = await Promise.all(
    (await listSandboxCharges(db, limit)).map(async ({ secret, ...charge }) => {
      const state = progressOf({ ...charge, secret }, payments.clock())
      const wanted = { reference: charge.reference, since: charge.at }
      const found = state === 'asks' ? await payments.gateway.findByReference(wanted, runtime.signal) : undefined
      const address = found?.outcome.kind === 'action-required' ? found.outcome.clientSecret : undefined
      return { ...charge, state, address }
    }),
  )
  const now = isoInstantOf(payments.clock())
  return output.result({ time: now, rates: Object.fromEntries(rates), charges }, () => [
    `time: ${now}`,
    ...[...rates].map(([currency, one]) => `1 ${currency}: ${one} ${payments.currency}`),
    ...charges.map(({ at, donation, amount, currency, state, dispute: disputed, address }) =>
      [
        isoInstantOf(at),
        donation === undefined ? 'no donation' : `donation ${donation}`,
        money(amount, currency),
        state,
        ...(disputed === undefined ? [] : [`dispute ${disputed}`]),
        ...(address === undefined ? [] : [address]),
      ].join('  '),
    ),
  ])
}

async function time(runtime: Runtime, output: Output, to: IsoDate | 'now'): Promise<number> {
  const payments = await open(runtime)
  const now = runtime.clock()
  // The time of day stays that of the clock.
  await setTime(payments, to === 'now' ? now : new Date(to + now.toISOString().slice(10)))
  const reached = isoInstantOf(payments.clock())
  return output.result({ time: reached }, () => `the time of the sandbox is ${reached}`)
}

async function advance(runtime: Runtime, output: Output, seconds: number): Promise<number> {
  const payments = await open(runtime)
  const { to, steps, differences } = await advanceTime(payments, seconds * 1000, runtime.signal)
  return output.result(
    { time: isoInstantOf(to), steps, differences },
    () => [
      ...steps.map(
        ({ at, donation, step, amount, currency }) =>
          `${isoInstantOf(at)}  donation ${donation}  ${money(amount, currency)}  ${step}`,
      ),
      `the time of the sandbox is ${isoInstantOf(to)}; sandbox and books differ in ${differences.length} charges or refunds`,
    ],
    { code: differences.length > 0 ? 1 : 0 },
  )
}

async function rate(runtime: Runtime, output: Output, currency: CurrencyCode, worth: Decimal): Promise<number> {
  const payments = await open(runtime)
  await changeSandboxSettings(runtime.store, payments.clock(), ({ rates }) => ({
    rates: new Map([...rates, [currency, worth] as const].sort(([a], [b]) => (a < b ? -1 : 1))),
  }))
  return output.result({ currency, rate: worth }, () => `1 ${currency} is ${worth} ${payments.currency}`)
}

async function card(runtime: Runtime, output: Output, donation: number, state: number | 'works'): Promise<number> {
  await open(runtime)
  const { reference } = await chargeOf(runtime, donation)
  await setCard(runtime.store.db, reference, state === 'works' ? undefined : state)
  return output.result({ donation, card: state }, () =>
    state === 'works'
      ? `the card of donation ${donation} works`
      : `the card of donation ${donation} is declined with ${state}`,
  )
}

async function dispute(runtime: Runtime, output: Output, donation: number, status: DisputeStatus): Promise<number> {
  const payments = await open(runtime)
  const { id } = await chargeOf(runtime, donation)
  await setDispute(runtime.store.db, id, status)
  const books: Followed = await followCharge(payments, `sandbox-${id}`)
  return output.result(
    { donation, dispute: status, books },
    () => `the dispute of donation ${donation} is ${status}; books: ${books}`,
  )
}

async function chargeOf({ store }: Runtime, donation: number): Promise<SandboxCharge> {
  const history = orNotFound(await findDonationHistory(store.db, donation), `there is no donation ${donation}`)
  const { reference = '' } = history.donation
  return orNotFound(await findCharge(store.db, reference), `the sandbox has no charge of donation ${donation}`)
}

const money = (amount: Decimal, currency: string) => `${roundToCurrency(amount, currency as CurrencyCode)} ${currency}`
