import type { KeySummary } from '../../../accounts/sql/api-keys.js'
import {
  dateTime,
  integer,
  object,
  string,
  type WireObject,
  wrapper,
} from '../../../catalogue/wire/write/wire-value.js'

/** The keys of an account; their texts are not stored. */
export function toKeyList(keys: readonly KeySummary[]): WireObject {
  return wrapper(
    'key',
    keys.map(({ id, scope, origins, createdAt, expiresAt, lastUsedAt }) =>
      object([
        ['id', integer(id)],
        ['scope', string(scope)],
        ['origins', origins === undefined ? undefined : string(origins)],
        ['created_at', dateTime(createdAt)],
        ['expires_at', expiresAt && dateTime(expiresAt)],
        ['last_used_at', lastUsedAt && dateTime(lastUsedAt)],
      ]),
    ),
  )
}
