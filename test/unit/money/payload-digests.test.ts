import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readDonationRequest } from '../../../src/http/api/operations/donation-request.js'
import type { DonationRequest } from '../../../src/money/donation-request.js'
import { earlierDigests, payloadDigest } from '../../../src/money/payload-digests.js'
import { usualLimits } from '../../../src/money/payments.js'
import { donationFields, usd } from '../../support/money/donations.js'

const salt = Buffer.alloc(16, 3)
const fields = {
  ...{ transactionId: 'tx-1', twitter_username: 'lina', addon: { amount: '2.5' }, amount: 40 },
  ...{ noteToOrganization: 'For the wells', partnerCode: 'P1', ipAddress: '192.0.2.7', userAgent: 'Example/1.0' },
}
const payment = {
  ...{ address: '3 Quay Street', address2: 'Flat 2', city: 'Galway', state: 'G', iso3166CountryCode: 'IE' },
  ...{ zip: 'H91', phone: '1', deviceData: 'd', threeDSecureAuthenticationId: 't' },
}
const read = (changes: Record<string, unknown> = {}, paid: Record<string, unknown> = {}) =>
  readDonationRequest(donationFields({ ...fields, ...changes }, { ...payment, ...paid }), {
    ...{
      version: 2,
      currency: usd,
      limits: { USD: usualLimits },
      gateways: ['braintree'],
      mayNote: true,
      mayNamePartner: true,
    },
  })
/** What versions before this one recorded. */
const recordedBefore = (request: object) => createHash('sha256').update(salt).update(JSON.stringify(request)).digest()
const recognises = (request: DonationRequest, digest: Buffer) =>
  earlierDigests(request, salt).some((one) => one.equals(digest))

describe('the digest of a donation request', () => {
  it('is the same for ever', () => {
    expect(payloadDigest(read(), salt).toString('hex')).toBe(
      'e2282b0dd2b290439ca46ac44a660e6c286001230837fb62d3729e076263a7c2',
    )
    const least = donationFields({ transactionId: 'tx-1' })
    const rules = {
      version: 2,
      currency: usd,
      limits: { USD: usualLimits },
      gateways: ['braintree'],
      mayNote: false,
      mayNamePartner: false,
    } as const
    expect(payloadDigest(readDonationRequest(least, rules), salt).toString('hex')).toBe(
      'c043fc5d00e6acde0c41777990f14ece4fdd6c088190718218965aefe58b965c',
    )
  })

  it('does not depend on how the object of a request is built', () => {
    const request = read()
    const reversed = Object.fromEntries(Object.entries({ ...request, more: 1 }).reverse()) as unknown as DonationRequest
    expect(payloadDigest(reversed, salt)).toEqual(payloadDigest(request, salt))
  })

  it('is another one for another value of any field', () => {
    const digests = [
      read(),
      ...Object.keys(fields).map((name) => read({ [name]: name === 'addon' ? { amount: '3' } : '41' })),
      ...['refcode', 'email'].map((name) => read({ [name]: 'a@b.example' })),
      ...['signupForGGNewsletter', 'signupForCharityNewsletter'].map((name) =>
        read({ [name]: name === 'signupForGGNewsletter' }),
      ),
      read({ project: { id: 7 } }),
      ...Object.keys(payment).map((name) => read({}, { [name]: '9' })),
      ...['firstname', 'lastname', 'paymentGatewayKey', 'paymentGatewayNonce'].map((name) => read({}, { [name]: '9' })),
      read({}, { paymentGatewayNonce: '', paymentGatewaySavedPaymentToken: 'fake-valid-nonce' }),
    ].map((request) => payloadDigest(request, salt).toString('hex'))
    expect(new Set(digests).size).toBe(digests.length)
  })

  it('that an earlier version recorded is recognised, of this request only', () => {
    const [all, saved] = [read(), read({}, { paymentGatewayNonce: '', paymentGatewaySavedPaymentToken: 's' })]
    const { addon: _none, ...bare } = all
    for (const request of [all, saved, bare]) {
      expect(recognises(request, recordedBefore(request))).toBe(true)
      expect(recognises(request, recordedBefore({ ...request, amount: '40.01' }))).toBe(false)
      expect(recognises(request, recordedBefore({ ...request, email: 'other@example.org' }))).toBe(false)
    }
  })

  it('that the first version recorded is recognised, which hashed amounts as they were written', () => {
    const request = read()
    for (const amount of ['40', '40.0', '40.00']) {
      for (const addon of ['2.5', '2.50']) {
        expect(recognises(request, recordedBefore({ ...request, amount, addon })), `${amount} ${addon}`).toBe(true)
      }
    }
    expect(recognises(request, recordedBefore({ ...request, amount: '4' }))).toBe(false)
  })
})
