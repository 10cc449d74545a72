import { type IssuedKey, secretHash } from '../../store/access/accounts.js'
import { issueKeyUpTo, revokeKey } from '../../store/access/api-keys.js'
import { audit } from '../audit.js'
import { unknownKey } from './authenticate.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/** Valid keys that an account may have at a time. */
export const mostKeys = 20

/**
 * Issues a key to an account; its text cannot be shown again. Throws `credentials-wrong`, `login-throttled`,
 * `server-busy`, or `request-invalid` when the account has too many.
 */
export async function issueKeyTo(
  deps: CredentialDeps,
  credentials: Credentials,
): Promise<{ readonly accountId: number; readonly key: IssuedKey }> {
  const { id: accountId } = await verifyCredentials(deps, credentials)
  const key = await deps.store.transaction(async (db) => {
    const issued = await issueKeyUpTo(db, accountId, mostKeys, deps.clock())
    const who = { actor: `account ${accountId}`, origin: credentials.address }
    await audit(deps, db, { action: 'key-issued', ...who, subject: `key ${issued.id}` })
    return issued
  })
  return { accountId, key }
}

/**
 * Revokes a key of the account and ends its tokens; a revoked key is not an error. Throws like `issueKeyTo`, and
 * `key-unknown` when the account has no such key.
 */
export async function revokeKeyOf(
  deps: CredentialDeps,
  { apiKey, ...credentials }: Credentials & { readonly apiKey: string },
): Promise<{ readonly accountId: number; readonly keyId: number }> {
  const { id: accountId } = await verifyCredentials(deps, credentials)
  const keyId = await deps.store.transaction(async (db) => {
    const revoked = await revokeKey(db, { hash: secretHash(apiKey), accountId }, deps.clock())
    if (revoked === undefined) throw unknownKey(apiKey)
    const who = { actor: `account ${accountId}`, origin: credentials.address }
    await audit(deps, db, { action: 'key-revoked', ...who, subject: `key ${revoked}` })
    return revoked
  })
  return { accountId, keyId }
}
