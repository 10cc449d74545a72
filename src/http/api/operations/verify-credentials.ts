import { type Account, findAccount } from '../../../accounts/sql/accounts.js'
import { isKnownPlace } from '../../../accounts/sql/throttle-counts.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Log } from '../../../platform/observability/log.js'
import { audit } from '../audit.js'
import type { AccessDeps } from '../deps.js'
import { askersOf, countSignIn, recordSuccess, signInOf, throttledSignIn, uncountSignIn } from './throttle.js'

/** The credentials of an account, and the address of the request. */
export type Credentials = { readonly email: string; readonly password: string; readonly address: string }

export type CredentialDeps = AccessDeps & { readonly log: Log }

/**
 * The account of these credentials. Throws `credentials-wrong` for an unknown e-mail, a wrong password, a disabled
 * account, or one that is not `expectedAccountId`; `login-throttled` after too many of those; `server-busy`. Known and
 * unknown e-mails get the same answers after the same work.
 *
 * While the address or the account must wait, only the right password is let in, and only from an address that the
 * account has signed in from before: nobody can keep an owner out by failing elsewhere, or from behind the same proxy.
 */
export async function verifyCredentials(
  deps: CredentialDeps,
  credentials: Credentials,
  expectedAccountId?: number,
): Promise<Account> {
  const found = await findAccount(deps.store.db, credentials.email.trim())
  // A sign-in counts as failed until it succeeds; the limit keeps concurrent right ones from being taken for guesses.
  return await deps.passwords.limitedFor(askersOf(credentials.address, found.name), () =>
    signIn(deps, credentials, found, expectedAccountId),
  )
}

async function signIn(
  deps: CredentialDeps,
  { password, address }: Credentials,
  { account, name }: Awaited<ReturnType<typeof findAccount>>,
  expectedAccountId?: number,
): Promise<Account> {
  const { store, passwords, clock } = deps
  const subjects = signInOf(name, address)
  const counted = await countSignIn(store, subjects, clock())
  const mayNotWait =
    counted.waitSeconds === 0 || (await isKnownPlace(store.db, account?.id ?? 0, subjects.place, clock()))
  const matches = await passwords.verify(account?.passwordHash, password).catch(async (error: unknown) => {
    await uncountSignIn(store.db, counted)
    throw error
  })
  const expected = expectedAccountId === undefined || account?.id === expectedAccountId
  if (matches && account && !account.disabled && expected && mayNotWait) {
    await recordSuccess(store.db, subjects, counted, { accountId: account.id, at: clock() })
    return account
  }
  if (counted.waitSeconds > 0) throw throttledSignIn(counted.waitSeconds)
  await audit(deps, store.db, {
    ...{ action: 'sign-in', refused: true, actor: 'unknown', origin: address },
    subject: account && `account ${account.id}`,
  })
  const what =
    expectedAccountId === undefined ? 'the e-mail and the password' : 'the e-mail, the password and the api_key'
  throw new ServiceError('credentials-wrong', `${what} do not belong together`)
}
