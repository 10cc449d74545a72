import { STATUS_CODES } from 'node:http'
import {
  type Format,
  integer,
  object,
  string,
  type WireObject,
  wireDocument,
  wrapper,
} from '../../../catalogue/wire/write/wire-value.js'
import type { RequiredAction } from '../../../kernel/errors.js'

/** One or more errors under one HTTP status, each with its `error_number` where it has one (wire.md 2.1). */
export type ErrorResponse = {
  readonly status: number
  readonly errors: readonly { readonly message: string; readonly number?: number | undefined }[]
  readonly requiresAction?: RequiredAction | undefined
}

/** The `error_response` document. */
export function errorDocument(format: Format, { status, errors, requiresAction }: ErrorResponse): string {
  const response = object([
    ['error_code', integer(status)],
    [
      'errors',
      wrapper(
        'error',
        errors.map(({ message, number }) =>
          object([
            ['error_message', string(message)],
            ['error_number', number === undefined ? undefined : integer(number)],
          ]),
        ),
      ),
    ],
    ['requires_action', requiresAction && actionValue(requiresAction)],
    ['status', string(STATUS_CODES[status] ?? 'Error')],
  ])
  return wireDocument(format, 'error_response', response)
}

function actionValue({ clientSecret, paymentGateway }: RequiredAction): WireObject {
  return object([
    ['clientSecret', string(clientSecret)],
    ['paymentGateway', string(paymentGateway)],
  ])
}
