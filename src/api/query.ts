import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../domain/errors.js'

/** A query parameter: the last of several, and an empty one counts as absent (wire contract 1.1). */
export function queryValue(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name]
  const last: unknown = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' && last.trim() !== '' ? last.trim() : undefined
}

/** The record id in a text; undefined unless it is all digits. One beyond every possible id stands for itself. */
export function parseRecordId(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined
}

/** The cursor of a list: an inclusive lower bound, 0 when absent. Throws `request-invalid` (wire contract 4.2). */
export function cursorOf(request: FastifyRequest, name: string): number {
  const text = queryValue(request, name)
  if (text === undefined) return 0
  const id = parseRecordId(text)
  if (id === undefined) throw invalidParameter(name, 'a project identifier, a whole number', text)
  return id
}

/** A comma-separated list of ids, blanks around commas tolerated; at least one. Throws `request-invalid`. */
export function idListOf(request: FastifyRequest, name: string): number[] {
  const text = queryValue(request, name)
  const expected = 'identifiers separated by commas'
  const items = (text ?? '').split(',').flatMap((item) => item.trim() || [])
  if (text === undefined || items.length === 0) {
    throw new ServiceError('request-invalid', `the query parameter ${name} is missing: expected ${expected}`, {
      problems: [{ field: name, expected }],
    })
  }
  return items.map((item) => {
    const id = parseRecordId(item)
    if (id === undefined) throw invalidParameter(name, expected, item)
    return id
  })
}

function invalidParameter(field: string, expected: string, got: string): ServiceError {
  const shown = got.slice(0, 64)
  return new ServiceError('request-invalid', `the query parameter ${field} must be ${expected}, not "${shown}"`, {
    problems: [{ field, expected, got: shown }],
  })
}
