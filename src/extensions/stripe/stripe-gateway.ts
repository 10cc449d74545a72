import { isIP } from 'node:net'
import Stripe from 'stripe'
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
  type WantedCharge,
} from '../../money/gateways/gateway.js'
import {
  callError,
  type ProcessorAddress,
  processorAgent,
  UnclearAnswer,
} from '../../money/gateways/processor-calls.js'
import { toStripeAmount } from './stripe-amounts.js'
import { moneyOfIntent, readStripeCharge, settledIn, withSettled } from './stripe-charge-state.js'
import { methodSpent, methodUnknown, stripeCodes } from './stripe-declines.js'
import { listStripeEntries } from './stripe-entries.js'
import { listStripeLacks } from './stripe-lacks.js'
import { fromStripeMetadata, toStripeMetadata } from './stripe-metadata.js'
import { stripeWebhooks } from './stripe-webhooks.js'

export type StripeSettings = {
  readonly secretKey: string
  readonly publishableKey: string
  /** The platform's currency. */
  readonly currency: string
  /** Undefined: no webhooks are received. */
  readonly webhookSecret?: string | undefined
  readonly timeoutMs: number
  /** A server in place of Stripe's. */
  readonly address?: ProcessorAddress | undefined
}

type Intent = Stripe.PaymentIntent

// How far the list of payments is read for one that the search does not show yet.
const mostListed = 2_000

/** Stripe, through its own library: a charge is a PaymentIntent with our reference as idempotency key and in its metadata. */
export function createStripeGateway(settings: StripeSettings): Gateway {
  const { secretKey, publishableKey, webhookSecret, timeoutMs, address } = settings
  const live = /^[rs]k_live_/.test(secretKey)
  const stripe = new Stripe(secretKey, {
    ...(address && { host: address.host, port: address.port }),
    httpAgent: processorAgent(address),
    timeout: timeoutMs,
    // A repeated charge is decided by the books, not by the library.
    maxNetworkRetries: 0,
    telemetry: false,
  })

  const search = async (reference: string): Promise<Intent | undefined> => {
    const query = `metadata['reference']:'${reference}'`
    const { data } = await ask(() => stripe.paymentIntents.search({ query }))
    return chosen(data.filter(({ metadata }) => metadata.reference === reference))
  }

  /** The search is late by a minute or more, the list is not. */
  const find = async ({ reference, since }: WantedCharge): Promise<FoundCharge | undefined> => {
    const found = (await search(reference)) ?? (await findInList(reference, since))
    return found && { outcome: await settledOutcome(found), ...chargedOf(found), kept: keptIn(found) }
  }

  const findInList = async (reference: string, since: Date): Promise<Intent | undefined> => {
    // The clock of the process that charged may be ten minutes ahead.
    const created = { gte: Math.floor(since.getTime() / 1000) - 660 }
    const matching: Intent[] = []
    let read = 0
    return await ask(async () => {
      for await (const intent of stripe.paymentIntents.list({ created, limit: 100 })) {
        if (intent.metadata.reference === reference) matching.push(intent)
        read += 1
        if (read >= mostListed) throw new UnclearAnswer(`Stripe has more than ${mostListed} payments since then`)
      }
      return chosen(matching)
    })
  }

  const charge = async (wanted: Charge, signal: AbortSignal): Promise<ChargeOutcome> => {
    const earlier = wanted.again ? await search(wanted.reference) : undefined
    if (earlier) return asEarlier({ outcome: await settledOutcome(earlier), ...chargedOf(earlier) })
    const request = await chargeRequest(wanted)
    // A try that is known to have charged nothing may have an answer that Stripe would repeat for a day.
    const { reference, attempt = 1 } = wanted
    const idempotencyKey = attempt === 1 ? reference : `${reference}-${attempt}`
    try {
      const intent = await createIntent(request, idempotencyKey, signal)
      const outcome = await settledOutcome(intent)
      const { amount_received: received, currency } = intent
      if (outcome.kind === 'approved' && (received !== request.amount || currency !== request.currency))
        throw new UnclearAnswer('Stripe charged another amount than it was asked for')
      return outcome
    } catch (error) {
      const decline = declineOfError(error)
      if (decline === undefined) throw toCallError(error)
      return { kind: 'declined', decline: declineOf(decline) }
    }
  }

  /** The outcome, with what Stripe settled for a charge in another currency. No error of that look says anything of the charge. */
  const settledOutcome = async (intent: Intent): Promise<ChargeOutcome> => {
    const outcome = outcomeOf(intent)
    if (outcome.kind !== 'approved' || intent.currency.toUpperCase() === settings.currency) return outcome
    const read = await stripe.paymentIntents.retrieve(intent.id, withSettled).catch(() => undefined)
    return { ...outcome, settled: read && settledIn(read) }
  }

  /** Stripe repeats its first answer to an idempotency key, also when the payment of it has been cancelled since. */
  const createIntent = async (
    request: Stripe.PaymentIntentCreateParams,
    idempotencyKey: string,
    signal: AbortSignal,
  ): Promise<Intent> => {
    signal.throwIfAborted()
    const made = await stripe.paymentIntents.create(request, { idempotencyKey })
    if (!waitsForDonor.has(made.status) || made.lastResponse.headers['idempotent-replayed'] !== 'true') return made
    const intent = await stripe.paymentIntents.retrieve(made.id)
    if (intent.status !== 'canceled') return intent
    return await createIntent(request, `${idempotencyKey}-after-${intent.id}`, signal)
  }

  const chargeRequest = async (charge: Charge) => {
    const { reference, amount, currency, method, deviceData, notes, mayAsk, keeps, payer } = charge
    const customer = method.kind === 'kept' ? method.customer : await customerFor(charge)
    return {
      ...{ amount: toStripeAmount(amount, currency), currency: currency.toLowerCase(), confirm: true },
      ...{ payment_method: method.kind === 'nonce' ? method.nonce : method.token },
      metadata: toStripeMetadata(reference, notes),
      ...(customer !== undefined && { customer }),
      // Otherwise the balance entry, which says what is settled, may come later than the answer.
      ...(currency !== settings.currency && { capture_method: 'automatic' as const }),
      ...(keeps && { setup_future_usage: 'off_session' as const }),
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      // Who cannot repeat the request cannot complete the payment either: then a card whose owner must act is declined.
      ...(method.kind === 'kept'
        ? { off_session: true }
        : mayAsk
          ? { use_stripe_sdk: true }
          : { error_on_requires_action: true }),
      ...(method.kind !== 'kept' && mandateOf(payer)),
      ...(deviceData?.startsWith('rse_') && { radar_options: { session: deviceData } }),
    } satisfies Stripe.PaymentIntentCreateParams
  }

  /** The customer of a saved token; a new one, without anything personal, where the way to pay is to be kept. */
  const customerFor = async ({ reference, method, keeps }: Charge): Promise<string | undefined> => {
    if (method.kind === 'saved-token') return await customerOf(method.token)
    if (!keeps) return undefined
    const metadata = { reference }
    const made = await ask(() => stripe.customers.create({ metadata }, { idempotencyKey: `customer-${reference}` }))
    return made.id
  }

  /** Undefined for a token that Stripe does not know: the charge itself is declined for it. */
  const customerOf = async (token: string): Promise<string | undefined> => {
    try {
      const { customer } = await stripe.paymentMethods.retrieve(token)
      return typeof customer === 'string' ? customer : customer?.id
    } catch (error) {
      if (error instanceof Stripe.errors.StripeInvalidRequestError) return undefined
      throw toCallError(error)
    }
  }

  /** A payment that has succeeded in the meantime is not cancelled: the next look finds it. */
  const abandon = async ({ reference, since }: WantedCharge): Promise<void> => {
    const intent = (await search(reference)) ?? (await findInList(reference, since))
    if (intent && waitsForDonor.has(intent.status)) {
      await ask(() => stripe.paymentIntents.cancel(intent.id, { cancellation_reason: 'abandoned' }))
    } else if (intent) throw new UnclearAnswer(`Stripe has gone on with the charge: ${intent.status}`)
  }

  const refund = async (wanted: Refund, signal: AbortSignal): Promise<{ refundId: string }> => {
    const { reference, chargeId, amount, currency } = wanted
    const made = await ask(() => stripe.refunds.list({ payment_intent: chargeId, limit: 100 }))
    const earlier = made.data.find(({ metadata }) => metadata?.reference === reference)
    const request = { payment_intent: chargeId, amount: toStripeAmount(amount, currency), metadata: { reference } }
    const idempotencyKey = `refund-${reference}`
    signal.throwIfAborted()
    const { id, status } = earlier ?? (await ask(() => stripe.refunds.create(request, { idempotencyKey })))
    if (status === 'failed' || status === 'canceled') throw new GatewayRefusal(`Stripe could not refund: ${status}`)
    return { refundId: id }
  }

  return {
    name: live && address === undefined ? 'stripe' : 'stripe-sandbox',
    wireNames: ['stripe'],
    lateSeconds: 90,
    keepsMethods: true,
    takes: () => true,
    testNonce: 'pm_card_visa',
    describeAccount: async () => {
      const { livemode } = await ask(() => stripe.balance.retrieve())
      if (livemode !== live) throw new GatewayRefusal('the key is not of the mode that its name says')
      return `Stripe account in ${livemode ? 'live' : 'test'} mode`
    },
    listLacks: (currencies) => ask(() => listStripeLacks(stripe, { ...settings, currencies })),
    clientToken: async () => publishableKey,
    charge,
    findByReference: find,
    abandon,
    refund,
    readCharge: (chargeId) => ask(() => readStripeCharge(stripe, chargeId)),
    settledBetween: (from, until, signal) => asked(listStripeEntries(stripe, { from, until }, signal)),
    settlesWithinDays: 1,
    webhooks: webhookSecret === undefined ? undefined : stripeWebhooks(webhookSecret),
  }
}

async function ask<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toCallError(error)
  }
}

async function* asked<T>(list: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* list
  } catch (error) {
    throw toCallError(error)
  }
}

function keptIn({ status, setup_future_usage, customer, payment_method }: Intent): KeptMethod | undefined {
  if (setup_future_usage !== 'off_session' || status !== 'succeeded') return undefined
  if (typeof customer !== 'string' || typeof payment_method !== 'string') return undefined
  return { customer, token: payment_method }
}

/** States in which the page could still complete a payment whose secret it has. */
const waitsForDonor: ReadonlySet<string> = new Set([
  ...['requires_action', 'requires_payment_method', 'requires_confirmation'],
])

/** The donor's consent to a debit of a bank account, which Stripe wants with the place that it was given from. */
function mandateOf({ ipAddress, userAgent }: Charge['payer']): Pick<Stripe.PaymentIntentCreateParams, 'mandate_data'> {
  if (ipAddress === undefined || userAgent === undefined || isIP(ipAddress) === 0) return {}
  const online = { ip_address: ipAddress, user_agent: userAgent }
  return { mandate_data: { customer_acceptance: { type: 'online', online } } }
}

/** The payment that counts; a cancelled one holds no money and never will. */
function chosen(intents: readonly Intent[]): Intent | undefined {
  const open = intents.filter(({ status }) => status !== 'canceled')
  const paid = open.filter(({ status }) => status === 'succeeded')
  if (paid.length > 1) throw new UnclearAnswer('Stripe has more than one charge with one reference')
  return paid[0] ?? open[0]
}

function outcomeOf({ id, status, last_payment_error: error, client_secret: clientSecret }: Intent): ChargeOutcome {
  if (status === 'succeeded') return { kind: 'approved', chargeId: id }
  if (status === 'requires_action' && clientSecret !== null) return { kind: 'action-required', clientSecret }
  if (status === 'processing') return { kind: 'processing' }
  if (status === 'requires_payment_method' && error) return { kind: 'declined', decline: declineOf(numberOf(error)) }
  throw new UnclearAnswer(`Stripe has not decided on the charge yet: ${status}`)
}

function chargedOf(intent: Intent): Charged {
  return { ...moneyOfIntent(intent), notes: fromStripeMetadata(intent.metadata) }
}

function numberOf({ decline_code, code }: { decline_code?: string | undefined; code?: string | undefined }): number {
  return stripeCodes[decline_code ?? ''] ?? stripeCodes[code ?? ''] ?? 2038
}

/** The number of a declined charge; undefined when the error is none. */
function declineOfError(error: unknown): number | undefined {
  if (error instanceof Stripe.errors.StripeCardError) return numberOf(error)
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.param === 'payment_method') {
    return error.code === 'resource_missing' ? methodUnknown : methodSpent
  }
  return undefined
}

/** Errors of ours pass; with these of Stripe nothing was done: wrong keys, no right, a wrong field, too many requests. */
function toCallError(error: unknown): Error {
  if (error instanceof GatewayRefusal || error instanceof UnclearAnswer) return error
  if (!(error instanceof Stripe.errors.StripeError)) return callError('Stripe', 'error', '')
  const { errors } = Stripe
  const refusals = [
    ...[errors.StripeAuthenticationError, errors.StripePermissionError, errors.StripeRateLimitError],
    errors.StripeInvalidRequestError,
  ]
  const { type, code, detail, statusCode } = error
  // Another call with the same idempotency key is under way.
  if (statusCode === 409) return callError('Stripe', code ?? type, '')
  if (refusals.some((kind) => error instanceof kind)) return new GatewayRefusal(`Stripe refused: ${code ?? type}`)
  const cause = detail as unknown
  const reason = cause instanceof Error ? `${cause.name} ${cause.message} ${'code' in cause ? cause.code : ''}` : ''
  return callError('Stripe', type, reason)
}
