import type { OpenApiSchema } from './openapi-schema.js'

type Header = { readonly description: string; readonly schema: OpenApiSchema }

const text: OpenApiSchema = { type: 'string' }

/** Headers that mean something for one operation; those of every answer are in the description of the API. */
export const headers = {
  'Accept-Ranges': {
    description: 'Parts may be asked for (RFC 9110 14.3).',
    schema: { type: 'string', const: 'bytes' },
  },
  'Cache-Control': { description: 'How long a copy may be used (RFC 9111 5.2).', schema: text },
  'Content-Encoding': { description: 'gzip where the request accepts it.', schema: { type: 'string', const: 'gzip' } },
  'Content-Language': { description: 'Languages of the texts, where Accept-Language asked for some.', schema: text },
  'Content-Range': { description: 'Which part of the file this is (RFC 9110 14.4).', schema: text },
  'Content-Security-Policy': { description: 'What the page may load.', schema: text },
  ETag: { description: 'For If-None-Match (RFC 9110 8.8.3).', schema: text },
  'Last-Modified': { description: 'When these bytes were first published.', schema: text },
  Link: {
    description: 'The canonical address of what the answer says (RFC 6596), or what describes the file.',
    schema: text,
  },
  'Retry-After': {
    description: 'Seconds after which another try may succeed.',
    schema: { type: 'integer', minimum: 1 },
  },
  Vary: { description: 'Request headers that the answer depends on.', schema: text },
  'X-Modified-Until': {
    description: 'The modifiedSince of the next round of a client that mirrors; absent while writers were at work.',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Release': { description: 'Identifier of the release that the file belongs to.', schema: text },
  'X-Request-Id': { description: 'The request in the log of the service.', schema: { type: 'string', format: 'uuid' } },
  'X-Robots-Tag': { description: 'Search engines leave demo data out.', schema: text },
} as const satisfies Readonly<Record<string, Header>>

export type HeaderName = keyof typeof headers

/** The answers with an `error_response`: the component's name and when it comes. */
export const failures = {
  400: ['BadRequest', 'A parameter, a header or the body is missing or wrong.'],
  401: [
    'Unauthorized',
    'The key, the token or the credentials are missing or not valid, or the operation is not granted.',
  ],
  403: ['Forbidden', 'The request came over plain HTTP from another machine.'],
  404: ['NotFound', 'Nothing exists at this address.'],
  410: ['Gone', 'The project has become inactive.'],
  412: ['PreconditionFailed', 'The file is not the one that If-Match or If-Unmodified-Since names.'],
  416: ['RangeNotSatisfiable', 'The range lies outside of the file.'],
  500: ['InternalServerError', 'A defect of the service; the message has the id of the request.'],
  503: ['ServiceUnavailable', 'Maintenance, overload or too many requests.'],
} as const

export type FailureStatus = keyof typeof failures
/** Statuses that an operation names itself; 412 and 416 belong to files. */
export type ErrorStatus = Exclude<FailureStatus, 412 | 416>

/** The headers of an answer with an error. */
export function headersOfFailure(status: FailureStatus): HeaderName[] {
  if (status === 412) return ['Cache-Control', 'X-Release']
  if (status === 416) return ['Cache-Control', 'Content-Range', 'X-Release']
  const all: HeaderName[] = ['Cache-Control', 'Vary', 'X-Request-Id']
  return status === 503 ? [...all, 'Retry-After'] : all
}
