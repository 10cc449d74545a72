import type { FastifyInstance, FastifyRequest } from 'fastify'
import { object, string, wireDocument } from '../../../catalogue/wire/write/wire-value.js'
import { ServiceError } from '../../../kernel/errors.js'
import { valueTypes } from '../../../kernel/values.js'
import { clientToken } from '../../../money/client-token.js'
import { rehearseDonation, submitDonation } from '../../../money/submit-donation.js'
import { type DonationVersion, donationAnswerSchema, donationRequestSchema } from '../contract/donation-schemas.js'
import { objectOf, values } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { responseFormat } from '../negotiation.js'
import { readDonationRequest } from '../operations/donation-request.js'
import { invalidParameter, queryValue } from '../query.js'
import { sendDocument } from '../reply.js'
import { donationDocument } from '../representations/donation.js'
import { readBody } from '../request-body.js'
import { giftsPath } from './gifts.js'
import { callerOf } from './secure.js'

type DonationRoute = { readonly path: string; readonly version: DonationVersion; readonly operation: Operation }

const base = '/api/secure/givingservice'
const secure = {
  ...{ tag: 'Donations', security: 'token', failures: [...alwaysPossible, 401, 403] },
} as const satisfies Partial<Operation>
const headers = ['Cache-Control', 'Vary'] as const

const rehearsed =
  'Checks everything and takes nothing: is_test=true and a published test number are needed. For example, a client written for card numbers is tested with it.'
const donated =
  'Charges what the client of the gateway gave for the card, once for each transactionId. For example, 25 dollars for project 2045 answer with the number of the receipt, and with the same number when the request is sent again.'

const donationRoutesByVersion: readonly DonationRoute[] = [
  {
    path: `${base}/donations`,
    version: 1,
    operation: donationOperation(1, 'Donate with a card: tests only', rehearsed),
  },
  {
    ...{ path: `${base}/donationsclient`, version: 2 },
    operation: donationOperation(2, 'Donate through the client of a gateway', donated),
  },
]

function donationOperation(version: DonationVersion, summary: string, description: string): Operation {
  return {
    ...{ ...secure, id: version === 1 ? 'rehearseDonation' : 'donate', summary, description, query: ['is_test'] },
    // Of the project.
    failures: [...secure.failures, 404, 410],
    body: donationRequestSchema(version),
    answer: { headers, document: donationAnswerSchema(version) },
  }
}

const clientTokenOperation: Operation = {
  ...{ ...secure, id: 'createClientToken', summary: 'A token for the client of a gateway' },
  description:
    'What the page of the donor needs to ask for the card. For example, it begins the drop-in of the gateway with it.',
  answer: {
    headers,
    document: objectOf({ paymentGateway: values.text, token: values.text }, { xml: { name: 'client_token' } }),
  },
}

/**
 * Donations (wire.md 6.2, 6.3) in the secure area: `donationsclient` is version 2; `donations` is version 1, which
 * takes tests only, since card numbers are not accepted.
 */
export function donationRoutes(area: FastifyInstance, deps: ApiDeps): void {
  const { payments } = deps
  for (const route of donationRoutesByVersion) donationRoute(area, deps, route)
  area.get(`${base}/clienttoken`, { config: { operations: [clientTokenOperation] } }, async (request, reply) => {
    const { gateway, token } = await clientToken(payments)
    const format = responseFormat(request)
    const value = object([
      ['paymentGateway', string(gateway)],
      ['token', string(token)],
    ])
    return sendDocument(reply, format, wireDocument(format, 'client_token', value))
  })
}

function donationRoute(
  area: FastifyInstance,
  { payments, config }: ApiDeps,
  { path, version, operation }: DonationRoute,
): void {
  area.post(path, { config: { operations: [operation] } }, async (request, reply) => {
    const { keyId, account, grants } = callerOf(request)
    const isTest = isTestOf(request)
    const fields = readBody(request, 'donation')
    if (version === 1 && !isTest) throw versionOneIsForTests()
    const donation = readDonationRequest(fields, {
      version,
      currency: payments.currency,
      limits: payments.limits,
      gateways: payments.gateway.wireNames,
      takesPlans: version === 2 && (payments.gateway.keepsMethods ?? false),
      acceptLanguage: request.headers['accept-language'],
      mayNote: grants.includes('donation-notes'),
      mayNamePartner: grants.includes('partner-codes'),
    })
    const taken = isTest
      ? await rehearseDonation(payments, donation)
      : await submitDonation(payments, { account, keyId, requestId: request.id }, donation)
    const link = 'planLink' in taken ? taken.planLink : undefined
    const cancelLink = link && config.baseUrl() + giftsPath + link
    const format = responseFormat(request)
    return sendDocument(reply, format, donationDocument(format, donation, taken, cancelLink))
  })
}

function isTestOf(request: FastifyRequest): boolean {
  const text = queryValue(request, 'is_test')
  const isTest = text === undefined ? false : valueTypes.flag.parse(text)
  if (isTest === undefined) throw invalidParameter('is_test', 'true or false', text ?? '')
  return isTest
}

function versionOneIsForTests(): ServiceError {
  return new ServiceError(
    'request-invalid',
    `card numbers are not accepted, so this version takes tests only (is_test=true): donate with version 2, POST ${base}/donationsclient, and paymentGatewayNonce`,
  )
}
