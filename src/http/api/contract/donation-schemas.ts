import { type Decimal, parseDecimal } from '../../../kernel/money.js'
import { type MemberType, type MemberTypes, objectType, optional } from '../../../kernel/read-object.js'
import { textLike, valueTypes } from '../../../kernel/values.js'
import { legalText } from '../../../kernel/xml/writer.js'
import { maskTestCard } from '../../../money/gateways/sandbox/test-cards.js'
import { type OpenApiSchema, objectOf, values } from './openapi-schema.js'

/** `1`: card data, only with `is_test=true`; `2`: tokens of the gateway in place of a card (wire.md 6.2). */
export type DonationVersion = 1 | 2

/**
 * A text; a number counts as its digits, and blanks around it are left out. The answer repeats it, also in XML, so that what
 * XML cannot have is left out too.
 */
function textUpTo(most: number, description?: string): MemberType<string> {
  return {
    expected: 'a text that is not empty',
    read: (value, place) => {
      const given = typeof value === 'number' ? String(value) : (value ?? '')
      if (typeof given !== 'string') place.refuse('a text', value)
      const text = legalText(String(given)).trim()
      if ([...text].length > most) place.refuse(`at most ${most} characters`, value)
      return text === '' ? undefined : text
    },
    schema: { type: ['string', 'number'], maxLength: most, ...(description !== undefined && { description }) },
  }
}

/** A text that is read further; undefined is told as another one than expected. */
function further<T>(text: MemberType<string>, expected: string, parse: (text: string) => T | undefined): MemberType<T> {
  const read: MemberType<T>['read'] = (value, place) => {
    const given = text.read(value, place)
    const parsed = given === undefined ? undefined : parse(given)
    if (given !== undefined && parsed === undefined) place.refuse(expected, value)
    return parsed
  }
  return { ...text, read }
}

const plainDecimal = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** An amount, as a number or a text. It is written in one way: without a sign, blanks or zeros before it. */
function decimal(description: string): MemberType<Decimal> {
  return {
    expected: 'a decimal number',
    read: (value) => {
      const text = typeof value === 'object' ? '' : String(value ?? '')
      return text.length <= 40 && plainDecimal.test(text) ? parseDecimal(text) : undefined
    },
    schema: { type: ['number', 'string'], description },
  }
}

/** A boolean, or a text or number that means one; absent: false. */
function flag(description: string) {
  return optional<boolean>({
    expected: valueTypes.flag.expected,
    read: (value) => (typeof value === 'object' ? undefined : valueTypes.flag.parse(String(value).trim())),
    schema: {
      type: ['boolean', 'string', 'integer'],
      default: false,
      description: `${description} true, false, 1 or 0.`,
    },
  })
}

const projectId: MemberType<number> = {
  expected: 'a project identifier, a whole number',
  // No project has such a long number, and a message must not repeat a card's.
  read: (value) => {
    const text = typeof value === 'object' ? '' : String(value ?? '').trim()
    if (!/^\d{1,30}$/.test(text)) return undefined
    return text.length < 14 ? Number(text) : Number.MAX_SAFE_INTEGER
  },
  schema: { type: ['integer', 'string'], description: 'The identifier of an active project.' },
}

/** The primary language of a tag such as fr-CA. */
export function primaryLanguage(tag: string | undefined): string | undefined {
  return /^([a-z]{2,3})(?:-[a-z\d-]{1,32})?$/i.exec(tag ?? '')?.[1]?.toLowerCase()
}

/** Who pays, in the order of the answer's JSON. */
export const payerMembers = {
  firstname: textUpTo(100),
  lastname: textUpTo(100),
  address: optional(textUpTo(255)),
  address2: optional(textUpTo(255)),
  city: optional(textUpTo(255)),
  state: optional(textUpTo(255)),
  iso3166CountryCode: optional(textUpTo(255)),
  zip: optional(textUpTo(255)),
  phone: optional(textUpTo(255)),
}

/** The card of version 1; the published test numbers are read, any other is refused and not repeated. */
export const cardMembers = {
  creditCardNumber: optional(
    further(
      textUpTo(40, "One of the processor's published test numbers; any other is refused."),
      'no card number (a published test number at most): use version 2, donationsclient, with paymentGatewayNonce',
      maskTestCard,
    ),
  ),
  expiryDateMonth: optional(textUpTo(2)),
  expiryDateYear: optional(textUpTo(4)),
}

export const gatewayMembers = {
  paymentGateway: textUpTo(255, 'The name of the gateway, as the operation clienttoken gives it.'),
  paymentGatewayKey: textUpTo(10_000, "The account at the gateway that the client's token was made for."),
  paymentGatewayNonce: optional(
    textUpTo(
      10_000,
      'What the client of the gateway gave for the card, for one payment. Either this or paymentGatewaySavedPaymentToken.',
    ),
  ),
  paymentGatewaySavedPaymentToken: optional(textUpTo(10_000, 'A payment method that is stored at the gateway.')),
  deviceData: optional(textUpTo(10_000, 'What the client of the gateway collected against fraud.')),
  threeDSecureAuthenticationId: optional(textUpTo(255, 'A 3-D Secure authentication that was already made.')),
}

/** The members of a donation that every version reads. */
export const giftMembers = {
  refcode: textUpTo(100, "The client's own mark for where the donation comes from."),
  transactionId: optional(
    textUpTo(100, "The client's own number of the donation: the same request under the same number is charged once."),
  ),
  email: further(
    textUpTo(50, 'The e-mail address of the donor, who gets the receipt.'),
    'an e-mail address',
    textLike(/^[^\s@]+@[^\s@]+$/, '').parse,
  ),
  twitter_username: optional(textUpTo(255)),
  amount: decimal(
    'Within the limits of the operator, where there are none at least 10; with no more decimals than the currency has.',
  ),
  currencyCode: optional(
    textUpTo(10, "The platform's currency, or another one that the operator takes; absent: the platform's."),
  ),
  addon: optional(objectType({ amount: decimal('A tip to the platform, above 0; addon may be absent.') })),
  project: objectType({ id: projectId }),
}

/** Of gifts of every month. */
export const planMembers = {
  recurring: flag(
    'A gift of every month, with frequency and transactionId; refused where the gateway cannot keep the way to pay.',
  ),
  frequency: optional(textUpTo(20, 'monthly; only with recurring.')),
}

export const newsletterMembers = {
  signupForGGNewsletter: flag("The donor wants the platform's newsletter."),
  signupForCharityNewsletter: flag("The donor wants the charity's newsletter."),
}

export const noteMembers = {
  noteToOrganization: optional(textUpTo(255, 'Ignored without the grant donation-notes.')),
}

export const partnerMembers = { partnerCode: optional(textUpTo(40, 'Ignored without the grant partner-codes.')) }

export const donorMembers = {
  language: optional(
    further(
      textUpTo(
        35,
        "The donor's language, such as fr or fr-CA, for receipts; absent: the first one of Accept-Language.",
      ),
      'a language such as fr or fr-CA',
      primaryLanguage,
    ),
  ),
  ipAddress: optional(textUpTo(255, "The donor's address, for the processor's checks against fraud.")),
  userAgent: optional(textUpTo(1000, "The donor's browser, for the same.")),
}

const certificate = objectType({ giftCertificateNumber: optional(textUpTo(255)) })
const refusedCertificate = {
  deprecated: true,
  description: 'Gift certificates are refused; an empty one is ignored.',
}

/** The body of a donation. */
export function donationRequestSchema(version: DonationVersion): OpenApiSchema {
  const members: MemberTypes = {
    ...giftMembers,
    ...(version === 2 && planMembers),
    ...{ ...newsletterMembers, ...noteMembers, ...partnerMembers, ...donorMembers },
    giftCertificate_detail: optional({ ...certificate, schema: { ...certificate.schema, ...refusedCertificate } }),
    payment_detail: objectType({
      ...payerMembers,
      ...(version === 2 && gatewayMembers),
      ...(version === 1 && {
        ...cardMembers,
        securityCode: optional(textUpTo(255, 'Neither read nor stored.')),
      }),
    }),
  }
  return { ...objectType(members).schema, xml: { name: 'donation' } }
}

const { text, boolean, integer, amount, instant } = values

/** The answer of a donation; in XML the elements stand in the order of these fields. */
export function donationAnswerSchema(version: DonationVersion) {
  const echoed = objectOf({
    ...Object.fromEntries(
      Object.entries<MemberType>(payerMembers).map(([name, { optional: may }]) => [may ? `${name}?` : name, text]),
    ),
    ...{ 'creditCardNumber?': { ...text, description: 'Masked.' }, 'creditCardType?': text },
    ...{ 'expiryDateMonth?': text, 'expiryDateYear?': text, 'securityCode?': { ...text, const: 'XXX' } },
  })
  return objectOf(
    {
      ...{ amount, 'addon?': objectOf({ amount }) },
      chargedAmount: { ...amount, description: 'The donation and the tip.' },
      ...{ currencyCode: text, datetime: instant, email: text },
      project: objectOf(
        {
          ...{ funding: amount, 'goal?': amount, id: integer, numberOfDonations: integer },
          ...{ 'progressReportLink?': text, 'projectLink?': text, 'remaining?': amount },
        },
        { description: 'The totals of the project after the donation.' },
      ),
      ...{ refcode: text, signupForCharityNewsletter: boolean, signupForGGNewsletter: boolean, 'transactionId?': text },
      checkedOut: {
        type: 'boolean',
        ...(version === 1 && { const: true }),
        ...(version === 2 && { description: 'false: the donation is not complete, status says why.' }),
      },
      ...(version === 1 && { payment_detail: echoed }),
      receipt: objectOf({
        currencyCode: text,
        receiptNumber: version === 2 ? { ...text, description: 'Empty until the donation has settled.' } : text,
        taxDeductibleContributionAmount: amount,
        totalAmountBilled: amount,
      }),
      ...(version === 2 && {
        'status?': {
          ...{ type: 'string', const: 'pending' },
          description:
            'Only where checkedOut is false: the donor has paid in a way that takes days, such as a direct debit. The same request, sent again, tells the outcome.',
        },
        'recurring?': { type: 'boolean', const: true },
        'frequency?': { type: 'string', const: 'monthly' },
        'cancelLink?': { ...text, description: 'Where the donor ends the regular gift; for the donor alone.' },
      }),
    },
    { xml: { name: 'donation' } },
  )
}
