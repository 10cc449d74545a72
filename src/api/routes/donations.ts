import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ServiceError } from '../../domain/errors.js'
import type { Payments } from '../../payments/payments.js'
import { rehearseDonation, submitDonation } from '../../payments/submit-donation.js'
import type { ApiDeps } from '../deps.js'
import { responseFormat } from '../negotiation.js'
import { type DonationVersion, readDonationRequest } from '../operations/donation-request.js'
import { queryValue } from '../query.js'
import { sendDocument } from '../reply.js'
import { donationDocument } from '../representations/donation.js'
import { readBody } from '../request-body.js'
import { callerOf } from './secure.js'

const base = '/api/secure/givingservice'

/**
 * Donations (wire.md 6.2, 6.3) in the secure area: `donationsclient` is version 2; `donations` is version 1, which
 * takes tests only, since card numbers are not accepted.
 */
export function donationRoutes(area: FastifyInstance, { payments }: ApiDeps): void {
  donationRoute(area, payments, `${base}/donations`, 1)
  donationRoute(area, payments, `${base}/donationsclient`, 2)
}

function donationRoute(area: FastifyInstance, payments: Payments, path: string, version: DonationVersion): void {
  area.post(path, async (request, reply) => {
    const { keyId, grants } = callerOf(request)
    const isTest = isTestOf(request)
    const fields = readBody(request, 'donation', z.unknown())
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
  const text = queryValue(request, 'is_test')?.toLowerCase()
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  throw new ServiceError('request-invalid', 'the query parameter is_test must be true or false', {
    problems: [{ field: 'is_test', expected: 'true or false' }],
  })
}

function versionOneIsForTests(): ServiceError {
  return new ServiceError(
    'request-invalid',
    `card numbers are not accepted, so this version takes tests only (is_test=true): donate with version 2, POST ${base}/donationsclient, and paymentGatewayNonce`,
  )
}
