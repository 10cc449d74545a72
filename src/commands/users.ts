import { createApiUser, toPasswordHash } from '../api/operations/create-api-user.js'
import { createPasswordHashing } from '../api/passwords.js'
import type { Environment } from '../config/config.js'
import { isoInstantOf } from '../domain/dates.js'
import {
  changePasswordHash,
  changeTokenTimeout,
  disableAccount,
  enableAccount,
  type Grant,
  getAccountId,
  listAccounts,
  recordGrant,
  withdrawGrant,
} from '../store/access/account-administration.js'
import type { Output } from './output.js'
import { openRuntime, type Runtime } from './runtime.js'

/** `giving users create`: creates an account with its first API key, which is shown once. */
export async function createUserCommand(
  environment: Environment,
  options: { readonly email: string; readonly password: string; readonly tokenTimeoutSeconds: number | undefined },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { email, password } = options
  const tokenTimeoutSeconds = options.tokenTimeoutSeconds ?? runtime.config.tokenTimeoutHours * 3600
  const { apiKey } = await createApiUser(
    { store: runtime.store, clock: runtime.clock, passwords: createPasswordHashing() },
    { email, password, tokenTimeoutSeconds },
  )
  output.line(output.json ? JSON.stringify({ apiKey }) : `API key (shown only now): ${apiKey}`)
  return 0
}

/** `giving users list`: every account, with what it may do. */
export async function listUsersCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const users = (await listAccounts(runtime.store.db)).map(({ createdAt, ...account }) => ({
    ...account,
    createdAt: isoInstantOf(createdAt),
  }))
  if (output.json) {
    output.line(JSON.stringify({ users }))
    return 0
  }
  for (const { email, disabled, keys, tokenTimeoutSeconds, grants, createdAt } of users) {
    const may = disabled ? 'disabled' : grants.length > 0 ? `may read, ${grants.join(', ')}` : 'may read'
    output.line(`${email.padEnd(40)} ${may}; ${keys} keys; tokens live ${tokenTimeoutSeconds} s; since ${createdAt}`)
  }
  if (users.length === 0) output.note('there is no API user yet: giving users create')
  return 0
}

/** A change of one account, and what it is called afterwards. */
export type UserChange =
  | { readonly change: 'timeout'; readonly seconds: number }
  | { readonly change: 'password'; readonly password: string }
  | { readonly change: 'grant' | 'revoke-grant'; readonly grant: Grant }
  | { readonly change: 'disable' | 'enable' }

/** `giving users timeout|password|grant|revoke-grant|disable|enable`: changes the account of an e-mail. */
export async function changeUserCommand(
  environment: Environment,
  { email, ...change }: UserChange & { readonly email: string },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const accountId = await getAccountId(runtime.store.db, email)
  const outcome = await applyChange(runtime, accountId, email, change as UserChange)
  output.line(output.json ? JSON.stringify({ email, change: change.change }) : `${email}: ${outcome}`)
  return 0
}

async function applyChange(
  { store: { db }, clock }: Pick<Runtime, 'store' | 'clock'>,
  accountId: number,
  email: string,
  change: UserChange,
): Promise<string> {
  switch (change.change) {
    case 'timeout':
      await changeTokenTimeout(db, accountId, change.seconds)
      return `tokens issued from now on live ${change.seconds} s`
    case 'password': {
      const passwords = createPasswordHashing()
      await changePasswordHash(db, accountId, await toPasswordHash({ passwords }, { email, password: change.password }))
      return 'the password is changed; keys and tokens stay valid'
    }
    case 'grant':
      await recordGrant(db, accountId, change.grant, clock())
      return `${change.grant} granted`
    case 'revoke-grant':
      await withdrawGrant(db, accountId, change.grant)
      return `${change.grant} not granted any more`
    case 'disable':
      await disableAccount(db, accountId, clock())
      return 'disabled; its tokens are refused at once, its keys within 5 s'
    case 'enable':
      await enableAccount(db, accountId)
      return 'enabled'
  }
}
