import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type FieldProblem, ServiceError } from '../domain/errors.js'
import { parseFields } from '../xml/fields.js'
import type { XmlLimits } from '../xml/reader.js'
import { contentFormat } from './negotiation.js'

/** Largest request body, in bytes. */
export const bodyLimit = 65_536

/** Bodies are records of a few fields: anything deeper or wider is refused before it costs anything. */
const xmlLimits: XmlLimits = { depth: 16, elements: 1_000, attributes: 20, characters: bodyLimit }

/** A text of 1 to `length` characters that must be there; an empty one counts as absent (wire.md 6.2). */
export function textUpTo(length: number) {
  return z
    .string()
    .min(1)
    .max(length)
    .refine((text) => !text.includes('\0'), 'a text without NUL')
}

/** An e-mail address as it is looked up: RFC 5321 allows no longer one. */
const emailText = textUpTo(254)

/** A password as it is checked; the limit keeps a hash from working on 64 KB. */
const passwordText = textUpTo(1_024)

/** An API key or access token as it is looked up. */
export const secretText = textUpTo(256)

/** E-mail and password of an account, as every operation that needs them takes them (wire.md 6.1). */
export const userFields = z.object({ email: emailText, password: passwordText })

/**
 * The fields under the body's root, which XML and JSON name alike. Throws `media-type-unsupported`, `request-malformed`
 * (unreadable, another root), `request-too-large` or `request-invalid` naming every field that is missing or wrong.
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
  checkJson(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, root)) {
    throw new ServiceError('request-malformed', `the request body must be a JSON object with the member ${root}`)
  }
  return (value as Record<string, unknown>)[root]
}

/** Refuses what nests too deep and members that would reach a prototype; a loop, since depth must not cost stack. */
function checkJson(root: unknown): void {
  let level = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > xmlLimits.depth) {
      throw new ServiceError('request-too-large', `the request body nests deeper than ${xmlLimits.depth} levels`)
    }
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Object.hasOwn(value, '__proto__')) {
        throw new ServiceError('request-malformed', 'the request body has a member that is not accepted: __proto__')
      }
      for (const inner of Object.values(value)) next.push(inner)
    }
    level = next
  }
}

function fieldsOfXml(root: string, body: Buffer): unknown {
  const fields = parseFields(body, xmlLimits)
  if (fields.root !== root) {
    throw new ServiceError('request-malformed', `the root element must be ${root}, not ${fields.root.slice(0, 64)}`)
  }
  return fields.value
}

function toProblem(root: string, issue: z.core.$ZodIssue): FieldProblem {
  return { field: [root, ...issue.path.map(String)].join('.'), expected: expectationOf(issue) }
}

function expectationOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `at most ${issue.maximum} characters`
  if (issue.code === 'too_small') return 'a text that is not empty'
  if (issue.code === 'invalid_type' && issue.expected === 'string') return 'a text'
  if (issue.code === 'invalid_type' && issue.expected === 'object') return 'an object'
  return issue.message
}
