import { changePasswordHash } from '../../../accounts/sql/account-administration.js'
import { findCode, storeMailedRequest, takeCode } from '../../../accounts/sql/account-codes.js'
import { findAccount } from '../../../accounts/sql/accounts.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Db } from '../../../platform/database/connection.js'
import { audit } from '../audit.js'
import { toPasswordHash } from './create-api-user.js'
import { type RegistrationDeps, unknownCode } from './register-account.js'
import { askersOf, countAccountMail, countRequest, placeOf } from './throttle.js'
import { type CredentialDeps, type Credentials, verifyCredentials } from './verify-credentials.js'

/** A new password with the name of its field, the address of the request, and whether the keys of the account end too. */
export type NewPassword = {
  readonly newPassword: string
  readonly field: string
  readonly revokeKeys: boolean
  readonly address: string
}

/**
 * Gives an account a new password, which ends its tokens, and returns its number. Throws `credentials-wrong`,
 * `login-throttled`, `server-busy`, or `request-invalid` for a password that is easy to guess.
 */
export async function changePassword(deps: CredentialDeps, change: NewPassword & Credentials): Promise<number> {
  const account = await verifyCredentials(deps, change)
  const passwordHash = await hashNew(deps, account, change)
  await deps.store.transaction((db) => enter(deps, db, { ...change, accountId: account.id, passwordHash }))
  return account.id
}

const resetMs = 600_000

/**
 * Has a code mailed with which a new password is set. Known and unknown e-mails get the same answer after the same work: the
 * account is looked up only when the mail is written. Throws `mail-missing` or `login-throttled`.
 */
export async function requestPasswordReset(
  { store, clock, config }: RegistrationDeps,
  { email, address }: { readonly email: string; readonly address: string },
): Promise<void> {
  if (!config.sendsMail) {
    throw new ServiceError('mail-missing', 'this service sends no mail: ask the operator for a new password')
  }
  await countRequest(store, 'reset-request', placeOf(address), clock())
  const { name } = await findAccount(store.db, email.trim())
  await countAccountMail(store, name, { at: clock(), fromOwner: true })
  const at = clock()
  await storeMailedRequest(store.db, { purpose: 'reset', email, at, expiresAt: new Date(at.getTime() + resetMs) })
}

/**
 * Sets the password that a code was given for, as `changePassword` does, and returns the number of the account. Throws
 * `code-unknown`, `login-throttled`, `server-busy`, or `request-invalid`, which leaves the code valid.
 */
export async function resetPassword(
  deps: CredentialDeps,
  { code, ...change }: NewPassword & { readonly code: string },
): Promise<number> {
  const { store, clock } = deps
  await countRequest(store, 'code', placeOf(change.address), clock())
  const found = await findCode(store.db, { purpose: 'reset', code, at: clock() })
  const account = found?.account
  if (!found || !account || account.disabled) throw unknownCode('new_password_request.reset_code')
  const passwordHash = await hashNew(deps, account, change)
  await store.transaction(async (db) => {
    if (!(await takeCode(db, found.id))) throw unknownCode('new_password_request.reset_code')
    await enter(deps, db, { ...change, accountId: account.id, passwordHash })
  })
  return account.id
}

async function hashNew(
  { passwords }: CredentialDeps,
  { id, email }: { readonly id: number; readonly email: string },
  { newPassword, field, address }: NewPassword,
): Promise<string> {
  return await passwords.limitedFor(askersOf(address, `account ${id}`), () =>
    toPasswordHash(passwords, { email, password: newPassword }, field),
  )
}

async function enter(
  deps: CredentialDeps,
  db: Db,
  change: NewPassword & { readonly accountId: number; readonly passwordHash: string },
): Promise<void> {
  const keys = await changePasswordHash(db, { ...change, at: deps.clock() })
  const subject = `account ${change.accountId}`
  const details = { ...(change.revokeKeys && { revokedKeys: keys }) }
  await audit(deps, db, { action: 'password-changed', actor: subject, origin: change.address, subject, details })
}
