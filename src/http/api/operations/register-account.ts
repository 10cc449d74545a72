import {
  endVerificationsOf,
  type FoundCode,
  findCode,
  storeMailedRequest,
  takeCode,
} from '../../../accounts/sql/account-codes.js'
import { createAccount, findAccount } from '../../../accounts/sql/accounts.js'
import { recordWantedMail } from '../../../accounts/sql/asked-mail.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Db } from '../../../platform/database/connection.js'
import { audit } from '../audit.js'
import type { ApiConfig } from '../deps.js'
import { type NewApiUser, toNewAccount } from './create-api-user.js'
import { accountMailOf, askersOf, countAccountMail, countRequest, placeOf } from './throttle.js'
import type { CredentialDeps, Credentials } from './verify-credentials.js'

export type RegistrationDeps = CredentialDeps & {
  readonly config: Pick<ApiConfig, 'registration' | 'sendsMail' | 'tokenTimeoutSeconds'>
}

const verificationMs = 24 * 3_600_000

/**
 * Makes an account without a key, or where there is mail sends a code to its e-mail first, and returns the e-mail as it is
 * stored. With mail the answer is the same for an e-mail that is taken: its owner is written to. Throws
 * `registration-closed`, `code-unknown`, `login-throttled`, `server-busy`, or `request-invalid` naming every wrong field, or
 * without mail the e-mail when it is taken.
 */
export async function registerAccount(
  deps: RegistrationDeps,
  { email, password, address, invitation }: Credentials & { readonly invitation?: string | undefined },
): Promise<{ readonly accountId?: number; readonly email: string }> {
  const { store, passwords, clock, config } = deps
  if (config.registration === 'closed') {
    throw new ServiceError('registration-closed', 'accounts are made by the operator only: ask for one')
  }
  await countRequest(store, 'new-account', placeOf(address), clock())
  const invited = config.registration === 'invite' ? await findInvitation(deps, email, invitation) : undefined
  const user: NewApiUser = { email, password, tokenTimeoutSeconds: config.tokenTimeoutSeconds }
  const account = await passwords.limitedFor(askersOf(address), () =>
    toNewAccount(passwords, user, 'account_request.user.'),
  )
  if (!config.sendsMail) {
    const accountId = await store.transaction((db) =>
      create(deps, db, { ...account, invitationId: invited?.id, address }),
    )
    return { accountId, email: account.email }
  }
  const at = clock()
  await countAccountMail(store, (await findAccount(store.db, account.email)).name, { at })
  const expiresAt = new Date(at.getTime() + verificationMs)
  await storeMailedRequest(store.db, {
    ...{ purpose: 'verification', email: account.email, at, expiresAt },
    ...{ passwordHash: account.passwordHash, invitationId: invited?.id },
  })
  return { email: account.email }
}

/**
 * Makes the account that the code was mailed for. The password is the one that it was asked for with: who has the code of
 * a request that somebody else made does not get their account. Throws `code-unknown`, `login-throttled` or `server-busy`.
 */
export async function verifyAccount(
  deps: RegistrationDeps,
  { email, password, address, code }: Credentials & { readonly code: string },
): Promise<{ readonly accountId: number; readonly email: string }> {
  const { store, passwords, clock, config } = deps
  await countRequest(store, 'code', placeOf(address), clock())
  const found = await findCode(store.db, { purpose: 'verification', code, at: clock() })
  const isTheirs = found?.email?.toLowerCase() === email.trim().toLowerCase()
  const matches = await passwords.limitedFor(askersOf(address), () =>
    passwords.verify(isTheirs ? found?.passwordHash : undefined, password),
  )
  const { email: stored, passwordHash } = found ?? {}
  if (!found || !matches || stored === undefined || passwordHash === undefined)
    throw unknownCode('verification_request.verification_code')
  const { tokenTimeoutSeconds } = config
  const accountId = await store.transaction(async (db) => {
    if (!(await takeCode(db, found.id))) throw unknownCode('verification_request.verification_code')
    await endVerificationsOf(db, stored)
    await recordWantedMail(db, accountMailOf((await findAccount(db, stored)).name))
    const account = { email: stored, passwordHash, tokenTimeoutSeconds }
    return await create(deps, db, { ...account, invitationId: found.invitationId, address })
  })
  return { accountId, email: stored }
}

type NewAccount = {
  readonly email: string
  readonly passwordHash: string
  readonly tokenTimeoutSeconds: number
  readonly invitationId: number | undefined
  readonly address: string
}

async function create(
  deps: RegistrationDeps,
  db: Db,
  { invitationId, address, ...account }: NewAccount,
): Promise<number> {
  if (invitationId !== undefined && !(await takeCode(db, invitationId))) throw unknownCode('account_request.invitation')
  const id = await createAccount(db, { ...account, at: deps.clock() })
  await audit(deps, db, { action: 'account-created', actor: 'unknown', origin: address, subject: `account ${id}` })
  return id
}

async function findInvitation(
  { store, clock }: RegistrationDeps,
  email: string,
  invitation: string | undefined,
): Promise<FoundCode> {
  if (invitation === undefined) {
    throw new ServiceError('registration-closed', 'accounts are made by invitation only: ask the operator for one')
  }
  const found = await findCode(store.db, { purpose: 'invitation', code: invitation, at: clock() })
  const isTheirs = found?.email === undefined || found.email.toLowerCase() === email.trim().toLowerCase()
  if (!found || !isTheirs) throw unknownCode('account_request.invitation')
  return found
}

/** The error of a code that is not, or no longer, of use. */
export function unknownCode(field: string): ServiceError {
  return new ServiceError('code-unknown', `the ${field} is unknown, used, expired or somebody else's`)
}
