import { secretHash } from '../../store/access/accounts.js'
import { issueKeyUpTo, revokeKey } from '../../store/access/api-keys.js'
import { unknownKey } from './authenticate.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/** Valid keys that an account may have at a time. */
export const mostKeys = 20

/**
 * Issues a key to an account; its text cannot be shown again. Throws `credentials-wrong`, `login-throttled`,
 * `server-busy`, or `request-invalid` when the account has too many.
 */
export async function issueKeyTo(deps: CredentialDeps, credentials: Credentials): Promise<string> {
  const account = await verifyCredentials(deps, credentials)
  const at = deps.clock()
  return await deps.store.transaction((db) => issueKeyUpTo(db, account.id, mostKeys, at))
}

/**
 * Revokes a key of the account and ends its tokens; once more is not an error. Throws like `issueKeyTo`, and
 * `key-unknown` when the key is none of the account's.
 */
export async function revokeKeyOf(
  deps: CredentialDeps,
  { apiKey, ...credentials }: Credentials & { readonly apiKey: string },
): Promise<void> {
  const account = await verifyCredentials(deps, credentials)
  const choice = { hash: secretHash(apiKey), accountId: account.id }
  if (!(await revokeKey(deps.store.db, choice, deps.clock()))) throw unknownKey(apiKey)
}
