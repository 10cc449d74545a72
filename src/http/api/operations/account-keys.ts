import { type IssuedKey, type KeyLimits, secretHash } from '../../../accounts/sql/accounts.js'
import { issueKeyUpTo, type KeySummary, listKeys, revokeKey } from '../../../accounts/sql/api-keys.js'
import { audit } from '../audit.js'
import { unknownKey } from './authenticate.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/** Valid keys that an account may have at a time. */
const mostKeys = 20

/**
 * Issues a key to an account; its text cannot be shown again. Throws `credentials-wrong`, `login-throttled`,
 * `server-busy`, or `request-invalid` when the account has too many.
 */
export async function issueKeyTo(
  deps: CredentialDeps,
  credentials: Credentials,
  limits: KeyLimits,
): Promise<{ readonly accountId: number; readonly key: IssuedKey }> {
  const { id: accountId } = await verifyCredentials(deps, credentials)
  const key = await deps.store.transaction(async (db) => {
    const issued = await issueKeyUpTo(db, accountId, mostKeys, deps.clock(), limits)
    const who = { actor: `account ${accountId}`, origin: credentials.address }
    await audit(deps, db, { action: 'key-issued', ...who, subject: `key ${issued.id}` })
    return issued
  })
  return { accountId, key }
}

/** The keys of the account that are not revoked. Throws `credentials-wrong`, `login-throttled` or `server-busy`. */
export async function listKeysOf(
  deps: CredentialDeps,
  credentials: Credentials,
): Promise<{ readonly accountId: number; readonly keys: readonly KeySummary[] }> {
  const { id: accountId, email } = await verifyCredentials(deps, credentials)
  const keys = await listKeys(deps.store.db, email)
  return { accountId, keys: keys.filter(({ revokedAt }) => revokedAt === undefined) }
}

/**
 * Revokes a key of the account, given as its text or its number, and ends its tokens; a revoked key is not an error. Throws like `issueKeyTo`, and
 * `key-unknown` when the account has no such key.
 */
export async function revokeKeyOf(
  deps: CredentialDeps,
  { apiKey, ...credentials }: Credentials & { readonly apiKey: string },
): Promise<{ readonly accountId: number; readonly keyId: number }> {
  const { id: accountId } = await verifyCredentials(deps, credentials)
  // The text of a key is a UUID, never a number.
  const choice = /^\d{1,15}$/.test(apiKey.trim()) ? { id: Number(apiKey) } : { hash: secretHash(apiKey) }
  const keyId = await deps.store.transaction(async (db) => {
    const revoked = await revokeKey(db, { ...choice, accountId }, deps.clock())
    if (revoked === undefined) throw unknownKey(apiKey)
    const who = { actor: `account ${accountId}`, origin: credentials.address }
    await audit(deps, db, { action: 'key-revoked', ...who, subject: `key ${revoked}` })
    return revoked
  })
  return { accountId, keyId }
}
