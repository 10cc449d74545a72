import { findKey, issueToken, secretHash } from '../../store/access/accounts.js'
import { unknownKey } from './authenticate.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/**
 * Exchanges credentials for an access token (wire.md 6.1). Throws `key-unknown`, `credentials-wrong` (also when the
 * key is another account's), `login-throttled` or `server-busy`; an unknown e-mail takes as long as a wrong password.
 */
export async function issueAccessToken(
  deps: CredentialDeps,
  { apiKey, ...credentials }: Credentials & { readonly apiKey: string },
): Promise<string> {
  const key = await findKey(deps.store.db, secretHash(apiKey))
  if (!key) throw unknownKey(apiKey)
  const account = await verifyCredentials(deps, credentials, key.accountId)
  return await issueToken(deps.store.db, {
    keyId: key.id,
    timeoutSeconds: account.tokenTimeoutSeconds,
    at: deps.clock(),
  })
}
