import { type Format, record, string, wireDocument, wireText } from '../../wire/write/wire.js'

/** The answer of the token operation (wire.md 6.1). */
export function authDocument(format: Format, accessToken: string): string {
  return wireDocument(
    format,
    'auth_response',
    wireText('auth_response', record([['access_token', string(accessToken)]])),
  )
}
