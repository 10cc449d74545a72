import type { IncomingMessage } from 'node:http'
import type Stripe from 'stripe'
import { stripeCodes } from '../../../src/extensions/stripe/stripe-declines.js'
import {
  type LedgerCharge,
  type LedgerRefund,
  type ProcessorAnswer,
  ProcessorLedger,
  type ProcessorServer,
  readNonce,
  startProcessor,
} from './processor-server.js'

export const stripeKeys = {
  currency: 'USD',
  secretKey: 'sk_test_51giving',
  publishableKey: 'pk_test_51giving',
  webhookSecret: 'whsec_51giving',
}

/** Decline codes that the nonce itself names, such as `fake-stripe-lost_card-nonce`. */
export const stripeDeclineNonces = Object.entries(stripeCodes).map(
  ([code, number]) => [`fake-stripe-${code}-nonce`, number] as const,
)

const searchLagMs = 60_000

/** Payment methods whose bank asks the donor, one of them with an answer that is lost; and one of a bank account. */
const authenticationNonces = new Set(['pm_card_authenticationRequired', 'fake-authentication-lost-nonce'])
const debitNonce = 'pm_sepa_debit_of_the_tests'

export type StripeServer = ProcessorServer & {
  /** What Stripe says of the account and of its webhooks. */
  readonly account: Part<Stripe.Account>
  readonly endpoints: { url: string; enabled_events: string[] }[]
}

/** Some of the members that the types of the library know, and no other. */
type Part<T> = T extends readonly (infer I)[] ? Part<I>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T

/**
 * A server that speaks the part of Stripe's API that charges need, as its public documentation describes it; what happens is
 * decided by the payment method. Its search does not show what is younger than a minute.
 */
export async function startStripe(): Promise<StripeServer> {
  const ledger = new ProcessorLedger()
  const kept = new Map<string, { status: number; body: string; form: string }>()
  const declineCodes = new Map<string, string>()
  const account: Part<Stripe.Account> = {
    ...{ charges_enabled: true, payouts_enabled: true, default_currency: 'usd' },
    ...{ country: 'US', capabilities: { card_payments: 'active' } },
  }
  const endpoints: { url: string; enabled_events: string[] }[] = [
    { url: 'https://giving.example/api/public/payments/stripe', enabled_events: ['*'] },
  ]
  const processor = await startProcessor(ledger, (request, body) => answer(request, new URLSearchParams(body)))
  return { ...processor, account, endpoints }

  function answer(request: IncomingMessage, form: URLSearchParams): ProcessorAnswer {
    if (request.headers.authorization !== `Bearer ${stripeKeys.secretKey}`)
      return failure(401, { code: 'api_key_expired' })
    const url = new URL(request.url ?? '', 'https://127.0.0.1')
    const key = request.headers['idempotency-key']
    const saved = typeof key === 'string' && request.method === 'POST' ? kept.get(key) : undefined
    if (saved && saved.form !== String(form)) return failure(400, { type: 'idempotency_error' })
    const replayed = { 'idempotent-replayed': 'true' }
    if (saved) return { status: saved.status, body: saved.body, type: 'application/json', headers: replayed }
    const made = route(request.method ?? '', url, form)
    if (typeof key === 'string' && request.method === 'POST' && made.status !== 429 && made.status !== 400) {
      kept.set(key, { status: made.status, body: made.body, form: String(form) })
    }
    return made
  }

  function route(method: string, { pathname, searchParams }: URL, form: URLSearchParams): ProcessorAnswer {
    const place = `${method} ${pathname}`
    if (place === 'GET /v1/balance') {
      return json<Stripe.Balance>({ object: 'balance', livemode: false, available: [], pending: [] })
    }
    if (place === 'GET /v1/account') return json<Stripe.Account>({ object: 'account', ...account })
    if (place === `GET /v1/country_specs/${account.country}`) {
      return json<Stripe.CountrySpec>({ object: 'country_spec', supported_payment_currencies: ['usd', 'eur', 'jpy'] })
    }
    if (place === 'GET /v1/webhook_endpoints') {
      const data = endpoints.map((one) => ({ object: 'webhook_endpoint' as const, status: 'enabled', ...one }))
      return json<Stripe.ApiList<Stripe.WebhookEndpoint>>({ object: 'list', data, has_more: false })
    }
    if (place === 'POST /v1/payment_intents') return create(form)
    if (place === 'POST /v1/customers') return json<Stripe.Customer>({ object: 'customer', id: ledger.nextId('cus_') })
    if (place === 'GET /v1/payment_intents/search') return search(searchParams.get('query') ?? '')
    if (place === 'GET /v1/payment_intents') return list(searchParams)
    const [, intentId] = /^GET \/v1\/payment_intents\/(\w+)$/.exec(place) ?? []
    if (intentId !== undefined) return retrieve(intentId)
    const [, cancelled] = /^POST \/v1\/payment_intents\/(\w+)\/cancel$/.exec(place) ?? []
    if (cancelled !== undefined) return cancel(cancelled)
    if (place === 'GET /v1/disputes') return disputes(searchParams.get('payment_intent') ?? '')
    if (place === 'GET /v1/balance_transactions') return balanceTransactions(searchParams)
    if (place === 'POST /v1/refunds') return refund(form)
    if (place === 'GET /v1/refunds') return refunds(searchParams.get('payment_intent') ?? '')
    if (pathname.startsWith('/v1/payment_methods/'))
      return json<Stripe.PaymentMethod>({ object: 'payment_method', customer: 'cus_1' })
    return failure(404, { code: 'resource_missing' })
  }

  function create(form: URLSearchParams): ProcessorAnswer {
    const method = form.get('payment_method') ?? ''
    const kept = ledger.keptMethods.get(method)
    const customer = form.get('customer') ?? ''
    const offSession = form.get('off_session') === 'true'
    // A kept way to pay belongs to one customer, and is charged without the donor.
    if (offSession !== (kept !== undefined) || (offSession && !method.endsWith(customer))) {
      return failure(400, { code: 'resource_missing', param: 'payment_method' })
    }
    const declinedKept = offSession ? ledger.declinesOfKept.shift() : undefined
    const [nonce, cents] = [
      (declinedKept === undefined ? (kept ?? method) : `fake-declined-${declinedKept}-nonce`).replace(
        /^pm_card_visa$/,
        'fake-valid-nonce',
      ),
      Number(form.get('amount')),
    ]
    const reference = form.get('metadata[reference]') ?? ''
    const asks = authenticationNonces.has(nonce)
    const unasked = asks && form.get('error_on_requires_action') === 'true'
    const [, stated] = /^fake-stripe-(\w+)-nonce$/.exec(nonce) ?? []
    const named = unasked ? 'authentication_required' : stated
    const waits = asks ? ('donor' as const) : nonce === debitNonce ? ('processor' as const) : undefined
    const lost = nonce === 'fake-authentication-lost-nonce' ? ({ kind: 'silent', charged: true } as const) : undefined
    const behaviour =
      named || waits
        ? { fault: lost ?? ({ kind: 'answer' } as const), slowMs: 0 }
        : readNonce(nonce, String(cents / 100))
    if (waits === 'processor' && !form.has('mandate_data[customer_acceptance][online][ip_address]')) {
      return failure(400, { code: 'parameter_missing', param: 'mandate_data' })
    }
    if (!behaviour)
      return failure(400, { code: 'resource_missing', param: 'payment_method', message: `No such ${nonce}` })
    const { fault, slowMs: delayMs, code } = { code: undefined, ...behaviour }
    if (fault.kind === 'refused') return failure(429, { code: 'rate_limit' })
    if ('charged' in fault && !fault.charged) return { ...failure(500, {}), fault }
    const number = named ? 1 : code
    const amount = cents + (fault.kind === 'other-amount' ? 100 : 0)
    const declined = number === undefined ? {} : { declineCode: number }
    const metadata = [...form].flatMap(([name, value]) => {
      const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return key === undefined ? [] : [[key, value] as const]
    })
    const carried = JSON.stringify(Object.fromEntries(metadata))
    const entry = {
      id: ledger.nextId('pi_'),
      reference,
      carried,
      amount,
      currency: form.get('currency') ?? '',
      ...declined,
      ...(number === undefined && { waits }),
      ...(form.get('setup_future_usage') === 'off_session' && { kept: keep(nonce, customer) }),
    }
    const charge = ledger.charge(entry)
    if (number === undefined) return { ...json(intent(charge)), fault, delayMs }
    declineCodes.set(charge.id, named ?? codeOf(number))
    return failure(402, { ...cardError(charge), payment_intent: intent(charge) })
  }

  /** Charged again, it does as before; one whose bank asked asks no more. */
  function keep(nonce: string, customer: string) {
    const token = `pm_kept_${ledger.nextId()}_${customer}`
    ledger.keptMethods.set(token, authenticationNonces.has(nonce) ? 'fake-valid-nonce' : nonce)
    return { token, customer }
  }

  function intent(charge: LedgerCharge) {
    const {
      id,
      amount,
      captured = amount,
      currency,
      reference,
      carried,
      declineCode,
      failed,
      voided,
      waits,
      kept,
      at,
    } = charge
    const paid = declineCode === undefined && !failed && !voided && !waits
    const waiting = waits && ({ donor: 'requires_action', processor: 'processing' } as const)[waits]
    const unpaid = voided ? ('canceled' as const) : (waiting ?? 'requires_payment_method')
    return {
      id,
      object: 'payment_intent',
      amount,
      currency,
      amount_received: paid ? captured : 0,
      status: paid ? 'succeeded' : unpaid,
      client_secret: `${id}_secret_of_the_page`,
      livemode: false,
      metadata: carried === undefined ? { reference } : JSON.parse(carried),
      created: Math.floor(at / 1000),
      ...(kept && {
        setup_future_usage: 'off_session' as const,
        customer: kept.customer ?? null,
        payment_method: kept.token,
      }),
      last_payment_error: paid || waits ? null : cardError(charge),
    } satisfies Part<Stripe.PaymentIntent>
  }

  /** The real error repeats the payment method with the name of its owner. */
  function cardError({ id }: LedgerCharge) {
    const decline_code = declineCodes.get(id)
    return {
      type: 'card_error',
      code: 'card_declined',
      ...(decline_code !== undefined && { decline_code }),
      message: 'Your card was declined.',
      payment_method: { object: 'payment_method', billing_details: { name: 'Xanthippe Quillfeather' } },
    } satisfies Part<Stripe.PaymentIntent.LastPaymentError>
  }

  function search(query: string): ProcessorAnswer {
    const [, reference] = /^metadata\['reference'\]:'([^']*)'$/.exec(query) ?? []
    const data = ledger.charges.filter((item) => item.reference === reference && item.at < ledger.now() - searchLagMs)
    const found = { data: data.map(intent), has_more: false, url: '/v1/payment_intents/search' }
    return json<Stripe.ApiSearchResult<Stripe.PaymentIntent>>({ object: 'search_result', ...found })
  }

  function list(params: URLSearchParams): ProcessorAnswer {
    const since = Number(params.get('created[gte]'))
    const newestFirst = ledger.charges.filter(({ at }) => at / 1000 >= since).reverse()
    return json<Stripe.ApiList<Stripe.PaymentIntent>>(pageOf(newestFirst.map(intent), params))
  }

  /** Money of a charge and of a refund moves when it is made. */
  function balanceTransactions(params: URLSearchParams): ProcessorAnswer {
    const [since, before] = [Number(params.get('created[gte]')), Number(params.get('created[lt]'))]
    const lines = ledger.approved().flatMap((charge) => {
      const { currency, reference } = charge
      const about = (id: string, amount: number, name: string) => {
        const metadata = name === '' ? {} : { reference: name }
        return { id, amount, currency, metadata, payment_intent: charge.id } satisfies Part<
          Stripe.Charge | Stripe.Refund
        >
      }
      return [
        {
          at: charge.at,
          type: 'charge' as const,
          source: about(`ch_${charge.id}`, charge.captured ?? charge.amount, reference),
        },
        ...charge.refunds.map(({ id, amount, at, ...refund }) => {
          const status = refund.failed ? ('failed' as const) : ('succeeded' as const)
          return { at, type: 'refund' as const, source: { ...about(id, amount, refund.reference), status } }
        }),
        ...charge.refunds.flatMap(({ id, amount, at, reference, failed }) =>
          failed ? [{ at, type: 'refund_failure' as const, source: about(id, amount, reference) }] : [],
        ),
      ]
    })
    const payout = { at: ledger.now(), type: 'payout' as const, source: { id: 'po_1', object: 'payout' as const } }
    const data = [...lines, payout]
      .map(({ at, type, source }) => ({ id: `txn_${source.id}`, type, source, created: Math.floor(at / 1000) }))
      .filter(({ created }) => created >= since && created < before)
    return json<Stripe.ApiList<Stripe.BalanceTransaction>>(pageOf(data, params))
  }

  function refund(form: URLSearchParams): ProcessorAnswer {
    const charge = ledger.approved().find(({ id }) => id === form.get('payment_intent'))
    if (!charge) return failure(404, { code: 'resource_missing', param: 'payment_intent' })
    const amount = Number(form.get('amount'))
    if (ledger.left(charge) === 0) return failure(400, { code: 'charge_already_refunded' })
    if (amount > ledger.left(charge)) return failure(400, { code: 'amount_too_large', param: 'amount' })
    const reference = form.get('metadata[reference]') ?? ''
    return json<Stripe.Refund>(refundOf(charge, ledger.refund(charge, { id: ledger.nextId('re_'), reference, amount })))
  }

  function refunds(id: string): ProcessorAnswer {
    const charge = ledger.charges.find((item) => item.id === id)
    if (!charge) return failure(404, { code: 'resource_missing', param: 'payment_intent' })
    return json<Stripe.ApiList<Stripe.Refund>>({
      object: 'list',
      data: charge.refunds.map((one) => refundOf(charge, one)),
      has_more: false,
    })
  }

  function retrieve(id: string): ProcessorAnswer {
    const charge = ledger.charges.find((item) => item.id === id)
    return charge
      ? json({ ...intent(charge), latest_charge: chargeOf(charge) })
      : failure(404, { code: 'resource_missing', param: 'intent' })
  }

  /** The charge of a payment with its entry in the balance, as it is asked for when a payment is read. */
  function chargeOf(charge: LedgerCharge) {
    const cents = ledger.settledCents(charge)
    if (charge.declineCode !== undefined || charge.waits) return null
    const entry = { object: 'balance_transaction', amount: cents ?? 0, currency: 'usd' } as const
    const made = {
      id: `ch_${charge.id}`,
      object: 'charge' as const,
      balance_transaction: cents === undefined ? null : entry,
    }
    return made satisfies Part<Stripe.Charge>
  }

  function cancel(id: string): ProcessorAnswer {
    const charge = ledger.charges.find((item) => item.id === id)
    if (!charge) return failure(404, { code: 'resource_missing', param: 'intent' })
    if (!charge.waits && charge.declineCode === undefined) {
      return failure(400, { code: 'payment_intent_unexpected_state', param: 'intent' })
    }
    charge.voided = true
    return json(intent(charge))
  }

  function disputes(id: string): ProcessorAnswer {
    const { disputes: found = [], currency = 'usd' } = ledger.charges.find((item) => item.id === id) ?? {}
    const data = found.map(({ status, ...dispute }) => {
      const named = status === 'open' ? ('needs_response' as const) : status
      return { ...dispute, object: 'dispute' as const, currency, status: named, payment_intent: id }
    })
    return json<Stripe.ApiList<Stripe.Dispute>>({ object: 'list', data, has_more: false })
  }
}

/** The part of a list that these parameters ask for. */
function pageOf<T extends { readonly id: string }>(items: readonly T[], params: URLSearchParams) {
  const limit = Number(params.get('limit'))
  const start = items.findIndex(({ id }) => id === params.get('starting_after')) + 1
  return { object: 'list' as const, data: items.slice(start, start + limit), has_more: start + limit < items.length }
}

const refundOf = ({ currency }: LedgerCharge, { id, amount, reference, failed }: LedgerRefund) => {
  const metadata = reference === '' ? {} : { reference }
  const status = failed ? 'failed' : 'succeeded'
  return { id, object: 'refund', amount, currency, status, metadata } satisfies Part<Stripe.Refund>
}

/** Stripe's code for a number of the API, as far as it has one. */
function codeOf(number: number): string {
  return Object.entries(stripeCodes).find(([, of]) => of === number)?.[0] ?? 'unheard_of'
}

function json<T>(value: Part<T>): ProcessorAnswer {
  return { status: 200, type: 'application/json', body: JSON.stringify(value) }
}

function failure(status: number, error: object): ProcessorAnswer {
  return {
    status,
    type: 'application/json',
    body: JSON.stringify({ error: { type: 'invalid_request_error', ...error } }),
  }
}
