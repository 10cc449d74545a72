import { createHash, createHmac } from 'node:crypto'
import { braintreeKeys } from '../servers/braintree-server.js'
import { type LedgerCharge, toText } from '../servers/processor-server.js'
import { stripeKeys } from '../servers/stripe-server.js'

/** What happened at the processor; `other` is of no use to this service. */
export type Happening = 'settled' | 'failed' | 'refunded' | 'refund-failed' | 'disputed' | 'won' | 'lost' | 'other'

/** A request as a processor sends it. */
export type Delivery = { readonly headers: Readonly<Record<string, string>>; readonly payload: string }

export type DeliveryOptions = {
  /** When it happened, and, at Stripe, when this delivery was signed. */
  readonly at: Date
  readonly signedAt?: Date
  /** Makes it another event, or the same one again. */
  readonly id?: string
  readonly secret?: string
  readonly live?: boolean
}

const stripeKinds: Readonly<Record<Happening, readonly [kind: string, object: string]>> = {
  settled: ['payment_intent.succeeded', 'payment_intent'],
  failed: ['payment_intent.payment_failed', 'payment_intent'],
  refunded: ['charge.refunded', 'charge'],
  'refund-failed': ['refund.failed', 'refund'],
  disputed: ['charge.dispute.created', 'dispute'],
  won: ['charge.dispute.closed', 'dispute'],
  lost: ['charge.dispute.closed', 'dispute'],
  other: ['customer.created', 'customer'],
}

/** An event of Stripe, signed as its documentation says: HMAC-SHA-256 of time and body. */
export function stripeDelivery(what: Happening, charge: LedgerCharge, options: DeliveryOptions): Delivery {
  const { at, signedAt = at, secret = stripeKeys.webhookSecret, live = false } = options
  const [type, object] = stripeKinds[what]
  const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
  const id = options.id ?? `evt_${what}_${charge.id}`
  const owner = { billing_details: { name: 'Xanthippe Quillfeather', email: 'xanthippe@example.org' } }
  const subject =
    object === 'payment_intent'
      ? { id: charge.id, object, metadata: { reference: charge.reference }, ...owner }
      : { id: `${object}_1`, object, payment_intent: charge.id, metadata: {}, ...owner }
  const payload = JSON.stringify({
    ...{ id, object: 'event', type, created: seconds(at), livemode: live, api_version: '2026-01-28' },
    data: { object: subject },
  })
  return signedByStripe(payload, seconds(signedAt), secret)
}

/** The same event as an account with another version of the API gets it: members are missing, objects, or not known here. */
export function inAnotherVersion(processor: string, { payload }: Delivery, at: Date): Delivery {
  if (processor === 'stripe') {
    const { data, ...event } = JSON.parse(payload)
    const { payment_intent: id, metadata, ...object } = data.object
    const expanded = {
      ...object,
      ...(id ? { payment_intent: { id, object: 'payment_intent' } } : { metadata }),
      later: [null],
    }
    const other = { ...event, api_version: '2015-10-16', request: 'req_1', context: null, data: { object: expanded } }
    return signedByStripe(JSON.stringify(other), Math.floor(at.getTime() / 1000))
  }
  const xml = Buffer.from(new URLSearchParams(payload).get('bt_payload') ?? '', 'base64').toString()
  const later = '<later type="array"><item nil="true"/></later>'
  return signedByBraintree(xml.replace('<transaction>', `<transaction>${later}`).replace('<kind>', `${later}<kind>`))
}

/** A delivery while two secrets are valid, as both processors sign it: with each. */
export function signedWithBoth(ours: Delivery, other: Delivery): Delivery {
  const [at, signature = ''] = ours.headers['stripe-signature']?.split(/,(.*)/) ?? []
  const [, others = ''] = other.headers['stripe-signature']?.split(/,(.*)/) ?? []
  if (at !== undefined)
    return { ...ours, headers: { ...ours.headers, 'stripe-signature': [at, others, signature].join() } }
  const signatureOf = ({ payload }: Delivery) => new URLSearchParams(payload).get('bt_signature') ?? ''
  const form = new URLSearchParams(ours.payload)
  form.set('bt_signature', `${signatureOf(other).replace(/^.*\|/, 'another_public_key|')}&${signatureOf(ours)}`)
  return { ...ours, payload: form.toString() }
}

/** The event of a way to pay that the processor has given up. */
export function endedMethodDelivery(processor: string, method: string, at: Date): Delivery {
  const seconds = Math.floor(at.getTime() / 1000)
  if (processor === 'stripe') {
    const event = { id: `evt_${method}`, object: 'event', type: 'payment_method.detached', created: seconds }
    const object = { id: method, object: 'payment_method' }
    return signedByStripe(JSON.stringify({ ...event, livemode: false, data: { object } }), seconds)
  }
  const time = at.toISOString().replace(/\.\d+/, '')
  const subject = `<subject><paypal-account><token>${method}</token></paypal-account></subject>`
  return signedByBraintree(
    `<notification><timestamp type="datetime">${time}</timestamp><kind>payment_method_revoked_by_customer</kind>${subject}</notification>`,
  )
}

/** Any body as Stripe signs it; the time is in seconds, or whatever else is signed as one. */
export function signedByStripe(payload: string, time: number | string, secret = stripeKeys.webhookSecret): Delivery {
  const signature = createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex')
  const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${time},v1=${signature}` }
  return { headers, payload }
}

/** Braintree tells nobody of refunds in its console: any later event of the charge shows them. */
const braintreeKinds: Readonly<Record<Happening, string>> = {
  settled: 'transaction_settled',
  failed: 'transaction_settlement_declined',
  refunded: 'transaction_settled',
  'refund-failed': 'refund_failed',
  disputed: 'dispute_opened',
  won: 'dispute_won',
  lost: 'dispute_lost',
  other: 'check',
}

/** A notification of Braintree, signed as its libraries do: HMAC-SHA-1 with the digest of the private key. */
export function braintreeDelivery(what: Happening, charge: LedgerCharge, options: DeliveryOptions): Delivery {
  const { at, secret = braintreeKeys.privateKey, id = `${what}_${charge.id}` } = options
  const transaction = `<id>${charge.id}</id><amount>${toText(charge.amount)}</amount><order-id>${charge.reference}</order-id>`
  const owner = '<customer><first-name>Xanthippe</first-name><last-name>Quillfeather</last-name></customer>'
  const subject = {
    transaction: `<transaction>${transaction}${owner}</transaction>`,
    // As the library's own sample has it, without the id of the charge.
    refund: `<transaction><id>${charge.refunds.at(-1)?.id}</id><refunded-transaction-fk>1</refunded-transaction-fk></transaction>`,
    dispute: `<dispute><id>${id}</id><kind>chargeback</kind><transaction>${transaction}</transaction></dispute>`,
    check: '<check type="boolean">true</check>',
  }
  const kind = braintreeKinds[what]
  const named = { other: 'check', 'refund-failed': 'refund' } as const
  const usual = kind.startsWith('dispute') ? 'dispute' : 'transaction'
  const inside = subject[what === 'other' || what === 'refund-failed' ? named[what] : usual]
  const time = at.toISOString().replace(/\.\d+/, '')
  const xml = `<notification><timestamp type="datetime">${time}</timestamp><kind>${kind}</kind><subject>${inside}</subject></notification>`
  return signedByBraintree(xml, secret)
}

/** Any document as Braintree signs it. */
export function signedByBraintree(xml: string, secret: string = braintreeKeys.privateKey): Delivery {
  const text = `${Buffer.from(xml).toString('base64')}\n`
  const key = createHash('sha1').update(secret, 'latin1').digest()
  const signature = `${braintreeKeys.publicKey}|${createHmac('sha1', key).update(text).digest('hex')}`
  const payload = new URLSearchParams({ bt_signature: signature, bt_payload: text }).toString()
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload }
}
