import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { object, string, wireDocument } from '../../../catalogue/wire/write/wire-value.js'
import { ServiceError } from '../../../kernel/errors.js'
import { storeWebhook } from '../../../money/handle-webhooks.js'
import { objectOf } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import type { ApiDeps } from '../deps.js'
import { sendError } from '../errors.js'
import { responseFormat } from '../negotiation.js'
import { sendDocument } from '../reply.js'

// Events carry the whole object that they are about.
const webhookLimit = 262_144

const operation: Operation = {
  ...{ id: 'receiveWebhook', tag: 'Donations', path: '/api/public/payments/{gateway}' },
  summary: 'Receive an event of the payment processor',
  description:
    'For the payment processor only: its signature is checked. An event that came before is answered like the first time, without an effect. There is one address, that of the chosen gateway. For example, Stripe tells of a charge that was disputed.',
  ownBody: {
    'application/json': { type: 'object', description: 'An event of Stripe.' },
    'application/x-www-form-urlencoded': { type: 'object', description: 'A notification of Braintree.' },
  },
  answer: {
    headers: ['Cache-Control', 'Vary'],
    document: objectOf(
      { outcome: { type: 'string', enum: ['stored', 'known', 'ignored'] } },
      { xml: { name: 'webhook_response' } },
    ),
  },
  failures: [...alwaysPossible, 403],
}

/**
 * The address that the chosen payment processor sends its events to; its signature stands in place of a key. An event is
 * stored before it is answered, and handled by a worker.
 */
export function webhookRoute(app: FastifyInstance, { payments, clock, metrics }: ApiDeps): void {
  const { webhooks } = payments.gateway
  if (!webhooks) return
  const options: RouteShorthandOptions = {
    ...{ bodyLimit: webhookLimit, config: { operations: [operation] } },
    errorHandler: (error, request, reply) => {
      if (error instanceof ServiceError && error.code === 'webhook-refused') metrics?.countWebhook('refused')
      const large = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
      const failure = large ? new ServiceError('request-too-large', 'the webhook is larger than 256 KB') : error
      return sendError(failure, request, reply)
    },
  }
  app.post(`/api/public/payments/${webhooks.name}`, options, async (request, reply) => {
    const { body, headers } = request
    const header = (name: string) => {
      const value = headers[name]
      return typeof value === 'string' ? value : undefined
    }
    const event = await webhooks.read({ body: Buffer.isBuffer(body) ? body : Buffer.alloc(0), header }, clock())
    const outcome = await storeWebhook(payments, event)
    metrics?.countWebhook(outcome)
    const format = responseFormat(request)
    return sendDocument(reply, format, wireDocument(format, 'webhook_response', object([['outcome', string(outcome)]])))
  })
}
