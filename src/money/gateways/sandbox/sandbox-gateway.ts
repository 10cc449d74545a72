import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../kernel/dates.js'
import {
  type CurrencyCode,
  type Decimal,
  fromMinorUnits,
  minorUnitExponent,
  toMinorUnits,
} from '../../../kernel/money.js'
import type { Store } from '../../../platform/database/store.js'
import { together } from '../../../platform/database/together.js'
import {
  answerCharge,
  type ChargeEntry,
  enterCharges,
  enterRefund,
  findCharge,
  findChargeById,
  listSandboxEntries,
  type SandboxCharge,
} from '../../sql/sandbox-charges.js'
import { declineOf } from '../declines.js'
import {
  type Charge,
  type ChargeOutcome,
  type Gateway,
  GatewayRefusal,
  type KeptMethod,
  type SettledMoney,
} from '../gateway.js'
import { debitDays, type Scenario, scenarioOf, scenarioOfAmount, slowMs } from './sandbox-scenarios.js'
import { readSandboxSettings, usualRate } from './sandbox-settings.js'

type SandboxDeps = {
  readonly store: Store
  readonly clock: Clock
  /** The platform's currency, in which others are paid out; absent: each is paid out as it is. */
  readonly currency?: CurrencyCode
  /** Where the API is reached, which has the page that asks the donor. */
  readonly baseUrl?: () => Promise<string>
}

/** Below it the API asks donors in place of their bank. */
export const askingPath = '/sandbox/'

/** What a payment is declined with that its donor does not confirm. */
export const notConfirmed = 2099

const [minute, day] = [60_000, 86_400_000]
/** How long a charge in another currency takes until it is paid out. */
const exchangeMs = 2 * minute

/**
 * A gateway without a network: the nonce and the amount alone decide what happens (docs/reference/payments.md). Its charges are in
 * its own tables, which only this file, the commands of the sandbox and `giving books check` read.
 */
export function createSandboxGateway({ store, clock, currency: own, baseUrl }: SandboxDeps): Gateway {
  const entries = together((charges: readonly ChargeEntry[]) => enterCharges(store.db, charges))
  const toOutcome = async (charge: SandboxCharge): Promise<ChargeOutcome> => {
    const { id, declineCode, amount, currency, secret = '' } = charge
    const charged = { amount, currency }
    const progress = progressOf(charge, clock())
    if (progress === 'asks') {
      return { kind: 'action-required', clientSecret: `${(await baseUrl?.()) ?? ''}${askingPath}${secret}`, charged }
    }
    if (progress === 'pending') return { kind: 'processing', charged }
    if (declineCode !== undefined) return { kind: 'declined', decline: declineOf(declineCode) }
    return { kind: 'approved', chargeId: `sandbox-${id}`, charged, settled: settledOf(charge) }
  }
  const enter = async (
    charge: Charge,
    signal: AbortSignal,
    given: Pick<ChargeEntry, 'declineCode' | 'secret'> & { readonly delayMs?: number | undefined } = {},
  ) => {
    const { reference, amount, currency } = charge
    const { delayMs = 0, declineCode, secret } = given
    const at = clock()
    const settled = own === undefined || currency === own ? undefined : await exchanged(charge, own)
    const waitMs = Math.max(delayMs, settled && declineCode === undefined ? exchangeMs : 0)
    signal.throwIfAborted()
    return await toOutcome(
      await entries({
        ...{ reference, amount, currency, declineCode, at, secret },
        settlesAt: waitMs > 0 ? new Date(at.getTime() + waitMs) : undefined,
        ...{ settledAmount: settled?.amount, settledCurrency: settled?.currency },
      }),
    )
  }
  const exchanged = async ({ amount, currency }: Charge, into: CurrencyCode): Promise<SettledMoney> => {
    const rate = (await readSandboxSettings(store.db)).rates.get(currency) ?? usualRate
    const product = fromMinorUnits(toMinorUnits(amount, 4) * toMinorUnits(rate, 6), 10)
    const places = minorUnitExponent(into)
    const units = toMinorUnits(product, places)
    return { amount: fromMinorUnits(units > 0n ? units : 1n, places), currency: into }
  }
  /** What a card does that was kept: as before, unless something has happened to it. */
  const keptScenario = async ({ token }: KeptMethod, amount: Decimal) => {
    const first = await findChargeById(store.db, idIn(token, 'card'))
    if (!first) return { scenario: { kind: 'declined', code: 2007 } as Scenario }
    const { cardCode, settlesAt, at } = first
    const scenario: Scenario = cardCode === undefined ? scenarioOfAmount(amount) : { kind: 'declined', code: cardCode }
    return { scenario, delayMs: settlesAt && settlesAt.getTime() - at.getTime() }
  }
  return {
    name: 'sandbox',
    wireNames: ['sandbox', 'braintree'],
    lateSeconds: 5,
    testNonce: 'fake-valid-nonce',
    takes: () => own !== undefined,
    keepsMethods: true,
    describeAccount: async () => 'the sandbox of this service, without an account',
    clientToken: async () => 'sandbox-client-token',
    charge: async (charge, signal) => {
      const { method, amount, reference } = charge
      const { scenario, delayMs } =
        method.kind === 'kept'
          ? await keptScenario(method, amount)
          : { scenario: scenarioOf(method.kind === 'nonce' ? method.nonce : method.token, amount), delayMs: undefined }
      // Entering finds what is there; these scenarios do not enter at once.
      const enters = !['slow', 'silent-before', 'silent-after', 'down'].includes(scenario.kind)
      const earlier = charge.again && !enters ? await findCharge(store.db, reference) : undefined
      if (earlier) return await toOutcome(earlier)
      switch (scenario.kind) {
        case 'approved':
          return await enter(charge, signal, { delayMs })
        case 'declined':
          return await enter(charge, signal, { declineCode: scenario.code })
        case 'asks':
          // Who cannot repeat the request cannot be asked.
          return await enter(
            charge,
            signal,
            charge.mayAsk ? { secret: randomBytes(16).toString('hex') } : { declineCode: notConfirmed },
          )
        case 'debit':
          return await enter(charge, signal, { declineCode: scenario.code, delayMs: debitDays * day })
        case 'slow':
          await sleep(slowMs, undefined, { signal })
          return await enter(charge, signal)
        case 'silent-before':
          return await silence(signal)
        case 'silent-after':
          await enter(charge, signal)
          return await silence(signal)
        case 'down':
          throw new GatewayRefusal('the sandbox gateway cannot be reached')
        case 'unknown':
          return await enter(charge, signal, { declineCode: 2038 })
        default:
          return scenario satisfies never
      }
    },
    findByReference: async ({ reference }) => {
      const charge = await findCharge(store.db, reference)
      if (!charge) return undefined
      const { id, amount, currency } = charge
      return { outcome: await toOutcome(charge), amount, currency, kept: { token: `sandbox-card-${id}` } }
    },
    abandon: async ({ reference }) => {
      if (await answerCharge(store.db, reference, { at: clock(), declineCode: notConfirmed })) return
      const charge = await findCharge(store.db, reference)
      if (charge && charge.declineCode === undefined) throw new Error(`the charge ${reference} has been confirmed`)
    },
    refund: async ({ reference, chargeReference, amount }) => {
      const id = await enterRefund(store.db, { reference, chargeReference, amount, at: clock() })
      if (id === undefined) throw new GatewayRefusal(`nothing of this amount is left of the charge ${chargeReference}`)
      return { refundId: `sandbox-refund-${id}` }
    },
    readCharge: async (chargeId) => {
      const charge = await findChargeById(store.db, idIn(chargeId))
      if (!charge) return undefined
      const { reference, at, amount, currency, refunds, dispute } = charge
      const progress = progressOf(charge, clock())
      return {
        ...{ chargeId, reference, at, amount, currency, refunds, settled: settledOf(charge) },
        progress: progress === 'asks' ? 'pending' : progress,
        disputes: dispute ? [{ id: `${chargeId}-dispute`, amount, status: dispute }] : [],
      }
    },
    settledBetween: (from, until) => {
      const past = new Date(clock().getTime() + 1)
      return listSandboxEntries(store.db, from, until < past ? until : past)
    },
    settlesWithinDays: 0,
  }
}

/** How far a charge is; `asks`: its donor has not answered. */
export function progressOf(
  { declineCode, secret, answeredAt, settlesAt }: SandboxCharge,
  now: Date,
): 'asks' | 'pending' | 'failed' | 'settled' {
  if (secret !== undefined && answeredAt === undefined) return 'asks'
  if (settlesAt !== undefined && settlesAt > now && declineCode !== notConfirmed) return 'pending'
  return declineCode === undefined ? 'settled' : 'failed'
}

const settledOf = ({ settledAmount: amount, settledCurrency: currency }: SandboxCharge): SettledMoney | undefined =>
  amount !== undefined && currency !== undefined ? { amount, currency } : undefined

/** The number in the sandbox's name for a charge, or for its card. */
function idIn(name: string, kind: 'charge' | 'card' = 'charge'): number {
  const [, card, id] = /^sandbox-(card-)?(\d{1,15})$/.exec(name) ?? []
  return (card === undefined) === (kind === 'charge') ? Number(id ?? 0) : 0
}

/** Does not answer until the caller gives up. */
async function silence(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  throw new Error('the sandbox gateway did not answer')
}
