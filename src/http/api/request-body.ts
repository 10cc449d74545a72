import type { FastifyRequest } from 'fastify'
import { isObject, type ParsedValue } from '../../catalogue/wire/read/parsed-value.js'
import { invalidFields, ServiceError } from '../../kernel/errors.js'
import { type MemberType, objectType, type ReadPolicy, readObject, textType } from '../../kernel/read-object.js'
import { parseFields } from '../../kernel/xml/fields.js'
import type { XmlLimits } from '../../kernel/xml/reader.js'
import { contentFormat } from './negotiation.js'

/** Largest request body, in bytes. */
export const bodyLimit = 65_536

/** Bodies have a few fields; deeper or larger ones are refused while they are read (wire.md 1.8). */
const limits: XmlLimits = { depth: 16, elements: 1_000, attributes: 20, characters: bodyLimit }

/** An e-mail address, of the greatest length that RFC 5321 allows. */
export const emailText = textType(1, 254)

/** A password to be checked; the limit bounds the cost of its hash. */
export const passwordText = textType(1, 1_024)

/** An API key or access token to be looked up. */
export const secretText = textType(1, 256)

/** E-mail and password of an account, as all operations take them (wire.md 6.1). */
export const userFields = objectType({ email: emailText, password: passwordText })

/** Requests are answered without their values, which may be secrets. */
const ofRequests: ReadPolicy = { got: (value) => ({ missing: value === undefined || value === null || value === '' }) }

/** The body's fields by their types. Throws like `readBody`, and `request-invalid` naming every wrong field. */
export function readValidBody<T>(request: FastifyRequest, root: string, fields: MemberType<T>): T {
  const { value, problems } = readObject(fields, readBody(request, root), ofRequests, root)
  if (problems) throw invalidFields(problems)
  return value
}

/**
 * The fields under the body's root, which has the same name in XML and JSON. Throws `media-type-unsupported`, `request-malformed` (unreadable, another
 * root) or `request-too-large`.
 */
export function readBody(request: FastifyRequest, root: string): unknown {
  const { body, headers } = request
  const format = contentFormat(headers)
  if (format === undefined) {
    const got = headers['content-type']?.slice(0, 64) ?? 'none'
    throw new ServiceError(
      'media-type-unsupported',
      `Content-Type must be application/xml or application/json, not ${got}`,
    )
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity') {
    const message = `a request body must not have a Content-Encoding; this one is ${encoding.slice(0, 64)}: send it unpacked`
    throw new ServiceError('media-type-unsupported', message)
  }
  if (!Buffer.isBuffer(body) || body.length === 0) throw malformed('the request has no body')
  return format === 'json' ? fieldsOfJson(root, body) : fieldsOfXml(root, body)
}

function fieldsOfJson(root: string, body: Buffer): unknown {
  const value = readJson(body)
  if (isObject(value as ParsedValue) && Object.hasOwn(value as object, root))
    return (value as Record<string, unknown>)[root]
  throw malformed(`the request body must be a JSON object with the member ${root}`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readJson(body: Buffer): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw malformed('the request body is not valid JSON in UTF-8', cause)
  }
  countValues(value, 0)
  return value
}

/** The members and items in a value; throws when there are too many, too deep, or one is named `__proto__`. */
function countValues(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth === limits.depth) throw tooLarge(`at most ${limits.depth} levels of nesting`)
  if (Object.hasOwn(value, '__proto__'))
    throw malformed('the request body has a member that is not accepted: __proto__')
  const values = Object.values(value)
  let count = values.length
  for (const one of values) {
    if (count > limits.elements) break
    count += countValues(one, depth + 1)
  }
  if (count > limits.elements) throw tooLarge(`at most ${limits.elements} elements`)
  return count
}

function tooLarge(bound: string): ServiceError {
  return new ServiceError('request-too-large', `the request body must have ${bound}`)
}

function fieldsOfXml(root: string, body: Buffer): unknown {
  const fields = parseFields(body, limits)
  if (fields.root !== root) throw malformed(`the root element must be ${root}, not ${fields.root.slice(0, 64)}`)
  // An element without content is an object without fields.
  return fields.value === '' ? {} : fields.value
}

function malformed(message: string, cause?: unknown): ServiceError {
  return new ServiceError('request-malformed', message, { cause })
}
