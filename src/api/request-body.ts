import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type FieldProblem, ServiceError } from '../domain/errors.js'
import type { Element } from '../xml/element.js'
import { parseElement, type XmlLimits } from '../xml/reader.js'
import { contentFormat } from './negotiation.js'

/** Largest request body, in bytes. */
export const bodyLimit = 65_536

/** Bodies are records of a few fields: anything deeper or wider is refused before it costs anything. */
const xmlLimits: XmlLimits = { depth: 16, elements: 1_000, attributes: 20, characters: bodyLimit }

/** A text that must be there; an empty one counts as absent (wire contract 6.2). */
export const requiredText = z.string().min(1)

/**
 * The fields under the body's root, which XML and JSON name alike. Throws `media-type-unsupported`, `request-malformed`
 * (unreadable, another root) or `request-invalid` naming every field that is missing or wrong.
 */
export function readBody<T extends z.ZodType>(request: FastifyRequest, root: string, schema: T): z.output<T> {
  const result = schema.safeParse(fieldsUnder(root, request))
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => toProblem(root, issue))
  const message = problems.map(({ field, expected }) => `${field}: expected ${expected}`).join('; ')
  throw new ServiceError('request-invalid', message, { problems })
}

function fieldsUnder(root: string, request: FastifyRequest): unknown {
  const format = contentFormat(request.headers)
  if (format === undefined) {
    const got = request.headers['content-type']?.slice(0, 64) ?? 'none'
    throw new ServiceError(
      'media-type-unsupported',
      `Content-Type must be application/xml or application/json, not ${got}`,
    )
  }
  const { body } = request
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new ServiceError('request-malformed', 'the request has no body')
  return format === 'json' ? fieldsOfJson(root, body) : fieldsOfXml(root, body)
}

function fieldsOfJson(root: string, body: Buffer): unknown {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw new ServiceError('request-malformed', 'the request body is not valid JSON in UTF-8', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, root)) {
    throw new ServiceError('request-malformed', `the request body must be a JSON object with the member ${root}`)
  }
  return (value as Record<string, unknown>)[root]
}

function fieldsOfXml(root: string, body: Buffer): unknown {
  const element = parseElement(body, xmlLimits)
  if (element.name !== root) {
    throw new ServiceError('request-malformed', `the root element must be ${root}, not ${element.name.slice(0, 64)}`)
  }
  return toFields(element)
}

/** Element content as JSON would say it: text, or an object of the children (an array where a name repeats). */
function toFields(element: Element): unknown {
  if (element.children.length === 0) return element.text
  const fields = Object.create(null) as Record<string, unknown>
  for (const child of element.children) {
    const value = toFields(child)
    const earlier = fields[child.name]
    if (earlier === undefined) fields[child.name] = value
    else fields[child.name] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value]
  }
  return fields
}

function toProblem(root: string, issue: z.core.$ZodIssue): FieldProblem {
  const field = [root, ...issue.path.map(String)].join('.')
  const expected = expectations[issue.code === 'invalid_type' ? issue.expected : issue.code] ?? issue.message
  return { field, expected }
}

const expectations: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'an object',
  too_small: 'a text that is not empty',
}
