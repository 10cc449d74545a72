import { setTimeout as sleep } from 'node:timers/promises'
import braintree from 'braintree'
import { sameAmount, toMinorUnits } from '../../kernel/money.js'
import { declineOf } from '../../money/gateways/declines.js'
import {
  asEarlier,
  type Charge,
  type Charged,
  type ChargeOutcome,
  type FoundCharge,
  type Gateway,
  GatewayRefusal,
  type KeptMethod,
  type Refund,
  RefundLater,
} from '../../money/gateways/gateway.js'
import {
  callError,
  type ProcessorAddress,
  processorAgent,
  UnclearAnswer,
} from '../../money/gateways/processor-calls.js'
import {
  approved,
  declined,
  paidOutFor,
  readBraintreeCharge,
  returned,
  type Transaction,
  transactionAmount,
  undecided,
} from './braintree-charge-state.js'
import { methodCodes, rejectionCodes } from './braintree-declines.js'
import { listBraintreeEntries } from './braintree-entries.js'
import { notesIn, referenceIn } from './braintree-order-id.js'
import { toBraintreeSale } from './braintree-sale.js'
import { braintreeWebhooks, type Notifications } from './braintree-webhooks.js'

export type BraintreeSettings = {
  readonly environment: 'sandbox' | 'production'
  readonly merchantId: string
  readonly publicKey: string
  readonly privateKey: string
  /** The merchant account of the platform's currency. */
  readonly merchantAccount: string
  readonly currency: string
  /** Merchant accounts of more currencies. */
  readonly otherAccounts?: Readonly<Record<string, string>> | undefined
  /** Whether only payments with 3-D Secure are taken. */
  readonly needsThreeDSecure?: boolean | undefined
  readonly timeoutMs: number
  /** A server in place of Braintree's. */
  readonly address?: ProcessorAddress | undefined
}

// "Cannot use a payment method nonce more than once."
const nonceSpent = '91564'
const [lateLooks, lateLookMs] = [4, 1_000]

type Answer = {
  readonly success: boolean
  readonly transaction?: Transaction
  readonly errors?: { deepErrors(): readonly { readonly code: string }[] }
}

/** The parts of the library that are used, where its types are narrower than its functions. */
type Library = {
  readonly config: { timeout: number; baseMerchantPath(): string }
  readonly http: { post(path: string, body: unknown): Promise<unknown> }
  readonly transaction: {
    sale(request: object): Promise<Answer>
    find(id: string): Promise<Transaction>
    void(id: string): Promise<Answer>
    refund(id: string, options: object): Promise<Answer>
  }
  readonly webhookNotification: Notifications
  readonly clientToken: { generate(request: object): Promise<{ readonly clientToken?: string } | undefined> }
  readonly merchantAccount: { find(id: string): Promise<{ readonly currencyIsoCode: string; readonly status: string }> }
}

/**
 * Braintree, through its own library. A charge carries our reference as its order id, under which it is searched for after
 * a time-out.
 */
export function createBraintreeGateway(settings: BraintreeSettings): Gateway {
  const { environment, merchantAccount, currency, otherAccounts } = settings
  const accounts = new Map([...Object.entries(otherAccounts ?? {}), [currency, merchantAccount]])
  const library = openLibrary(settings)

  // The library's own search never ends when an answer is not what it expects.
  const searchIds = async (search: object): Promise<string[]> =>
    idsOf(
      await ask(() =>
        library.http.post(`${library.config.baseMerchantPath()}/transactions/advanced_search_ids`, { search }),
      ),
    )
  const fetchAll = async (ids: readonly string[]): Promise<unknown[]> => {
    const path = `${library.config.baseMerchantPath()}/transactions/advanced_search`
    return transactionsOf(await ask(() => library.http.post(path, { search: { ids } })), ids.length)
  }

  /** The sales with our reference, voided and expired ones left out. */
  const findSales = async (reference: string): Promise<Transaction[]> => {
    const ids = await searchIds({ orderId: { startsWith: reference }, type: ['sale'] })
    const sales: Transaction[] = []
    for (const id of ids) sales.push(await ask(() => library.transaction.find(id)))
    return sales.filter(({ orderId, type, status }) => {
      return referenceIn(orderId) === reference && type === 'sale' && !returned.has(status)
    })
  }

  const find = async (reference: string): Promise<FoundCharge | undefined> => {
    const sales = await findSales(reference)
    const taken = sales.filter(({ status }) => !declined.has(status))
    if (taken.length > 1) throw new UnclearAnswer(`Braintree has ${taken.length} charges with one order id`)
    const sale = taken[0] ?? sales.find(({ gatewayRejectionReason: reason }) => reason !== 'duplicate')
    return sale && { outcome: outcomeOf(sale), ...chargedOf(sale), kept: keptIn(sale) }
  }

  /** The charge that spent the nonce of a repeated request; the search is late by seconds. */
  const findLate = async (reference: string, signal: AbortSignal): Promise<FoundCharge | undefined> => {
    for (let look = 1; ; look++) {
      const found = await find(reference)
      if (found || look === lateLooks) return found
      await sleep(lateLookMs, undefined, { signal })
    }
  }

  const charge = async (wanted: Charge, signal: AbortSignal): Promise<ChargeOutcome> => {
    const earlier = wanted.again ? await find(wanted.reference) : undefined
    if (earlier) return asEarlier(earlier)
    const account = accounts.get(wanted.currency)
    if (account === undefined) throw new GatewayRefusal(`no merchant account takes ${wanted.currency}`)
    signal.throwIfAborted()
    const sale = toBraintreeSale(wanted, { ...settings, merchantAccount: account })
    const { transaction, errors } = await ask(() => library.transaction.sale(sale))
    if (!transaction) {
      const codes = codesOf(errors)
      const spent = wanted.again && codes.includes(nonceSpent)
      const first = spent ? await findLate(wanted.reference, signal) : undefined
      return first ? asEarlier(first) : toDecline(codes)
    }
    if (transaction.gatewayRejectionReason === 'duplicate') {
      const first = await find(wanted.reference)
      if (!first)
        throw new UnclearAnswer('Braintree took a charge for a double one, and has no other with its order id')
      return asEarlier(first)
    }
    const outcome = outcomeOf(transaction)
    const right =
      sameAmount(transactionAmount(transaction), wanted.amount) && transaction.currencyIsoCode === wanted.currency
    if (outcome.kind !== 'declined' && !right)
      throw new UnclearAnswer('Braintree charged another amount than it was asked for')
    return outcome
  }

  /** A part cannot be voided, and refunds of this reference are found at the charge itself. */
  const refund = async (
    { reference, chargeId, amount }: Refund,
    signal: AbortSignal,
  ): Promise<{ refundId: string }> => {
    const sale = await ask(() => library.transaction.find(chargeId))
    for (const id of sale.refundIds ?? []) {
      const { orderId } = await ask(() => library.transaction.find(id))
      if (orderId === reference) return { refundId: id }
    }
    const whole = sameAmount(transactionAmount(sale), amount)
    const voided = { refundId: `${sale.id}-void` }
    if (sale.status === 'voided' && whole) return voided
    const more = toMinorUnits(amount, 4) > toMinorUnits(transactionAmount(sale), 4)
    if (more || returned.has(sale.status) || declined.has(sale.status)) {
      throw new GatewayRefusal(`the charge is ${sale.status}, of ${sale.amount}`)
    }
    signal.throwIfAborted()
    if (sale.status === 'settled' || sale.status === 'settling') {
      const answer = await ask(() => library.transaction.refund(chargeId, { amount, orderId: reference }))
      if (answer.success && answer.transaction) return { refundId: answer.transaction.id }
      throw refundError(answer)
    }
    if (!whole) throw new RefundLater('a part of a charge can be given back once it has settled')
    const answer = await ask(() => library.transaction.void(chargeId))
    if (answer.success) return voided
    throw refundError(answer)
  }

  return {
    name: environment === 'production' && settings.address === undefined ? 'braintree' : 'braintree-sandbox',
    wireNames: ['braintree'],
    // Braintree gives up a request after a minute; its search is late by seconds.
    lateSeconds: 90,
    keepsMethods: true,
    takes: (code) => accounts.has(code),
    testNonce: 'fake-valid-nonce',
    clientToken: makeToken,
    describeAccount: async () => {
      const described: string[] = []
      for (const [code, name] of accounts) {
        const { currencyIsoCode, status } = await ask(() => library.merchantAccount.find(name))
        if (currencyIsoCode !== code || status !== 'active') {
          throw new GatewayRefusal(`expected an active merchant account in ${code}, got ${status}, ${currencyIsoCode}`)
        }
        described.push(`merchant account ${name} of the ${environment}, ${currencyIsoCode}, ${status}`)
      }
      return described.join('; ')
    },
    // Its API does not show its webhooks.
    listLacks: async () =>
      settings.needsThreeDSecure && !mayAuthenticate(await makeToken())
        ? ['the account has no 3-D Secure, so BRAINTREE_3D_SECURE=required lets every card be declined']
        : [],
    notes: settings.needsThreeDSecure ? [] : ['cards without 3-D Secure are taken: BRAINTREE_3D_SECURE'],
    charge,
    findByReference: ({ reference }) => find(reference),
    refund,
    settledBetween: (from, until, signal) => {
      const search = (criteria: object) => searchIds({ ...criteria, merchantAccountId: [...accounts.values()] })
      return listBraintreeEntries({ search, fetch: fetchAll }, { from, until }, signal)
    },
    settlesWithinDays: 5,
    readCharge: (chargeId) => readBraintreeCharge(findTransaction, chargeId),
    webhooks: braintreeWebhooks(
      library.webhookNotification,
      environment === 'sandbox' || settings.address !== undefined,
    ),
  }

  async function makeToken(): Promise<string> {
    const answer = await ask(() => library.clientToken.generate({ merchantAccountId: merchantAccount }))
    if (answer?.clientToken === undefined) throw new GatewayRefusal('Braintree gave no client token')
    return answer.clientToken
  }

  async function findTransaction(id: string): Promise<Transaction | undefined> {
    try {
      return await library.transaction.find(id)
    } catch (error) {
      if ((error as { type?: string }).type === 'notFoundError') return undefined
      throw toCallError(error)
    }
  }

  async function ask<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw toCallError(error)
    }
  }
}

function openLibrary(settings: BraintreeSettings): Library {
  const { environment, merchantId, publicKey, privateKey, address, timeoutMs } = settings
  const { BraintreeGateway, Environment } = braintree
  const known = environment === 'production' ? Environment.Production : Environment.Sandbox
  const { host, port } = address ?? {}
  const place = host && port ? new Environment(host, port, `https://${host}`, true, host, port) : known
  const config = { environment: place, merchantId, publicKey, privateKey, customHttpAgent: processorAgent(address) }
  const library = new BraintreeGateway(config) as unknown as Library
  library.config.timeout = timeoutMs
  return library
}

/** Whether a page with this client token can have a card authenticated; true where the token does not say. */
function mayAuthenticate(clientToken: string): boolean {
  try {
    return JSON.parse(Buffer.from(clientToken, 'base64').toString()).threeDSecureEnabled !== false
  } catch {
    return true
  }
}

function chargedOf(sale: Transaction): Charged {
  const { orderId, currencyIsoCode: currency } = sale
  return { amount: transactionAmount(sale), currency, notes: notesIn(orderId, currency) }
}

/** Of a sale that did not ask for it there is no token, unless the donor has one. */
function keptIn({ status, creditCard, paypalAccount }: Transaction): KeptMethod | undefined {
  const token = creditCard?.token || paypalAccount?.token
  return token && approved.has(status) ? { token } : undefined
}

function outcomeOf(transaction: Transaction): ChargeOutcome {
  const { id, status, gatewayRejectionReason: reason, threeDSecureInfo } = transaction
  if (approved.has(status)) {
    const [liabilityShifted, settled] = [threeDSecureInfo?.liabilityShifted, paidOutFor(transaction)]
    const known = { ...(liabilityShifted !== undefined && { liabilityShifted }), ...(settled && { settled }) }
    return { kind: 'approved', chargeId: id, ...known }
  }
  if (status === undecided) return { kind: 'processing' }
  if (!declined.has(status)) throw new UnclearAnswer(`Braintree has not decided on the charge yet: ${status}`)
  if (status === 'gateway_rejected')
    return { kind: 'declined', decline: declineOf(rejectionCodes[reason ?? ''] ?? 2038) }
  const { processorResponseCode, processorSettlementResponseCode } = transaction
  const code = status === 'settlement_declined' ? processorSettlementResponseCode : processorResponseCode
  return { kind: 'declined', decline: declineOf(Number(code) || 2038) }
}

/** Classifies a sale without a transaction: the donor's payment method was refused, or our request. */
function toDecline(codes: readonly string[]): ChargeOutcome {
  const known = codes.flatMap((code) => methodCodes[code] ?? [])
  if (known[0] !== undefined && known.length === codes.length) return { kind: 'declined', decline: declineOf(known[0]) }
  throw new GatewayRefusal(`Braintree refused the charge: ${codes.join(', ') || 'no reason given'}`)
}

// "Cannot be voided", "cannot refund unless settled", "cannot refund a settling transaction".
const laterCodes: ReadonlySet<string> = new Set(['91504', '91506', '91574'])

function refundError({ errors, transaction }: Answer): Error {
  const codes = codesOf(errors)
  if (codes.some((code) => laterCodes.has(code))) return new RefundLater('the charge is being settled at the moment')
  const reason = codes.join(', ') || transaction?.processorResponseCode || 'no reason given'
  return new GatewayRefusal(`Braintree refused the refund: ${reason}`)
}

const codesOf = (errors: Answer['errors']): string[] => (errors?.deepErrors() ?? []).map(({ code }) => code)

function idsOf(answer: unknown): string[] {
  const ids = (answer as { searchResults?: { ids?: unknown } } | undefined)?.searchResults?.ids
  if (!Array.isArray(ids)) throw new UnclearAnswer('Braintree answered a search with something else')
  return ids.map(String)
}

/** The library returns a list of one as its item. */
function transactionsOf(answer: unknown, expected: number): unknown[] {
  const list = (answer as { creditCardTransactions?: { transaction?: unknown } } | undefined)?.creditCardTransactions
  const found = [list?.transaction ?? []].flat()
  if (found.length !== expected) throw new UnclearAnswer(`Braintree sent ${found.length} of ${expected} transactions`)
  return found
}

// With these answers nothing was done: wrong keys, no right, no such record, an old library, too many requests.
const refusals: ReadonlySet<string> = new Set([
  ...['authenticationError', 'authorizationError', 'notFoundError', 'upgradeRequired', 'tooManyRequestsError'],
  'invalidKeysError',
])

function toCallError(error: unknown): Error {
  const { type = 'error', message = '' } = error as { type?: string; message?: string }
  return refusals.has(type)
    ? new GatewayRefusal(`Braintree refused the request: ${type}`)
    : callError('Braintree', type, message)
}
