import { findKey, issueToken, recordKeyUse, secretHash } from '../../../accounts/sql/accounts.js'
import { audit } from '../audit.js'
import { requireScope, unknownKey } from './authenticate.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/**
 * Exchanges credentials for an access token (wire.md 6.1). Throws `key-unknown`, `credentials-wrong` (also when the
 * key is another account's), `key-restricted`, `login-throttled` or `server-busy`; an unknown e-mail takes as long as a wrong password.
 */
export async function issueAccessToken(
  deps: CredentialDeps,
  { apiKey, ...credentials }: Credentials & { readonly apiKey: string },
): Promise<{ readonly accountId: number; readonly keyId: number; readonly token: string }> {
  const key = await findKey(deps.store.db, secretHash(apiKey), deps.clock())
  if (!key) throw unknownKey(apiKey)
  const account = await verifyCredentials(deps, credentials, key.accountId)
  requireScope(key, 'donate')
  await recordKeyUse(deps.store.db, key, deps.clock())
  const token = await deps.store.transaction(async (db) => {
    const who = { actor: `account ${account.id}`, origin: credentials.address }
    await audit(deps, db, { action: 'sign-in', ...who, subject: `key ${key.id}` })
    const timeoutSeconds = account.tokenTimeoutSeconds
    return await issueToken(db, { keyId: key.id, timeoutSeconds, at: deps.clock() })
  })
  return { accountId: account.id, keyId: key.id, token }
}
