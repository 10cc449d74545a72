import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DonationRules, readDonationRequest } from '../../../../src/http/api/operations/donation-request.js'
import { ServiceError } from '../../../../src/kernel/errors.js'
import type { CurrencyCode, Decimal } from '../../../../src/kernel/money.js'
import { usualLimits } from '../../../../src/money/payments.js'
import { donationFields, usd } from '../../../support/money/donations.js'

const rules: DonationRules = {
  version: 2,
  currency: usd,
  limits: { USD: usualLimits },
  gateways: ['braintree', 'sandbox'],
  mayNote: true,
  mayNamePartner: true,
}
const read = (fields: unknown, changes: Partial<DonationRules> = {}) =>
  readDonationRequest(fields, { ...rules, ...changes })
const problemsOf = (fields: unknown, changes: Partial<DonationRules> = {}): string[] => {
  try {
    read(fields, changes)
    return []
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.problems.map(({ field }) => field)
  }
}

describe('an amount', () => {
  const expectedOf = (amount: unknown, changes: Partial<DonationRules>) => {
    try {
      read(donationFields({ amount, addon: { amount: '0.5' } }), changes)
      return undefined
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return error.problems.map(({ field, expected }) => `${field}: ${expected}`).join()
    }
  }
  const limits = (least: string, most?: string, currency = 'USD') => ({
    limits: { [currency]: { least: least as Decimal, most: most as Decimal } },
  })

  it.each([
    [{}, ['10', '10.00', 999_999_999], ['9.99', 0, -10], 'of at least 10 with at most 2 decimals'],
    [limits('4.50'), ['4.5', 10], ['4.49', 0], 'of at least 4.50 with at most 2 decimals'],
    [limits('5', '500.50'), [5, '500.50'], ['4.99', '500.51', 1e9], 'from 5 to 500.50 with at most 2 decimals'],
  ])('is within the limits %j', (changes, inside, outside, words) => {
    for (const amount of inside) expect(expectedOf(amount, changes), `${amount}`).toBeUndefined()
    for (const amount of outside) expect(expectedOf(amount, changes)).toBe(`donation.amount: a decimal number ${words}`)
  })

  it('is under a billion where there is no largest', () => {
    expect(expectedOf(1e9, {})).toBe('donation.amount: an amount under 1000000000')
  })

  it('has limits in a currency without decimals', () => {
    const yen = { currency: 'JPY' as CurrencyCode, ...limits('500', '50000', 'JPY') }
    const fields = (amount: number) => donationFields({ amount, currencyCode: 'JPY' })
    expect(problemsOf(fields(500), yen)).toEqual([])
    expect(problemsOf(fields(499), yen)).toEqual(['donation.amount'])
    expect(problemsOf(fields(50_001), yen)).toEqual(['donation.amount'])
  })
})

describe('the currency of a donation', () => {
  const euros = { limits: { USD: usualLimits, EUR: { least: '4.50' as Decimal }, JPY: { least: '500' as Decimal } } }
  const currencyOf = (changes: Record<string, unknown>) => read(donationFields(changes), euros).currency

  it("is one that is taken, the platform's where it is not named", () => {
    expect(currencyOf({ currencyCode: undefined })).toBe('USD')
    expect(currencyOf({ currencyCode: 'eur', amount: '4.50' })).toBe('EUR')
    expect(problemsOf(donationFields({ currencyCode: 'EUR', amount: '4.49' }), euros)).toEqual(['donation.amount'])
    expect(problemsOf(donationFields({ currencyCode: 'JPY', amount: '500.5' }), euros)).toEqual(['donation.amount'])
    for (const currencyCode of ['GBP', 'toString', 'EU', '€']) {
      expect(problemsOf(donationFields({ currencyCode }), euros), currencyCode).toEqual(['donation.currencyCode'])
      expect(problemsOf(donationFields({ currencyCode }))).toEqual(['donation.currencyCode'])
    }
  })

  it('is named with the others in the error', () => {
    const refused = (changes: Partial<DonationRules>) => {
      try {
        return read(donationFields({ currencyCode: 'GBP' }), changes).currency
      } catch (error) {
        return (error as ServiceError).problems[0]?.expected
      }
    }
    expect(refused({})).toBe('USD, the only currency of this platform')
    expect(refused(euros)).toBe('a currency that is taken: USD, EUR, JPY')
  })
})

describe('a field that asks for mail to somebody', () => {
  it.each(['tribute', 'tribute_detail', 'notify', 'notificationEmail', 'giftCard_detail', 'eCard'])(
    '%s is refused',
    (name) => {
      expect(problemsOf(donationFields({ [name]: { email: 'kim@example.org' } }))).toEqual([`donation.${name}`])
      expect(problemsOf(donationFields({ [name]: true }))).toEqual([`donation.${name}`])
    },
  )

  it.each([false, 'false', '', null])('asks for nothing as %j', (value) => {
    expect(problemsOf(donationFields({ notify: value, tribute: value }))).toEqual([])
  })
})

describe('what is not done is refused', () => {
  it.each([
    { giftCertificate_detail: { x: 1 } },
    { giftCertificate_detail: 'GC-1' },
    { giftCertificate_detail: { detail: { number: 'GC-1' } } },
    { recurring: true },
    { recurring: 'true' },
    { recurring_detail: { frequency: 'monthly' } },
    { Recurrence: 'monthly' },
    { frequency: 'monthly' },
    { subscription: 1 },
    { installments: 3 },
  ])('%j', (changes) => {
    expect(problemsOf(donationFields(changes))).toEqual([`donation.${Object.keys(changes)[0]}`])
  })

  it('in payment_detail too', () => {
    expect(problemsOf(donationFields({}, { recurring: true }))).toEqual(['donation.payment_detail.recurring'])
  })

  it.each([
    { giftCertificate_detail: '' },
    { giftCertificate_detail: null },
    { giftCertificate_detail: {} },
    { giftCertificate_detail: { giftCertificateNumber: '', currencyCode: null } },
    { recurring: false, frequency: '' },
    { recurring: 'False', recurring_detail: {}, installments: 0 },
  ])('and is not asked for by %j', (changes) => {
    expect(problemsOf(donationFields(changes))).toEqual([])
  })
})

describe('a card number', () => {
  const number = '4111111111111111'

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['donation.noteToOrganization', { noteToOrganization: number }, {}],
    ['donation.noteToOrganization', { noteToOrganization: 'my 4111x1111x1111x1111' }, {}],
    ['donation.partnerCode', { partnerCode: Number(number) }, {}],
    ['donation.unknown', { unknown: number }, {}],
    ['donation.unknown.deep', { unknown: { deep: ['a', number] } }, {}],
    ['donation.amount', { amount: number }, {}],
    ['donation.project.id', { project: { id: number } }, {}],
    ['donation.payment_detail.card', {}, { card: number }],
    ['donation.payment_detail', {}, { [`card ${number}`]: 1 }],
    ['donation.payment_detail.creditCardNumber', {}, { creditCardNumber: number }],
  ])('in %s is refused, with and without grants', (field, changes, payment) => {
    expect(problemsOf(donationFields(changes, payment))).toEqual([field])
    expect(problemsOf(donationFields(changes, payment), { mayNote: false, mayNamePartner: false })).toEqual([field])
  })

  it('is not what clients send as references, tokens and phone numbers', () => {
    const fields = donationFields(
      { transactionId: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', refcode: 'newsletter-2026-11', ipAddress: '192.0.2.71' },
      { phone: '+232 76 123 456', zip: '10115', paymentGatewayNonce: 'tokencc_bh_d8f9k2_7h3k9s_4m1n0p_q2w3e4_xyz' },
    )
    expect(problemsOf(fields)).toEqual([])
  })
})

describe('a donation request is read leniently', () => {
  it('with numbers as texts, texts as numbers, booleans in any letter case', () => {
    const fields = donationFields(
      {
        amount: '40.0',
        project: { id: '2045' },
        signupForGGNewsletter: 'True',
        signupForCharityNewsletter: 1,
        transactionId: 72,
        addon: { amount: '2' },
      },
      { zip: 1234 },
    )
    expect(read(fields)).toMatchObject({
      amount: '40.00',
      addon: '2.00',
      projectId: 2045,
      newsletterPlatform: true,
      newsletterCharity: true,
      transactionId: '72',
      payer: { zip: '1234' },
    })
  })

  it('with unknown members ignored, and empty texts, blanks and null absent', () => {
    const fields = donationFields(
      {
        transactionId: '',
        twitter_username: '  ',
        addon: '',
        currencyCode: null,
        is03166CountryCode: 'x',
        giftCertificate_detail: '',
      },
      { address: '', is03166CountryCode: 'US', paymentGatewaySavedPaymentToken: '' },
    )
    const request = read(fields)
    expect(request).not.toHaveProperty('transactionId')
    expect(request).not.toHaveProperty('addon')
    expect(Object.keys(request.payer)).toEqual(['firstname', 'lastname'])
  })

  it('with a saved token in place of the nonce', () => {
    const fields = donationFields(
      {},
      { paymentGatewayNonce: undefined, paymentGatewaySavedPaymentToken: 'fake-valid-nonce' },
    )
    expect(read(fields).payment?.method).toEqual({ kind: 'saved-token', token: 'fake-valid-nonce' })
  })

  it('without what needs an agreement', () => {
    const fields = donationFields({ noteToOrganization: 'x'.repeat(300), partnerCode: 'y'.repeat(50) })
    expect(problemsOf(fields, { mayNote: false, mayNamePartner: false })).toEqual([])
    expect(problemsOf(fields)).toEqual(['donation.noteToOrganization', 'donation.partnerCode'])
  })
})

describe('a name that is nearly right', () => {
  it.each([
    [{ currencyCode: undefined, currency: 'EUR' }, {}, 'donation.currency', 'currencyCode'],
    [{ currency_code: 'eur' }, {}, 'donation.currency_code', 'currencyCode'],
    [{ CurrencyCode: 'CHF' }, {}, 'donation.CurrencyCode', 'currencyCode'],
    [{}, { currencyCode: 'EUR' }, 'donation.payment_detail.currencyCode', 'currencyCode'],
    [{ tip: 4 }, {}, 'donation.tip', 'addon'],
    [{ addon_amount: '4.00' }, {}, 'donation.addon_amount', 'addon'],
    [{ coverFees: true }, {}, 'donation.coverFees', 'addon'],
    [{ transactionId: undefined, transaction_id: 'a' }, {}, 'donation.transaction_id', 'transactionId'],
    [{ transactionId: undefined, idempotencyKey: 'a' }, {}, 'donation.idempotencyKey', 'transactionId'],
    [{ is_recurring: 1 }, {}, 'donation.is_recurring', 'recurring'],
    [{ interval: 'month' }, {}, 'donation.interval', 'recurring'],
    [{}, { monthly: true }, 'donation.payment_detail.monthly', 'recurring'],
    [{ quantity: 2 }, {}, 'donation.quantity', 'amount'],
  ])(
    'is refused with the right one where ignoring it would change the money: %j %j',
    (changes, payment, field, right) => {
      for (const takesPlans of [true, false]) {
        let failure: unknown
        try {
          read(donationFields(changes, payment), { takesPlans })
        } catch (error) {
          failure = error
        }
        expect(Object(failure).problems).toMatchObject([{ field, expected: `nothing: the field is ${right}` }])
      }
    },
  )

  it.each([
    { currency: 'usd' },
    { transaction_id: 'another' },
    { interval: 'one-time' },
    { monthly: false },
    { quantity: '1' },
    { tip: 0 },
    { emial: 'x', Amount_: 3, note: 'x' },
  ])('is ignored where it says what is done anyway, or nothing: %j', (changes) => {
    expect(problemsOf(donationFields(changes))).toEqual([])
  })
})

describe('a donation request is refused', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['no refcode', { refcode: undefined }, {}, 'refcode'],
    ['a refcode of 101 characters', { refcode: 'x'.repeat(101) }, {}, 'refcode'],
    ['a transactionId of 101 characters', { transactionId: 'x'.repeat(101) }, {}, 'transactionId'],
    ['no e-mail', { email: '' }, {}, 'email'],
    ['an e-mail of 51 characters', { email: `${'x'.repeat(40)}@example.org` }, {}, 'email'],
    ['an e-mail without @', { email: 'lina.example.org' }, {}, 'email'],
    ['an amount under 10', { amount: 9.99 }, {}, 'amount'],
    ['no amount', { amount: undefined }, {}, 'amount'],
    ['an amount with three decimals', { amount: '40.001' }, {}, 'amount'],
    ['an amount with an exponent', { amount: '4e1' }, {}, 'amount'],
    ['a hexadecimal amount', { amount: '0x28' }, {}, 'amount'],
    ['an amount with a sign', { amount: '+40' }, {}, 'amount'],
    ['an amount with blanks', { amount: ' 40 ' }, {}, 'amount'],
    ['an amount with zeros before it', { amount: '00040' }, {}, 'amount'],
    ['a negative amount', { amount: -40 }, {}, 'amount'],
    ['an amount too large', { amount: '1000000000' }, {}, 'amount'],
    ['an amount that is no number', { amount: true }, {}, 'amount'],
    ['another currency', { currencyCode: 'EUR' }, {}, 'currencyCode'],
    ['an addon of nothing', { addon: { amount: 0 } }, {}, 'addon.amount'],
    ['an addon without amount', { addon: {} }, {}, 'addon.amount'],
    ['no project id', { project: {} }, {}, 'project.id'],
    ['a project id that is no number', { project: { id: 'abc' } }, {}, 'project.id'],
    ['a newsletter flag that is neither', { signupForGGNewsletter: 'yes' }, {}, 'signupForGGNewsletter'],
    ['a field twice', { refcode: ['a', 'b'] }, {}, 'refcode'],
    ['a gift certificate', { giftCertificate_detail: { giftCertificateNumber: '1' } }, {}, 'giftCertificate_detail'],
    ['no first name', {}, { firstname: ' ' }, 'payment_detail.firstname'],
    ['no last name', {}, { lastname: undefined }, 'payment_detail.lastname'],
    ['no gateway', {}, { paymentGateway: undefined }, 'payment_detail.paymentGateway'],
    ['another gateway', {}, { paymentGateway: 'stripe' }, 'payment_detail.paymentGateway'],
    ['no gateway key', {}, { paymentGatewayKey: '' }, 'payment_detail.paymentGatewayKey'],
    ['neither nonce nor token', {}, { paymentGatewayNonce: '' }, 'payment_detail.paymentGatewayNonce'],
    ['nonce and token', {}, { paymentGatewaySavedPaymentToken: 'x' }, 'payment_detail.paymentGatewayNonce'],
    ['a card number', {}, { creditCardNumber: '5178059876540431' }, 'payment_detail.creditCardNumber'],
    ['a security code', {}, { securityCode: 123 }, 'payment_detail.securityCode'],
  ])('for %s', (_case, changes, payment, field) => {
    expect(problemsOf(donationFields(changes, payment))).toEqual([`donation.${field}`])
  })

  it.each([
    [{ project: undefined }, ['donation.project', 'donation.project.id']],
    [{ project: 2045 }, ['donation.project', 'donation.project.id']],
    [{ addon: 5 }, ['donation.addon', 'donation.addon.amount']],
  ])('for %j, and for what it lacks', (changes, fields) => {
    expect(problemsOf(donationFields(changes))).toEqual(fields)
  })

  it('for no payment_detail, an empty body, and what is no object, naming every field', () => {
    const { payment_detail: _, ...rest } = donationFields()
    const members = ['firstname', 'lastname', 'paymentGateway', 'paymentGatewayKey', 'paymentGatewayNonce']
    const detail = ['payment_detail', ...members.map((name) => `payment_detail.${name}`)].map(
      (name) => `donation.${name}`,
    )
    expect(problemsOf(rest)).toEqual(detail)
    expect(problemsOf({ ...rest, payment_detail: 'text' })).toEqual(detail)
    expect(problemsOf({}).toSorted()).toEqual(
      [
        ...detail,
        ...['refcode', 'email', 'amount', 'project', 'project.id'].map((name) => `donation.${name}`),
      ].toSorted(),
    )
    expect(problemsOf('text')).toContain('donation')
  })

  it('without repeating what came', () => {
    const secret = '5178059876540431'
    const fields = donationFields({ email: secret, refcode: [secret], amount: secret }, { creditCardNumber: secret })
    let failure: unknown
    try {
      read(fields)
    } catch (error) {
      failure = error
    }
    expect(JSON.stringify([failure, String(failure), Object(failure).problems])).not.toContain(secret)
  })
})

describe('version 1', () => {
  const card = {
    creditCardNumber: '5555 5555 5555 4444',
    securityCode: '123',
    expiryDateMonth: '02',
    expiryDateYear: '2030',
  }

  it('takes a published test number, which it knows only masked', () => {
    expect(read(donationFields({}, card), { version: 1 }).card).toEqual({
      maskedNumber: '5555-XXXX-XXXX-4444',
      type: 'mastercard',
      expiryMonth: '02',
      expiryYear: '2030',
    })
  })

  it('takes no other number', () => {
    const fields = donationFields({}, { ...card, creditCardNumber: '5178059876540431' })
    expect(problemsOf(fields, { version: 1 })).toEqual(['donation.payment_detail.creditCardNumber'])
  })

  it('needs no card at all', () => {
    expect(read(donationFields(), { version: 1 })).not.toHaveProperty('card')
  })
})

describe('whatever comes', () => {
  it('is read or refused, never a defect', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom(...Object.keys(donationFields()), 'id', 'firstname') }),
        (fields) => {
          expect(problemsOf(fields)).toEqual(expect.any(Array))
        },
      ),
    )
  })
})
