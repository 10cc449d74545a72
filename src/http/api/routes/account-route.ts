import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WireValue } from '../../../catalogue/wire/write/wire-value.js'
import { type OpenApiSchema, objectOf } from '../contract/openapi-schema.js'
import { alwaysPossible, type Operation } from '../contract/operation.js'
import { responseFormat } from '../negotiation.js'
import { sendDocument } from '../reply.js'
import { readValidBody } from '../request-body.js'
import { type AccountOperation, answerDocument } from './account-operations.js'

/** Does the work and returns the value of the answer's one field. */
export type AccountHandler<Fields> = (fields: Fields, request: FastifyRequest) => Promise<WireValue>

/** Registers an operation on accounts, keys or tokens; its body may be XML or JSON, and its answer is not cached. */
export function addAccountOperation<Fields>(
  app: FastifyInstance,
  operation: AccountOperation<Fields>,
  handler: AccountHandler<Fields>,
): void {
  app.post(operation.path, { config: { operations: [describe(operation)] } }, async (request, reply) => {
    const value = await handler(readValidBody(request, operation.root, operation.body), request)
    const format = responseFormat(request)
    return sendDocument(reply, format, answerDocument(format, operation, value))
  })
}

function describe({ id, summary, description, root, body, answerRoot, answer, ...own }: AccountOperation): Operation {
  const { type, meaning, properties } = answer
  const field: OpenApiSchema = { type, description: meaning, ...(properties && { properties }) }
  return {
    ...{ id, summary, description, tag: 'Accounts' },
    body: { ...body.schema, xml: { name: root } },
    answer: {
      headers: ['Cache-Control', 'Vary'],
      document: objectOf({ [answer.field]: field }, { xml: { name: answerRoot } }),
    },
    failures: [...alwaysPossible, 403, ...(own.anonymous ? [] : ([401] as const))],
  }
}
