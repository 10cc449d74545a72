import { parse } from 'fast-querystring'
import type { FastifyRequest } from 'fastify'
import { parseWireDateTime } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { valueTypes } from '../../kernel/values.js'

// No operation and no page has a tenth of this. Reading more would cost each request time before its turn.
const mostParameters = 100

/** The parameters of a query; none of a query with more than 100, whose request `queryProblem` refuses. */
export function parseQuery(query: string): Record<string, unknown> {
  return query === '' || hasTooMany(query) ? {} : parse(query)
}

/** Why the query of a URL is refused (`request-invalid`), if it is. */
export function queryProblem(url: string): ServiceError | undefined {
  const start = url.indexOf('?')
  if (start < 0 || !hasTooMany(url, start)) return undefined
  return new ServiceError('request-invalid', `the query has more than ${mostParameters} parameters`)
}

function hasTooMany(query: string, start = 0): boolean {
  let parameters = 1
  for (let at = query.indexOf('&', start); at >= 0; at = query.indexOf('&', at + 1)) {
    if (++parameters > mostParameters) return true
  }
  return false
}

/**
 * A query parameter: the last of several; an empty one counts as absent (wire.md 1.1). Throws `request-invalid` for a text
 * with NUL, which PostgreSQL refuses.
 */
export function queryValue(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name]
  const last: unknown = Array.isArray(value) ? value.at(-1) : value
  if (typeof last !== 'string' || last.trim() === '') return undefined
  if (last.includes('\0')) throw invalidParameter(name, 'a text without NUL', last)
  return last.trim()
}

const digits = /^\d+$/

/** The number that digits make; one above every possible id becomes the largest number. */
export function toNumber(text: string): number {
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** A whole number from 0 on, such as a list's cursor (wire.md 4.2), else `absent`. Throws `request-invalid`. */
export function wholeNumberOf(request: FastifyRequest, name: string, absent = 0): number {
  const text = queryValue(request, name)
  if (text === undefined) return absent
  if (!digits.test(text)) throw invalidParameter(name, 'a whole number', text)
  return toNumber(text)
}

/** Records of a list page without `limit` (wire.md 4.2). */
const defaultLimit = 10
const maximumLimit = 100

/** The number of records that a page may have: `limit`, at most 100. Throws `request-invalid`. */
export function limitOf(request: FastifyRequest): number {
  const limit = wholeNumberOf(request, 'limit', defaultLimit)
  if (limit < 1) throw invalidParameter('limit', 'a whole number from 1 to 100', '0')
  return Math.min(limit, maximumLimit)
}

/** The instant that `modifiedSince` names, if it is given. Throws `request-invalid` unless it is RFC 3339. */
export function modifiedSinceOf(request: FastifyRequest): Date | undefined {
  const text = queryValue(request, 'modifiedSince')
  if (text === undefined) return undefined
  // A plus sign that was not encoded arrives as a blank.
  const instant = parseWireDateTime(text.toUpperCase().replace(' ', '+'))
  if (!instant) throw invalidParameter('modifiedSince', 'an instant such as 2026-11-21T09:00:00Z', text)
  return instant
}

/** The id in the path. Throws `request-invalid` unless it is a whole number, `not-found` when none is so large. */
export function pathId(request: FastifyRequest, name: string, what: 'project' | 'organisation'): number {
  const text = pathDigits(request, name)
  const id = Number(text)
  if (!Number.isSafeInteger(id)) throw new ServiceError('not-found', `there is no ${what} ${text.slice(0, 64)}`)
  return id
}

/** A whole number of any size in the path. Throws `request-invalid`. */
export function pathDigits(request: FastifyRequest, name: string): string {
  const text = pathText(request, name)
  if (!digits.test(text)) throw invalidPathPart(name, 'a whole number', text)
  return text
}

/** A part of the path, decoded. Throws `request-invalid` for a text with NUL. */
export function pathText(request: FastifyRequest, name: string): string {
  const text = (request.params as Record<string, string>)[name] ?? ''
  if (text.includes('\0')) throw invalidPathPart(name, 'a text without NUL', text)
  return text
}

/** The two-letter country code in a text, in capitals. Throws `request-invalid` for any other shape (wire.md 4.3). */
export function parseCountryCode(text: string, name: string): string {
  const code = valueTypes.countryLetters.parse(text)
  if (code === undefined) throw invalidPathPart(name, valueTypes.countryLetters.expected, text)
  return code
}

/**
 * A comma-separated list of ids of any size, blanks around commas tolerated; at least one. Throws `request-invalid`.
 */
export function idListOf(request: FastifyRequest, name: string): string[] {
  const expected = 'identifiers separated by commas'
  const items = (queryValue(request, name) ?? '').split(',').flatMap((item) => item.trim() || [])
  if (items.length === 0) throw missingParameter(name, expected)
  return items.map((item) => {
    if (!digits.test(item)) throw invalidParameter(name, expected, item)
    return item.replace(/^0+(?=\d)/, '')
  })
}

/** The error of a query parameter that must be there. */
export function missingParameter(field: string, expected: string): ServiceError {
  return new ServiceError('request-invalid', `the query parameter ${field} is missing: expected ${expected}`, {
    problems: [{ field, expected, missing: true }],
  })
}

/** The error of a query parameter with a wrong value. */
export function invalidParameter(field: string, expected: string, got: string): ServiceError {
  return invalidPathPart(field, expected, got, `the query parameter ${field}`)
}

function invalidPathPart(field: string, expected: string, got: string, named = field): ServiceError {
  const shown = got.slice(0, 64)
  return new ServiceError('request-invalid', `${named} must be ${expected}, not "${shown}"`, {
    problems: [{ field, expected, got: shown }],
  })
}
