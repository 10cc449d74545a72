import { type OpenApiSchema, objectOf, values } from './openapi-schema.js'

/** `1`: card data, only with `is_test=true`; `2`: tokens of the gateway in place of a card (wire.md 6.2). */
export type DonationVersion = 1 | 2

/** A text field; a number counts as its digits, an empty text as absent. */
function textUpToLength(maxLength: number, description?: string): OpenApiSchema {
  return { type: ['string', 'number'], maxLength, ...(description !== undefined && { description }) }
}

function decimalField(description: string): OpenApiSchema {
  return { type: ['number', 'string'], description }
}

function flag(description: string): OpenApiSchema {
  return { type: ['boolean', 'string', 'integer'], default: false, description: `${description} true, false, 1 or 0.` }
}

/** The payer's address; an answer to version 1 repeats it. */
const address = {
  'address?': textUpToLength(255),
  'address2?': textUpToLength(255),
  'city?': textUpToLength(255),
  'state?': textUpToLength(255),
  'iso3166CountryCode?': textUpToLength(255),
  'zip?': textUpToLength(255),
  'phone?': textUpToLength(255),
}

const payer = { firstname: textUpToLength(100), lastname: textUpToLength(100), ...address }

const payment: Readonly<Record<DonationVersion, OpenApiSchema>> = {
  1: objectOf({
    ...payer,
    'creditCardNumber?': textUpToLength(40, "One of the processor's published test numbers; any other is refused."),
    'expiryDateMonth?': textUpToLength(2),
    'expiryDateYear?': textUpToLength(4),
    'securityCode?': { ...textUpToLength(255), description: 'Neither read nor stored.' },
  }),
  2: objectOf({
    ...payer,
    paymentGateway: textUpToLength(255, 'The name of the gateway, as the operation clienttoken gives it.'),
    paymentGatewayKey: textUpToLength(10_000, "The account at the gateway that the client's token was made for."),
    'paymentGatewayNonce?': textUpToLength(
      10_000,
      'What the client of the gateway gave for the card, for one payment. Either this or paymentGatewaySavedPaymentToken.',
    ),
    'paymentGatewaySavedPaymentToken?': textUpToLength(10_000, 'A payment method that is stored at the gateway.'),
    'deviceData?': textUpToLength(10_000, 'What the client of the gateway collected against fraud.'),
    'threeDSecureAuthenticationId?': textUpToLength(255, 'A 3-D Secure authentication that was already made.'),
  }),
}

/** The body of a donation; the readers of `donation-request.ts` take the greatest lengths from here. */
export function donationRequestSchema(version: DonationVersion) {
  return objectOf(
    {
      refcode: textUpToLength(100, "The client's own mark for where the donation comes from."),
      'transactionId?': textUpToLength(
        100,
        "The client's own number of the donation: the same request under the same number is charged once.",
      ),
      email: textUpToLength(50, 'The e-mail address of the donor, who gets the receipt.'),
      'twitter_username?': textUpToLength(255),
      amount: decimalField(
        'Within the limits of the operator, where there are none at least 10; with no more decimals than the currency has.',
      ),
      'currencyCode?': textUpToLength(
        10,
        "The platform's currency, or another one that the operator takes; absent: the platform's.",
      ),
      'addon?': objectOf({ amount: decimalField('A tip to the platform, above 0; addon may be absent.') }),
      project: objectOf({ id: { type: ['integer', 'string'], description: 'The identifier of an active project.' } }),
      ...(version === 2 && {
        'recurring?': flag(
          'A gift of every month, with frequency and transactionId; refused where the gateway cannot keep the way to pay.',
        ),
        'frequency?': textUpToLength(20, 'monthly; only with recurring.'),
      }),
      'signupForGGNewsletter?': flag("The donor wants the platform's newsletter."),
      'signupForCharityNewsletter?': flag("The donor wants the charity's newsletter."),
      'noteToOrganization?': textUpToLength(255, 'Ignored without the grant donation-notes.'),
      'partnerCode?': textUpToLength(40, 'Ignored without the grant partner-codes.'),
      'language?': textUpToLength(
        35,
        "The donor's language, such as fr or fr-CA, for receipts; absent: the first one of Accept-Language.",
      ),
      'ipAddress?': textUpToLength(255, "The donor's address, for the processor's checks against fraud."),
      'userAgent?': textUpToLength(1000, "The donor's browser, for the same."),
      'giftCertificate_detail?': objectOf(
        { 'giftCertificateNumber?': textUpToLength(255) },
        { deprecated: true, description: 'Gift certificates are refused; an empty one is ignored.' },
      ),
      payment_detail: payment[version],
    },
    { xml: { name: 'donation' } },
  )
}

const { text, boolean, integer, amount, instant } = values

/** The answer of a donation; in XML the elements stand in the order of these fields. */
export function donationAnswerSchema(version: DonationVersion) {
  const echoed = objectOf({
    ...Object.fromEntries(Object.keys(payer).map((name) => [name, text])),
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
        ...{
          currencyCode: text,
          receiptNumber: version === 2 ? { ...text, description: 'Empty until the donation has settled.' } : text,
          taxDeductibleContributionAmount: amount,
          totalAmountBilled: amount,
        },
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
