import { ServiceError } from '../../domain/errors.js'
import { type Account, findAccount } from '../../store/access/accounts.js'
import type { ApiDeps } from '../deps.js'
import { countFailure, countSuccess, refuseThrottled, signInOf } from './throttle.js'

/** What an account proves itself with, and the address that it comes from. */
export type Credentials = { readonly email: string; readonly password: string; readonly address: string }

export type CredentialDeps = Pick<ApiDeps, 'store' | 'passwords' | 'clock'>

/**
 * The account of these credentials. Throws `credentials-wrong` for an unknown e-mail, a wrong password, a disabled
 * account, or one that is not `expectedAccountId`, all after the same work; `login-throttled` after too many of those;
 * `server-busy`.
 */
export async function verifyCredentials(
  { store, passwords, clock }: CredentialDeps,
  { email, password, address }: Credentials,
  expectedAccountId?: number,
): Promise<Account> {
  const name = email.trim()
  const signIn = signInOf(name, address)
  await refuseThrottled(store.db, signIn, name, clock())
  const account = await findAccount(store.db, name)
  const matches = await passwords.verify(account?.passwordHash, password)
  const expected = expectedAccountId === undefined || account?.id === expectedAccountId
  if (!matches || !account || account.disabled || !expected) {
    await countFailure(store.db, signIn, clock())
    const what =
      expectedAccountId === undefined ? 'the e-mail and the password' : 'the e-mail, the password and the api_key'
    throw new ServiceError('credentials-wrong', `${what} do not belong together`)
  }
  await countSuccess(store.db, signIn, account.id, clock())
  return account
}
