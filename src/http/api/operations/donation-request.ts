import Negotiator from 'negotiator'
import { type FieldProblem, invalidFields } from '../../../kernel/errors.js'
import { lookupTable } from '../../../kernel/lookup-table.js'
import {
  type CurrencyCode,
  type Decimal,
  fromMinorUnits,
  minorUnitExponent,
  parseCurrencyCode,
  signOf,
  toMinorUnits,
} from '../../../kernel/money.js'
import type { DonationRequest } from '../../../money/donation-request.js'
import type { PaymentMethod } from '../../../money/gateways/gateway.js'
import { type MaskedCard, maskTestCard } from '../../../money/gateways/sandbox/test-cards.js'
import type { GiftLimits } from '../../../money/payments.js'
import { type DonationVersion, donationRequestSchema } from '../contract/donation-schemas.js'
import { FieldReader } from './field-reader.js'

/** What decides how a request is read. */
export type DonationRules = {
  readonly version: DonationVersion
  readonly currency: CurrencyCode
  /** By currency that is taken. */
  readonly limits: Readonly<Record<string, GiftLimits>>
  /** Accepted values of `paymentGateway`, in lower case. */
  readonly gateways: readonly string[]
  /** Whether gifts of every month can be charged. */
  readonly takesPlans?: boolean
  /** The header of that name. */
  readonly acceptLanguage?: string | undefined
  /** Whether the caller has the grant for this field; otherwise it is ignored. */
  readonly mayNote: boolean
  readonly mayNamePartner: boolean
}

/** Fields of `payment_detail` that say who pays, in the order of the answer's JSON. */
const payerFields = [
  'firstname',
  'lastname',
  'address',
  'address2',
  'city',
  'state',
  'iso3166CountryCode',
  'zip',
  'phone',
] as const

const most = 1_000_000_000

const requestSchemas = { 1: donationRequestSchema(1), 2: donationRequestSchema(2) } as const

/**
 * Reads the fields under `donation`. Numbers may come as texts, unknown fields are ignored, empty texts are absent.
 * Throws `request-invalid` naming every field that is missing or wrong, but never the value, which may be a card number or
 * a name.
 */
export function readDonationRequest(fields: unknown, rules: DonationRules): DonationRequest {
  const problems: FieldProblem[] = []
  const cardPath = rules.version === 1 ? 'donation.payment_detail.creditCardNumber' : undefined
  const root = FieldReader.of(fields, 'donation', requestSchemas[rules.version], problems, cardPath)
  const currency = readCurrency(root, rules)
  const payerDetail = root.child('payment_detail') ?? root.missing('payment_detail')
  // Clients without certificates still send the empty field.
  if (root.asks('giftCertificate_detail')) {
    root.refuse('giftCertificate_detail', 'no gift certificate: they are not supported')
  }
  for (const name of root.namesLike(/^(?:tribute|notif|gift_?card|e_?card)/i)) {
    root.refuse(name, 'nothing: no cards, tributes or notices are sent; the receipt goes to the donor')
  }
  for (const reader of [root, payerDetail]) {
    for (const name of reader.namesLike(/^(?:recur|subscri|instal+ment|frequency)/i)) {
      if (rules.takesPlans && reader === root && (name === 'recurring' || name === 'frequency')) continue
      reader.refuse(name, 'nothing: a donation is charged once; recurring ones are not supported')
    }
  }
  refuseWrongNames(root, payerDetail, currency)
  const addon = root.child('addon')
  const request: DonationRequest = {
    refcode: root.required('refcode'),
    ...root.optional('transactionId', 'transactionId'),
    email: readEmail(root),
    ...root.optional('twitterUsername', 'twitter_username'),
    amount: readAmount(root, 'amount', currency, rules.limits[currency]),
    ...(addon && { addon: readAmount(addon, 'amount', currency) }),
    currency,
    projectId: (root.child('project') ?? root.missing('project')).id('id'),
    ...(rules.takesPlans && readPlan(root)),
    newsletterPlatform: root.boolean('signupForGGNewsletter'),
    newsletterCharity: root.boolean('signupForCharityNewsletter'),
    ...(rules.mayNote && root.optional('noteToOrganization', 'noteToOrganization')),
    ...(rules.mayNamePartner && root.optional('partnerCode', 'partnerCode')),
    ...readLanguage(root, rules.acceptLanguage),
    ...root.optional('ipAddress', 'ipAddress'),
    ...root.optional('userAgent', 'userAgent'),
    ...readPaymentDetail(payerDetail, rules),
  }
  if (problems.length > 0) throw invalidFields(problems)
  return request
}

/** The field that is meant by a name of other platforms' APIs, written as `foldName` does (wire.md 6.2). */
const meantBy = lookupTable<string>({
  ...{ currency: 'currencyCode', currencycode: 'currencyCode', currencyiso: 'currencyCode' },
  ...{ tip: 'addon', tipamount: 'addon', addonamount: 'addon', coverfees: 'addon', coverfee: 'addon' },
  ...{ transactionid: 'transactionId', idempotencykey: 'transactionId' },
  ...{ isrecurring: 'recurring', monthly: 'recurring', interval: 'recurring', donationfrequency: 'recurring' },
  quantity: 'amount',
})

const foldName = (name: string) => name.replace(/[^a-z\d]/gi, '').toLowerCase()

/**
 * Refuses names that are nearly right, where ignoring them would charge another amount, another currency, once for ever or twice;
 * one that says what is done anyway is ignored as all unknown names are.
 */
function refuseWrongNames(root: FieldReader, payer: FieldReader, currency: CurrencyCode): void {
  for (const reader of [root, payer]) {
    for (const name of reader.namesLike(/./)) {
      const meant = meantBy[foldName(name)]
      if (meant === undefined || (reader === root && name === meant)) continue
      const said = reader.said(name)
      const isDone =
        (meant === 'currencyCode' && said.toUpperCase() === currency) ||
        (meant === 'amount' && said === '1') ||
        (meant === 'transactionId' && root.has(meant)) ||
        (meant === 'recurring' && (root.has(meant) || /^(?:once|single|none|one[ _-]?time)$/i.test(said)))
      if (!isDone) reader.refuse(name, `nothing: the field is ${meant}`)
    }
  }
}

/** A gift of every month; without a `transactionId` its first request could not be told from another. */
function readPlan(root: FieldReader): { readonly frequency?: 'monthly' } {
  const recurring = root.boolean('recurring')
  const frequency = root.text('frequency')
  if (!recurring && frequency !== undefined) root.refuse('recurring', 'true, where there is a frequency')
  if (!recurring) return {}
  if (frequency?.toLowerCase() !== 'monthly') root.refuse('frequency', 'monthly')
  if (!root.has('transactionId')) root.refuse('transactionId', 'a text: a regular gift needs one')
  return { frequency: 'monthly' }
}

/** The language of the donor's mail: the field, else the first one of the header. */
function readLanguage(
  root: FieldReader,
  header: string | undefined,
): Pick<DonationRequest, 'language' | 'acceptedLanguage'> {
  const text = root.text('language')
  const language = primaryLanguage(text)
  if (text !== undefined && language === undefined) root.refuse('language', 'a language such as fr or fr-CA')
  const [first] = new Negotiator({ headers: { 'accept-language': header ?? '' } }).languages()
  const accepted = primaryLanguage(first)
  return { ...(language && { language }), ...(accepted && { acceptedLanguage: accepted }) }
}

function primaryLanguage(tag: string | undefined): string | undefined {
  return /^([a-z]{2,3})(?:-[a-z\d-]{1,32})?$/i.exec(tag ?? '')?.[1]?.toLowerCase()
}

function readPaymentDetail(
  detail: FieldReader,
  rules: DonationRules,
): Pick<DonationRequest, 'payer' | 'payment' | 'card'> {
  const payer: Record<string, string> = {
    firstname: detail.required('firstname'),
    lastname: detail.required('lastname'),
  }
  for (const name of payerFields.slice(2)) {
    const value = detail.text(name)
    if (value !== undefined) payer[name] = value
  }
  if (rules.version === 1) {
    const card = readTestCard(detail)
    return { payer, ...(card && { card }) }
  }
  for (const name of ['creditCardNumber', 'securityCode', 'expiryDateMonth', 'expiryDateYear']) {
    if (detail.has(name))
      detail.refuse(name, 'no card data: send paymentGatewayNonce or paymentGatewaySavedPaymentToken')
  }
  return { payer, payment: readGatewayFields(detail, rules.gateways) }
}

/**
 * The card fields of version 1, which takes tests only: it accepts the published test numbers, and refuses every other
 * number without repeating it.
 */
function readTestCard(detail: FieldReader): MaskedCard | undefined {
  if (!detail.has('creditCardNumber')) return undefined
  const card = maskTestCard(detail.text('creditCardNumber') ?? '')
  if (!card) {
    detail.refuse(
      'creditCardNumber',
      'no card number (a published test number at most): use version 2, donationsclient, with paymentGatewayNonce',
    )
    return undefined
  }
  return {
    ...card,
    ...detail.optional('expiryMonth', 'expiryDateMonth'),
    ...detail.optional('expiryYear', 'expiryDateYear'),
  }
}

function readGatewayFields(detail: FieldReader, gateways: readonly string[]): NonNullable<DonationRequest['payment']> {
  const gateway = detail.required('paymentGateway').toLowerCase()
  if (gateway !== '' && !gateways.includes(gateway)) detail.refuse('paymentGateway', gateways[0] ?? 'a known gateway')
  const gatewayKey = detail.required('paymentGatewayKey')
  const nonce = detail.text('paymentGatewayNonce')
  const token = detail.text('paymentGatewaySavedPaymentToken')
  if (nonce !== undefined && token !== undefined) {
    detail.refuse('paymentGatewayNonce', 'either a nonce or paymentGatewaySavedPaymentToken, not both')
  }
  const unread = detail.refused('paymentGatewayNonce') || detail.refused('paymentGatewaySavedPaymentToken')
  if (nonce === undefined && token === undefined && !unread) {
    detail.refuse('paymentGatewayNonce', 'a text, or one in paymentGatewaySavedPaymentToken')
  }
  const method: PaymentMethod =
    token === undefined ? { kind: 'nonce', nonce: nonce ?? '' } : { kind: 'saved-token', token }
  return {
    ...{ gateway, gatewayKey, method },
    ...detail.optional('deviceData', 'deviceData'),
    ...detail.optional('threeDSecureAuthenticationId', 'threeDSecureAuthenticationId'),
  }
}

function readCurrency(root: FieldReader, { currency: platform, limits }: DonationRules): CurrencyCode {
  const text = root.text('currencyCode')
  const code = parseCurrencyCode(text?.toUpperCase() ?? platform)
  if (code !== undefined && limits[code]) return code
  const others = Object.keys(limits).filter((one) => one !== platform)
  const expected = `${platform}, the only currency of this platform`
  root.refuse(
    'currencyCode',
    others.length === 0 ? expected : `a currency that is taken: ${[platform, ...others].join(', ')}`,
  )
  return platform
}

function readEmail(root: FieldReader): string {
  const email = root.required('email')
  if (email !== '' && !/^[^\s@]+@[^\s@]+$/.test(email)) root.refuse('email', 'an e-mail address')
  return email
}

function inWords({ least, most: largest }: GiftLimits): string {
  return largest === undefined ? `of at least ${least}` : `from ${least} to ${largest}`
}

/** An amount within the limits, else above 0, with no more decimals than the currency has; 0 when it is refused. */
function readAmount(reader: FieldReader, name: string, currency: CurrencyCode, limits?: GiftLimits): Decimal {
  const zero = '0' as Decimal
  const places = minorUnitExponent(currency)
  const expected =
    `a decimal number ${limits ? inWords(limits) : 'above 0'}` +
    (places === 0 ? ' without decimals' : ` with at most ${places} decimals`)
  const amount = reader.decimal(name, expected)
  if (amount === undefined) return zero
  const units = toMinorUnits(amount, places)
  const scale = 10n ** BigInt(places)
  const exact = toMinorUnits(amount, places + 12) === units * 10n ** 12n && !/\.\d{12,}/.test(amount)
  const limit = (of: Decimal | undefined, none: bigint) => (of === undefined ? none : toMinorUnits(of, places + 12))
  const exactly = toMinorUnits(amount, places + 12)
  const outside = exactly < limit(limits?.least, 0n) || exactly > limit(limits?.most, exactly)
  if (!exact || signOf(amount) <= 0 || outside || units >= BigInt(most) * scale) {
    const tooLarge = units >= BigInt(most) * scale && limits?.most === undefined
    reader.refuse(name, tooLarge ? `an amount under ${most}` : expected)
    return zero
  }
  // In the currency's places, so that a request is the same however its amounts are written.
  return fromMinorUnits(units, places)
}
