import { STATUS_CODES } from 'node:http'
import { type Format, integer, object, string, wireDocument, wrapper } from '../../wire/write/wire-value.js'

/** One or more messages under one HTTP status (wire.md 2.1). */
export type ErrorResponse = {
  readonly status: number
  readonly messages: readonly string[]
  /** The payment processor's code, which belongs to the first message. */
  readonly number?: number
}

/** The `error_response` document. */
export function errorDocument(format: Format, { status, messages, number }: ErrorResponse): string {
  const response = object([
    ['error_code', integer(status)],
    [
      'errors',
      wrapper(
        'error',
        messages.map((message, index) =>
          object([
            ['error_message', string(message)],
            ['error_number', number === undefined || index > 0 ? undefined : integer(number)],
          ]),
        ),
      ),
    ],
    ['status', string(STATUS_CODES[status] ?? 'Error')],
  ])
  return wireDocument(format, 'error_response', response)
}
