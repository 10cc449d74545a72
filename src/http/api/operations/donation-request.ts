import Negotiator from 'negotiator'
import { holdsCardNumber } from '../../../kernel/card-number.js'
import { invalidFields } from '../../../kernel/errors.js'
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
import {
  isRecord,
  type MemberType,
  objectType,
  optional,
  type ReadPolicy,
  ValuePlace,
} from '../../../kernel/read-object.js'
import { legalText } from '../../../kernel/xml/writer.js'
import type { DonationRequest } from '../../../money/donation-request.js'
import type { PaymentMethod } from '../../../money/gateways/gateway.js'
import type { GiftLimits } from '../../../money/payments.js'
import {
  cardMembers,
  type DonationVersion,
  donorMembers,
  gatewayMembers,
  giftMembers,
  newsletterMembers,
  noteMembers,
  partnerMembers,
  payerMembers,
  planMembers,
  primaryLanguage,
} from '../contract/donation-schemas.js'

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

const most = 1_000_000_000

/** Numbers may come as texts and texts as numbers; unknown members are ignored, and empty texts are absent (wire.md 6.2). */
const ofDonations: ReadPolicy = { isAbsent, tellsOnce: true, got: (value) => ({ missing: isAbsent(value) }) }

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && legalText(value).trim() === '')
}

type Fields = Readonly<Record<string, unknown>>

const types = {
  payer: objectType(payerMembers),
  card: objectType(cardMembers),
  gateway: objectType(gatewayMembers),
  plan: objectType(planMembers),
  newsletters: objectType(newsletterMembers),
  note: objectType(noteMembers),
  partner: objectType(partnerMembers),
  donor: objectType(donorMembers),
}

/**
 * Reads the fields under `donation`. Numbers may come as texts, unknown fields are ignored, empty texts are absent.
 * Throws `request-invalid` naming every field that is missing or wrong, but never the value, which may be a card number or
 * a name.
 */
export function readDonationRequest(fields: unknown, rules: DonationRules): DonationRequest {
  const { version, limits } = rules
  const root = new ValuePlace(ofDonations, [], 'donation')
  const detail = root.at('payment_detail')
  const given = isRecord(fields) ? fields : {}
  const payment = isRecord(given.payment_detail) ? given.payment_detail : {}
  const cardPath = version === 1 ? 'donation.payment_detail.creditCardNumber' : undefined
  refuseCardNumbers(fields, root, cardPath)
  const currency = readCurrency(given.currencyCode, root.at('currencyCode'), rules)
  refuseOthers(given, root, payment, detail, currency, rules.takesPlans ?? false)
  const addon = objectType({ amount: amountOf(currency) })
  const members = { ...giftMembers, amount: amountOf(currency, limits[currency]), addon: optional(addon) }
  const gift = root.read(objectType(members), fields)
  const plan = rules.takesPlans ? readPlan(given, root) : {}
  const newsletters = root.read(types.newsletters, given)
  const note = rules.mayNote ? root.read(types.note, given) : {}
  const partner = rules.mayNamePartner ? root.read(types.partner, given) : {}
  const donor = root.read(types.donor, given)
  const payer = detail.read(types.payer, given.payment_detail)
  const paid = version === 1 ? readTestCard(payment, detail) : readGateway(payment, detail, rules.gateways)
  if (root.problems.length > 0 || !gift || !payer) throw invalidFields(root.problems)
  const { refcode, email, amount, project, transactionId, twitter_username: twitterUsername } = gift
  const [accepted] = new Negotiator({ headers: { 'accept-language': rules.acceptLanguage ?? '' } }).languages()
  const acceptedLanguage = primaryLanguage(accepted)
  return {
    refcode,
    ...(transactionId !== undefined && { transactionId }),
    email,
    ...(twitterUsername !== undefined && { twitterUsername }),
    amount,
    ...(gift.addon && { addon: gift.addon.amount }),
    currency,
    projectId: project.id,
    ...plan,
    newsletterPlatform: newsletters?.signupForGGNewsletter ?? false,
    newsletterCharity: newsletters?.signupForCharityNewsletter ?? false,
    ...{ ...note, ...partner, ...donor },
    ...(acceptedLanguage && { acceptedLanguage }),
    payer,
    ...paid,
  } as DonationRequest
}

/** Refuses what would not be done, and names that are nearly right. Clients without certificates still send the empty field. */
function refuseOthers(
  given: Fields,
  root: ValuePlace,
  payment: Fields,
  detail: ValuePlace,
  currency: CurrencyCode,
  takesPlans: boolean,
): void {
  const refuse = (place: ValuePlace, name: string, expected: string) => place.at(name).refuse(expected, 'a value')
  if (asksForSomething(own(given, 'giftCertificate_detail'))) {
    refuse(root, 'giftCertificate_detail', 'no gift certificate: they are not supported')
  }
  for (const name of asking(given, /^(?:tribute|notif|gift_?card|e_?card)/i)) {
    refuse(root, name, 'nothing: no cards, tributes or notices are sent; the receipt goes to the donor')
  }
  for (const [fields, place] of [[given, root] as const, [payment, detail] as const]) {
    for (const name of asking(fields, /^(?:recur|subscri|instal+ment|frequency)/i)) {
      if (takesPlans && fields === given && (name === 'recurring' || name === 'frequency')) continue
      refuse(place, name, 'nothing: a donation is charged once; recurring ones are not supported')
    }
    for (const name of asking(fields, /./)) {
      const meant = meantBy[foldName(name)]
      if (meant === undefined || (fields === given && name === meant)) continue
      const value = own(fields, name)
      const text = typeof value === 'object' ? '' : String(value).trim()
      const isThere = !isAbsent(own(given, meant))
      // Ignoring others would charge another amount, another currency, once for ever or twice.
      const isDone =
        (meant === 'currencyCode' && text.toUpperCase() === currency) ||
        (meant === 'amount' && text === '1') ||
        (meant === 'transactionId' && isThere) ||
        (meant === 'recurring' && (isThere || /^(?:once|single|none|one[ _-]?time)$/i.test(text)))
      if (!isDone) refuse(place, name, `nothing: the field is ${meant}`)
    }
  }
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The names of this form whose fields ask for something: their values are neither empty nor false. */
function asking(fields: Fields, form: RegExp): string[] {
  return Object.keys(fields).filter((name) => form.test(name) && asksForSomething(fields[name]))
}

function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'object') return Object.values(value).some(asksForSomething)
  return !/^(?:|false|0)$/i.test(String(value).trim())
}

/** Refuses each text or number that may be the number of a card, in unknown fields too. Neither values nor such names are repeated. */
function refuseCardNumbers(value: unknown, place: ValuePlace, cardPath: string | undefined): void {
  const expected = 'no card number: use version 2, donationsclient, with paymentGatewayNonce'
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (holdsCardNumber(name)) place.refuse(expected, 'a value')
      else refuseCardNumbers(member, Array.isArray(value) ? place : place.at(name), cardPath)
    }
  } else if (place.path !== cardPath && holdsCardNumber(String(value ?? ''))) place.refuse(expected, 'a value')
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

/** A gift of every month; without a `transactionId` its first request could not be told from another. */
function readPlan(given: Fields, root: ValuePlace): Pick<DonationRequest, 'frequency'> {
  const { recurring = false, frequency } = root.read(types.plan, given) ?? {}
  if (!recurring && frequency !== undefined) root.at('recurring').refuse('true, where there is a frequency', recurring)
  if (!recurring) return {}
  if (frequency?.toLowerCase() !== 'monthly') root.at('frequency').refuse('monthly', frequency)
  if (isAbsent(own(given, 'transactionId'))) {
    root.at('transactionId').refuse('a text: a regular gift needs one', undefined)
  }
  return { frequency: 'monthly' }
}

/** Version 1 takes tests only: the published test numbers. */
function readTestCard(payment: Fields, detail: ValuePlace): Pick<DonationRequest, 'card'> {
  if (isAbsent(own(payment, 'creditCardNumber'))) return {}
  const { creditCardNumber, expiryDateMonth, expiryDateYear } = detail.read(types.card, payment) ?? {}
  if (!creditCardNumber) return {}
  const month = expiryDateMonth !== undefined && { expiryMonth: expiryDateMonth }
  return {
    card: { ...creditCardNumber, ...month, ...(expiryDateYear !== undefined && { expiryYear: expiryDateYear }) },
  }
}

function readGateway(
  payment: Fields,
  detail: ValuePlace,
  gateways: readonly string[],
): Pick<DonationRequest, 'payment'> {
  for (const name of ['creditCardNumber', 'securityCode', 'expiryDateMonth', 'expiryDateYear']) {
    const value = own(payment, name)
    if (isAbsent(value)) continue
    detail.at(name).refuse('no card data: send paymentGatewayNonce or paymentGatewaySavedPaymentToken', value)
  }
  const read = detail.read(types.gateway, payment)
  const { paymentGatewayNonce: nonce, paymentGatewaySavedPaymentToken: token } = read ?? {}
  const gateway = read?.paymentGateway?.toLowerCase()
  if (gateway !== undefined && !gateways.includes(gateway)) {
    detail.at('paymentGateway').refuse(gateways[0] ?? 'a known gateway', gateway)
  }
  const place = detail.at('paymentGatewayNonce')
  if (nonce !== undefined && token !== undefined) {
    place.refuse('either a nonce or paymentGatewaySavedPaymentToken, not both', nonce)
  }
  const isGiven = [payment.paymentGatewayNonce, payment.paymentGatewaySavedPaymentToken].some((one) => !isAbsent(one))
  if (!isGiven) place.refuse('a text, or one in paymentGatewaySavedPaymentToken', nonce)
  if (!read || gateway === undefined) return {}
  const { paymentGatewayKey: gatewayKey, deviceData, threeDSecureAuthenticationId } = read
  const method: PaymentMethod =
    token === undefined ? { kind: 'nonce', nonce: nonce ?? '' } : { kind: 'saved-token', token }
  return {
    payment: {
      ...{ gateway, gatewayKey, method },
      ...(deviceData !== undefined && { deviceData }),
      ...(threeDSecureAuthenticationId !== undefined && { threeDSecureAuthenticationId }),
    },
  }
}

// A rehearsal takes all there are.
const mostNamed = 50

function readCurrency(given: unknown, place: ValuePlace, { currency: platform, limits }: DonationRules): CurrencyCode {
  const text = isAbsent(given) ? platform : place.read(giftMembers.currencyCode, given)
  const code = parseCurrencyCode(text?.toUpperCase() ?? '')
  if (code !== undefined && limits[code]) return code
  const others = Object.keys(limits).filter((one) => one !== platform)
  const expected = `${platform}, the only currency of this platform`
  const named = others.length > mostNamed ? 'of ISO 4217' : `that is taken: ${[platform, ...others].join(', ')}`
  place.refuse(others.length === 0 ? expected : `a currency ${named}`, given)
  return platform
}

function inWords({ least, most: largest }: GiftLimits): string {
  return largest === undefined ? `of at least ${least}` : `from ${least} to ${largest}`
}

/** An amount within the limits, else above 0, with no more decimals than the currency has. */
function amountOf(currency: CurrencyCode, limits?: GiftLimits): MemberType<Decimal> {
  const places = minorUnitExponent(currency)
  const expected =
    `a decimal number ${limits ? inWords(limits) : 'above 0'}` +
    (places === 0 ? ' without decimals' : ` with at most ${places} decimals`)
  const read: MemberType<Decimal>['read'] = (value, place) => {
    const amount = giftMembers.amount.read(value, place)
    if (amount === undefined) return undefined
    const units = toMinorUnits(amount, places)
    const scale = 10n ** BigInt(places)
    const exactly = toMinorUnits(amount, places + 12)
    const exact = exactly === units * 10n ** 12n && !/\.\d{12,}/.test(amount)
    const limit = (of: Decimal | undefined, none: bigint) => (of === undefined ? none : toMinorUnits(of, places + 12))
    const outside = exactly < limit(limits?.least, 0n) || exactly > limit(limits?.most, exactly)
    const tooLarge = units >= BigInt(most) * scale
    if (exact && signOf(amount) > 0 && !outside && !tooLarge) {
      // In the currency's places, so that a request is the same however its amounts are written.
      return fromMinorUnits(units, places)
    }
    if (tooLarge && limits?.most === undefined) place.refuse(`an amount under ${most}`, value)
    return undefined
  }
  return { expected, read }
}
