import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Format, object, type WireValue, wireDocument } from '../../wire/write/wire-value.js'
import { responseFormat } from '../negotiation.js'
import { inBothFormats, type Success } from '../openapi.js'
import { sendDocument } from '../reply.js'
import { readValidBody } from '../request-body.js'
import type { AccountOperation } from './account-operations.js'

/** Does the work and returns the value of the answer's one field. */
export type AccountHandler<Body extends z.ZodType> = (
  fields: z.output<Body>,
  request: FastifyRequest,
) => Promise<WireValue>

/** Registers an operation on accounts, keys or tokens; its body may be XML or JSON, and its answer is not cached. */
export function addAccountOperation<Body extends z.ZodType>(
  app: FastifyInstance,
  operation: AccountOperation<Body>,
  handler: AccountHandler<Body>,
): void {
  app.post(operation.path, { schema: schemaOf(operation) }, async (request, reply) => {
    const value = await handler(readValidBody(request, operation.root, operation.body), request)
    const format = responseFormat(request)
    return sendDocument(reply, format, answerDocument(format, operation, value))
  })
}

/** The answer of an operation: its root with its one field. */
export function answerDocument(format: Format, { answerRoot, answer }: AccountOperation, value: WireValue): string {
  return wireDocument(format, answerRoot, object([[answer.field, value]]))
}

function schemaOf({ summary, description, root, body, answerRoot, answer }: AccountOperation) {
  const { $schema: _dialect, ...fields } = z.toJSONSchema(body)
  return {
    summary,
    description,
    tags: ['Accounts'],
    body: inBothFormats(root, fields),
    response: {
      200: {
        root: answerRoot,
        fields: {
          type: 'object',
          required: [answer.field],
          properties: {
            [answer.field]: {
              ...{ type: answer.type, description: answer.meaning },
              ...(answer.properties && { properties: answer.properties }),
            },
          },
        },
      } satisfies Success,
    },
  }
}
