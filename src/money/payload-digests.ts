import { createHash } from 'node:crypto'
import { type Decimal, minorUnitExponent } from '../kernel/money.js'
import type { DonationRequest } from './donation-request.js'

/**
 * The digest that is recorded with a donation, and that a repeated request is compared by: named fields in a written order.
 * A field that a later version adds follows at the end, where it is absent from all older requests. Any other change needs
 * another version, and this one among `earlierDigests`.
 */
export function payloadDigest(request: DonationRequest, salt: Buffer): Buffer {
  const present = comparedFields(request).filter(([, value]) => value !== undefined)
  return digestOf(['donation request', 1, ...present], salt)
}

/** The digests that earlier versions recorded of this request; one of them proves it too. */
export function earlierDigests(request: DonationRequest, salt: Buffer): Buffer[] {
  const { amount, addon, currency } = request
  const places = minorUnitExponent(currency)
  const addons = addon === undefined ? [undefined] : writtenForms(addon, places)
  return writtenForms(amount, places).flatMap((written) =>
    addons.map((tip) => digestOf(requestObject({ ...request, amount: written }, tip), salt)),
  )
}

function digestOf(value: unknown, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(JSON.stringify(value)).digest()
}

function comparedFields(request: DonationRequest): [name: string, value: string | number | boolean | undefined][] {
  const { payer, payment } = request
  const { method } = payment ?? {}
  return [
    ['refcode', request.refcode],
    ['transactionId', request.transactionId],
    ['email', request.email],
    ['twitter_username', request.twitterUsername],
    ['amount', request.amount],
    ['addon.amount', request.addon],
    ['currencyCode', request.currency],
    ['project.id', request.projectId],
    ['signupForGGNewsletter', request.newsletterPlatform],
    ['signupForCharityNewsletter', request.newsletterCharity],
    ['noteToOrganization', request.noteToOrganization],
    ['partnerCode', request.partnerCode],
    ['ipAddress', request.ipAddress],
    ['userAgent', request.userAgent],
    ['firstname', payer.firstname],
    ['lastname', payer.lastname],
    ['address', payer.address],
    ['address2', payer.address2],
    ['city', payer.city],
    ['state', payer.state],
    ['iso3166CountryCode', payer.iso3166CountryCode],
    ['zip', payer.zip],
    ['phone', payer.phone],
    ['paymentGateway', payment?.gateway],
    ['paymentGatewayKey', payment?.gatewayKey],
    ['paymentGatewayNonce', method?.kind === 'nonce' ? method.nonce : undefined],
    ['paymentGatewaySavedPaymentToken', method?.kind === 'saved-token' ? method.token : undefined],
    ['deviceData', payment?.deviceData],
    ['threeDSecureAuthenticationId', payment?.threeDSecureAuthenticationId],
    ['frequency', request.frequency],
    ['language', request.language],
  ]
}

/** The object whose JSON was hashed before requests were compared by named fields; the order of its members counts. */
function requestObject(request: DonationRequest, addon: Decimal | undefined): object {
  const { payer, payment } = request
  const { method } = payment ?? {}
  return {
    refcode: request.refcode,
    transactionId: request.transactionId,
    email: request.email,
    twitterUsername: request.twitterUsername,
    amount: request.amount,
    addon,
    currency: request.currency,
    projectId: request.projectId,
    newsletterPlatform: request.newsletterPlatform,
    newsletterCharity: request.newsletterCharity,
    noteToOrganization: request.noteToOrganization,
    partnerCode: request.partnerCode,
    ipAddress: request.ipAddress,
    userAgent: request.userAgent,
    payer: {
      firstname: payer.firstname,
      lastname: payer.lastname,
      address: payer.address,
      address2: payer.address2,
      city: payer.city,
      state: payer.state,
      iso3166CountryCode: payer.iso3166CountryCode,
      zip: payer.zip,
      phone: payer.phone,
    },
    payment: payment && {
      gateway: payment.gateway,
      gatewayKey: payment.gatewayKey,
      method:
        method?.kind === 'nonce'
          ? { kind: 'nonce', nonce: method.nonce }
          : { kind: method?.kind, token: method?.token },
      deviceData: payment.deviceData,
      threeDSecureAuthenticationId: payment.threeDSecureAuthenticationId,
    },
  }
}

/** An amount as a client may have written it: the first version hashed it so, later ones with all places of the currency. */
function writtenForms(amount: Decimal, places: number): Decimal[] {
  const [whole = '', fraction = ''] = amount.split('.')
  const least = fraction.replace(/0+$/, '')
  const fractions = Array.from({ length: places - least.length + 1 }, (_, more) =>
    least.padEnd(least.length + more, '0'),
  )
  return fractions.map((digits) => (digits === '' ? whole : `${whole}.${digits}`) as Decimal)
}
