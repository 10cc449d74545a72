import { randomUUID } from 'node:crypto'
import { Agent } from 'node:https'
import path from 'node:path'
import braintree from 'braintree'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'
import type { Decimal } from '../../../../src/kernel/money.js'
import type { Charge, Gateway } from '../../../../src/money/gateways/gateway.js'
import { projectRoot } from '../../../support/documents/how-to.js'
import { usd } from '../../../support/money/donations.js'
import { type ProcessorWithSdk, processors } from '../../../support/money/processors.js'
import { stripeDelivery } from '../../../support/money/webhook-deliveries.js'
import { braintreeKeys } from '../../../support/servers/braintree-server.js'
import type { LedgerCharge, ProcessorCall, ProcessorServer } from '../../../support/servers/processor-server.js'

/** What the adapters send, and what the stand-ins answer, in the words that the processors publish with their libraries. */

const never = new AbortController().signal
const euros = 'EUR' as typeof usd

/** Everything that an adapter asks its processor for. */
async function askAll(name: ProcessorWithSdk, { ledger }: ProcessorServer, gateway: Gateway): Promise<void> {
  const donor = { firstname: 'Lina', lastname: 'Okoro', email: 'lina@example.org', address: 'Quay 1', city: 'Galway' }
  const payer = { ...donor, iso3166CountryCode: 'IE', zip: 'H91', ipAddress: '192.0.2.7', userAgent: 'Example/1.0' }
  const notes = { projectId: 2045, addon: '2.50' as Decimal, refcode: 'spring-drive' }
  const charge = async (changes: Partial<Charge> = {}) => {
    const reference = randomUUID().replaceAll('-', '')
    const base = { reference, amount: '42.50' as Decimal, currency: usd, gatewayKey: 'k', payer, notes }
    await gateway.charge({ ...base, method: { kind: 'nonce', nonce: 'fake-valid-nonce' }, ...changes }, never)
    return { reference, since: new Date(Date.now() - 60_000), chargeId: ledger.charges.at(-1)?.id ?? '' }
  }
  const device = name === 'stripe' ? 'rse_1' : '{"correlation_id":"a1"}'
  const paid = await charge({ deviceData: device, threeDSecureAuthenticationId: 'auth0001', again: true })
  await charge({ currency: euros })
  await charge({ method: { kind: 'nonce', nonce: 'fake-declined-2001-nonce' } })
  await charge({ method: { kind: 'saved-token', token: 'fake-valid-visa-nonce' } })
  await charge({ method: { kind: 'nonce', nonce: 'fake-three-d-secure-visa-full-authentication-nonce' } }).catch(
    // Only Braintree knows it.
    () => undefined,
  )
  const first = await charge({ keeps: true })
  const { kept } = (await gateway.findByReference(first, never)) ?? {}
  if (!kept) throw new Error('no way to pay was kept')
  await charge({ method: { kind: 'kept', ...kept } })
  await charge({
    method: { kind: 'nonce', nonce: name === 'stripe' ? 'pm_sepa_debit_of_the_tests' : 'us_bank_account_of_the_tests' },
  })
  if (gateway.abandon) {
    const asked = await charge({ mayAsk: true, method: { kind: 'nonce', nonce: 'pm_card_authenticationRequired' } })
    await gateway.abandon(asked, never)
  }
  for (const one of ledger.approved()) ledger.settle(one)
  const back = { reference: randomUUID(), amount: '5.00' as Decimal, currency: usd }
  await gateway.refund({ ...back, chargeReference: paid.reference, chargeId: paid.chargeId }, never)
  ledger.dispute(paid.reference)
  await gateway.readCharge(paid.chargeId, never)
  await gateway.findByReference({ reference: randomUUID(), since: paid.since }, never)
  for await (const _ of gateway.settledBetween(paid.since, new Date(Date.now() + 60_000), never));
  await gateway.describeAccount(never)
  await gateway.listLacks?.(['USD'], never)
  await gateway.clientToken(never)
}

/** A value, and the type that it is to have. */
type Typed = readonly [type: string, value: unknown]

/** Types in words of the libraries; each word is one of those that are named, where some are. */
const types = `
import type Stripe from 'stripe'
import type braintree from 'braintree'
type Named<T> = T extends string ? (string extends T ? never : T) : never
type Word<T> = [Named<T>] extends [never] ? T : Named<T>
/** Any of the members, and no other; N is what one that need not be there may be beside. */
type Part<T, N = never> = Word<Extract<T, string>> | Inner<Exclude<T, string>, N>
type Inner<T, N> = T extends number | boolean | null | undefined ? T
  : T extends readonly (infer I)[] ? Part<I, N>[] : { [K in keyof T]?: Part<T[K], N> | (undefined extends T[K] ? N : never) }
/** The same as a form has it. */
type Form<T> = Word<Extract<T, string>> | InnerForm<Exclude<T, string>>
type InnerForm<T> = T extends number | boolean ? \`\${T}\`
  : T extends readonly (infer I)[] ? Form<I>[] : T extends object ? { [K in keyof T]?: Form<T[K]> } : never
type Failure = { error: Part<Stripe.PaymentIntent.LastPaymentError> & { type: string, param?: string, payment_intent?: Part<Stripe.PaymentIntent> } }
/** The library's own samples have the amount, and its own table of states begins them in small letters. */
type Dispute = Part<Omit<braintree.Dispute, 'status'>> & { amount?: string, status?: Lowercase<braintree.DisputeStatus> }
type Transaction = Part<Omit<braintree.Transaction, 'disputes'>, null> & { disputes?: Dispute[] }
`

/** What TypeScript says of each value that is not of its type; undefined for one that is. */
function findings(values: readonly Typed[]): (string | undefined)[] {
  const file = path.join(projectRoot, 'test/integration/money/payments/values.ts')
  const lines = values.map(([type, value], at) => `export const v${at} = ${JSON.stringify(value)} satisfies ${type}`)
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      target: 'ES2023',
      lib: ['ES2023'],
      module: 'NodeNext',
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
    },
    projectRoot,
  )
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  const source = ts.createSourceFile(file, `${types}${lines.join('\n')}`, ts.ScriptTarget.ES2023, true)
  host.fileExists = (name) => name === file || fileExists.call(host, name)
  host.getSourceFile = (name, language) => (name === file ? source : getSourceFile.call(host, name, language))
  const found = new Array<string | undefined>(values.length).fill(undefined)
  for (const { start = 0, messageText } of ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))) {
    const at = source.getLineAndCharacterOfPosition(start).line - types.split('\n').length + 1
    if (at < 0) throw new Error(ts.flattenDiagnosticMessageText(messageText, ' '))
    found[at] = `${ts.flattenDiagnosticMessageText(messageText, ' ')}: ${lines[at]}`
  }
  return found
}

/** Of each place of Stripe that is called: what it takes, and what it gives. */
const places: readonly (readonly [place: RegExp, takes: string, gives: string])[] = [
  [/^GET \/v1\/balance$/, 'BalanceRetrieveParams', 'Balance'],
  [/^GET \/v1\/account$/, 'AccountRetrieveParams', 'Account'],
  [/^GET \/v1\/country_specs\/\w+$/, 'CountrySpecRetrieveParams', 'CountrySpec'],
  [/^GET \/v1\/webhook_endpoints$/, 'WebhookEndpointListParams', 'ApiList<Stripe.WebhookEndpoint>'],
  [/^POST \/v1\/customers$/, 'CustomerCreateParams', 'Customer'],
  [/^GET \/v1\/payment_methods\/[\w-]+$/, 'PaymentMethodRetrieveParams', 'PaymentMethod'],
  [/^POST \/v1\/payment_intents$/, 'PaymentIntentCreateParams', 'PaymentIntent'],
  [/^GET \/v1\/payment_intents\/search$/, 'PaymentIntentSearchParams', 'ApiSearchResult<Stripe.PaymentIntent>'],
  [/^GET \/v1\/payment_intents$/, 'PaymentIntentListParams', 'ApiList<Stripe.PaymentIntent>'],
  [/^GET \/v1\/payment_intents\/(?!search$)\w+$/, 'PaymentIntentRetrieveParams', 'PaymentIntent'],
  [/^POST \/v1\/payment_intents\/\w+\/cancel$/, 'PaymentIntentCancelParams', 'PaymentIntent'],
  [/^POST \/v1\/refunds$/, 'RefundCreateParams', 'Refund'],
  [/^GET \/v1\/refunds$/, 'RefundListParams', 'ApiList<Stripe.Refund>'],
  [/^GET \/v1\/disputes$/, 'DisputeListParams', 'ApiList<Stripe.Dispute>'],
  [/^GET \/v1\/balance_transactions$/, 'BalanceTransactionListParams', 'ApiList<Stripe.BalanceTransaction>'],
]

function ofStripe({ place, query, request, answer: { status, body } }: ProcessorCall): Typed[] {
  const [, takes, gives = ''] = places.find(([of]) => of.test(place)) ?? []
  if (takes === undefined) throw new Error(`nothing is known of ${place}`)
  return [
    [`Form<Stripe.${takes}>`, fromForm(place.startsWith('GET') ? query : request)],
    [status === 200 ? `Part<Stripe.${gives}>` : 'Failure', JSON.parse(body)],
  ]
}

/** What the events are about; what is personal stands in each of them here, wherever it is in the real ones. */
function eventsOfStripe(charge: LedgerCharge): Typed[] {
  const objects: Readonly<Record<string, string>> = {
    ...{ payment_intent: 'PaymentIntent', charge: 'Charge', refund: 'Refund', dispute: 'Dispute' },
  }
  return (['settled', 'failed', 'refunded', 'refund-failed', 'disputed', 'won', 'lost'] as const).flatMap((what) => {
    const { data, ...event } = JSON.parse(stripeDelivery(what, charge, { at: new Date() }).payload)
    const { billing_details: _, ...object } = data.object
    return [
      ['Part<Omit<Stripe.Event, "data">>', event],
      [`Part<Stripe.${objects[object.object]}>`, object],
    ]
  })
}

/** The library of Braintree, with the parts that its types leave out. */
function openLibrary({ address: { host = '', port = '' } }: ProcessorServer) {
  const environment = new braintree.Environment(host, port, `https://${host}`, true, host, port)
  const customHttpAgent = new Agent({ rejectUnauthorized: false })
  return new braintree.BraintreeGateway({ ...braintreeKeys, environment, customHttpAgent } as never) as unknown as {
    readonly http: { get(path: string): Promise<{ readonly transaction: unknown }> }
    readonly transaction: { search(fill: (search: Search) => void): { readonly ready?: unknown } }
    readonly webhookTesting: {
      sampleNotification(kind: string, id: string): { readonly bt_signature: string; readonly bt_payload: string }
    }
  }
}

type Field = {
  is(value: string): void
  in(values: string[]): void
  startsWith(value: string): void
  between(min: string, max: string): void
}
type Search = Readonly<Record<'orderId' | 'type' | 'settledAt' | 'disputeDate' | 'merchantAccountId', () => Field>>

describe('the types that processors publish with their libraries', async () => {
  const [[stripe, atStripe], [gateway, atBraintree]] = await Promise.all([processors.stripe(), processors.braintree()])
  afterAll(() => Promise.all([stripe.close(), gateway.close()]))
  await Promise.all([askAll('stripe', stripe, atStripe), askAll('braintree', gateway, atBraintree)])
  const library = openLibrary(gateway)

  it('have every member and every word that is sent, and that the stand-ins answer', async () => {
    expect(places.filter(([of]) => !stripe.calls.some(({ place }) => of.test(place)))).toEqual([])
    const [charge] = stripe.ledger.charges
    const ids = gateway.ledger.charges.flatMap(({ id, refunds }) => [id, ...refunds.map((refund) => refund.id)])
    const root = `/merchants/${braintreeKeys.merchantId}/transactions`
    const transactions = await Promise.all(ids.map((id) => library.http.get(`${root}/${id}`)))
    const values: Typed[] = [
      ...stripe.calls.flatMap(ofStripe),
      ...(charge ? eventsOfStripe(charge) : []),
      ...transactions.map(({ transaction }): Typed => ['Transaction', transaction]),
    ]
    // What is wrong is found.
    const [takes, sent] = values.find(([type]) => type.includes('PaymentIntentCreateParams')) ?? ['', {}]
    const wrong: Typed[] = [
      [takes, { ...(sent as object), capture_mode: 'automatic' }],
      [takes, { ...(sent as object), setup_future_usage: 'offline' }],
      ['Part<Stripe.PaymentIntent>', { status: 'paid' }],
      ['Transaction', { status: 'paid' }],
      ['Transaction', { threeDSecureInfo: { liabilityShift: true } }],
    ]
    const found = findings([...values, ...wrong])
    expect(found.slice(0, values.length).filter((finding) => finding !== undefined)).toEqual([])
    expect(found.slice(values.length)).toEqual(wrong.map(() => expect.any(String)))
  })

  it("are those of Braintree's own samples of each notification that is followed", async () => {
    const { webhooks } = atBraintree
    expect(webhooks?.unseenKinds).toContain('refund_failed')
    for (const kind of webhooks?.unseenKinds ?? []) {
      const sample = library.webhookTesting.sampleNotification(kind, 'sample7')
      const body = Buffer.from(new URLSearchParams(sample).toString())
      const read = await webhooks?.read({ body, header: () => undefined }, new Date())
      const about = kind === 'payment_method_revoked_by_customer' ? { endedMethod: 'sample7' } : { chargeId: 'sample7' }
      expect(read).toMatchObject({ kind, ...about })
    }
  })

  it("are searched for as Braintree's library searches", async () => {
    const asked = () =>
      gateway.calls.flatMap(({ place, request }) =>
        place.endsWith('/advanced_search_ids') ? [JSON.parse(request).search] : [],
      )
    const [byReference, settled, disputed] = [
      asked().find((one) => one.order_id),
      asked().find((one) => one.settled_at),
      asked().find((one) => one.dispute_date),
    ]
    const before = asked().length
    library.transaction.search((search) => {
      search.orderId().startsWith(byReference.order_id.starts_with)
      search.type().is('sale')
    })
    library.transaction.search((search) => {
      search.settledAt().between(settled.settled_at.min, settled.settled_at.max)
      search.merchantAccountId().in(['giving_eur', 'giving_jpy', 'giving_kwd', 'giving_usd'])
    })
    library.transaction.search((search) => {
      search.disputeDate().between(disputed.dispute_date.min, disputed.dispute_date.max)
      search.merchantAccountId().in(['giving_eur', 'giving_jpy', 'giving_kwd', 'giving_usd'])
    })
    await expect.poll(() => asked().length).toBe(before + 3)
    expect(asked().slice(before)).toEqual(expect.arrayContaining([byReference, settled, disputed]))
  })
})

/** The value of a form, in which brackets make members and lists. */
function fromForm(text: string): unknown {
  const whole: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const steps = name.split(/[[\]]+/).filter((step) => step !== '')
    const last = steps.pop() ?? ''
    let at = whole
    for (const step of steps) {
      at[step] ??= {}
      at = at[step] as Record<string, unknown>
    }
    at[last] = value
  }
  const lists = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, inner]) => [key, lists(inner)] as const)
    return entries.every(([key]) => /^\d+$/.test(key)) && entries.length > 0
      ? entries.map(([, inner]) => inner)
      : Object.fromEntries(entries)
  }
  return lists(whole)
}
