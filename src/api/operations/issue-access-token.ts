import { ServiceError } from '../../domain/errors.js'
import { findAccount, findKey, issueToken, secretHash } from '../../store/accounts.js'
import type { ApiDeps } from '../deps.js'
import { unknownKey } from './authenticate.js'

export type Credentials = { readonly email: string; readonly password: string; readonly apiKey: string }

/**
 * Exchanges credentials for an access token (specification 4.1). Throws `key-unknown`, `credentials-wrong` (also when the
 * key is another account's) or `server-busy`; an unknown e-mail takes as long as a wrong password.
 */
export async function issueAccessToken(
  { store, passwords, clock }: Pick<ApiDeps, 'store' | 'passwords' | 'clock'>,
  { email, password, apiKey }: Credentials,
): Promise<string> {
  const key = await findKey(store.db, secretHash(apiKey))
  if (!key) throw unknownKey(apiKey)
  const account = await findAccount(store.db, email.trim())
  const matches = await passwords.verify(account?.passwordHash, password)
  if (!matches || !account || account.disabled || account.id !== key.accountId) {
    throw new ServiceError('credentials-wrong', 'the e-mail, the password and the api_key do not belong together')
  }
  return await issueToken(store.db, { keyId: key.id, timeoutSeconds: account.tokenTimeoutSeconds, at: clock() })
}
