import { boolean, type Format, record, string, type WireValue, wireDocument, wireText } from '../../wire/write/wire.js'

/** The answer to a new account: its e-mail as it was stored. */
export function accountDocument(format: Format, email: string): string {
  return oneField(format, 'account_response', 'email', string(email))
}

/** The answer to a key request: the only time that the key is shown. */
export function keyDocument(format: Format, apiKey: string): string {
  return oneField(format, 'key_response', 'api_key', string(apiKey))
}

/** The answer to a revocation, of a key or of a token: it is not valid any more. */
export function revocationDocument(format: Format): string {
  return oneField(format, 'revocation_response', 'revoked', boolean(true))
}

function oneField(format: Format, root: string, name: string, value: WireValue): string {
  return wireDocument(format, root, wireText(root, record([[name, value]])))
}
