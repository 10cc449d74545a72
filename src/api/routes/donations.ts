import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../domain/errors.js'
import { clientToken } from '../../payments/client-token.js'
import type { Payments } from '../../payments/payments.js'
import { rehearseDonation, submitDonation } from '../../payments/submit-donation.js'
import { object, string, wireDocument } from '../../wire/write/wire-value.js'
import type { ApiDeps } from '../deps.js'
import { responseFormat } from '../negotiation.js'
import { type DonationVersion, readDonationRequest } from '../operations/donation-request.js'
import { parseBoolean } from '../operations/field-reader.js'
import { invalidParameter, queryValue } from '../query.js'
import { sendDocument } from '../reply.js'
import { donationDocument } from '../representations/donation.js'
import { readBody } from '../request-body.js'
import { callerOf } from './secure.js'

type DonationOperation = { readonly path: string; readonly version: DonationVersion; readonly summary: string }

export const donationOperations = [
  { path: '/api/secure/givingservice/donations', version: 1, summary: 'Donate with a card: tests only' },
  { path: '/api/secure/givingservice/donationsclient', version: 2, summary: 'Donate through the client of a gateway' },
] as const satisfies readonly DonationOperation[]

export const clientTokenOperation = {
  path: '/api/secure/givingservice/clienttoken',
  summary: 'A token for the client of a gateway',
} as const

/**
 * Donations (wire.md 6.2, 6.3) in the secure area: `donationsclient` is version 2; `donations` is version 1, which
 * takes tests only, since card numbers are not accepted.
 */
export function donationRoutes(area: FastifyInstance, { payments }: ApiDeps): void {
  for (const operation of donationOperations) donationRoute(area, payments, operation)
  area.get(clientTokenOperation.path, async (request, reply) => {
    const { gateway, token } = await clientToken(payments)
    const format = responseFormat(request)
    const value = object([
      ['paymentGateway', string(gateway)],
      ['token', string(token)],
    ])
    return sendDocument(reply, format, wireDocument(format, 'client_token', value))
  })
}

function donationRoute(area: FastifyInstance, payments: Payments, { path, version }: DonationOperation): void {
  area.post(path, async (request, reply) => {
    const { keyId, grants } = callerOf(request)
    const isTest = isTestOf(request)
    const fields = readBody(request, 'donation')
    if (version === 1 && !isTest) throw versionOneIsForTests()
    const donation = readDonationRequest(fields, {
      version,
      currency: payments.currency,
      gateways: payments.gateway.wireNames,
      mayNote: grants.includes('donation-notes'),
      mayNamePartner: grants.includes('partner-codes'),
    })
    const settlement = isTest
      ? await rehearseDonation(payments, donation)
      : await submitDonation(payments, { keyId, requestId: request.id }, donation)
    const format = responseFormat(request)
    return sendDocument(reply, format, donationDocument(format, donation, settlement))
  })
}

function isTestOf(request: FastifyRequest): boolean {
  const text = queryValue(request, 'is_test')
  const isTest = text === undefined ? false : parseBoolean(text)
  if (isTest === undefined) throw invalidParameter('is_test', 'true or false', text ?? '')
  return isTest
}

function versionOneIsForTests(): ServiceError {
  return new ServiceError(
    'request-invalid',
    `card numbers are not accepted, so this version takes tests only (is_test=true): donate with version 2, POST ${donationOperations[1].path}, and paymentGatewayNonce`,
  )
}
