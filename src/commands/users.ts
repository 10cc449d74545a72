import { Argument, type Command } from 'commander'
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
  grants,
  listAccounts,
  recordGrant,
  withdrawGrant,
} from '../store/access/account-administration.js'
import { type CommandLine, durationSeconds, jsonOption } from './command-line.js'
import { describeEmail, nonAsciiOf } from './e-mail.js'
import type { Output } from './output.js'
import { openRuntime, type Runtime } from './wiring/runtime.js'

/** `giving users`. */
export function registerUsers(program: Command, { environment, action, readSecret }: CommandLine): void {
  const users = program.command('users').description('API users: accounts and what they may do')
  const add = (name: string, description: string) =>
    users
      .command(name)
      .description(description)
      .option(...jsonOption)
  add('create', 'create an API user with a first API key, which is shown once')
    .requiredOption('--email <email>', 'e-mail address')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option('--token-timeout <duration>', 'lifetime of access tokens, such as 10h', durationSeconds)
    .action(
      action(async (output, { email, tokenTimeout }: ByEmail & { tokenTimeout?: number }) => {
        const password = await readSecret()
        return await createUserCommand(environment, { email, password, tokenTimeoutSeconds: tokenTimeout }, output)
      }),
    )
  add('list', 'every API user and what it may do').action(action((output) => listUsersCommand(environment, output)))

  const addChange = (name: UserChange['change'], description: string) =>
    add(name, description).requiredOption('--email <email>', 'e-mail address')
  addChange('timeout', 'change how long the access tokens of a user live')
    .requiredOption('--token-timeout <duration>', 'lifetime, such as 10h', durationSeconds)
    .action(
      action((output, { email, tokenTimeout }: ByEmail & { tokenTimeout: number }) =>
        changeUserCommand(environment, { email, change: 'timeout', seconds: tokenTimeout }, output),
      ),
    )
  addChange('password', 'give a user a new password')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .action(
      action(async (output, { email }: ByEmail) => {
        const password = await readSecret()
        return await changeUserCommand(environment, { email, change: 'password', password }, output)
      }),
    )
  for (const [name, description] of [
    ['grant', 'let a user do more than read; look first whose e-mail it really is'],
    ['revoke-grant', 'take a grant back, at once'],
  ] as const) {
    addChange(name, description)
      .addArgument(new Argument('<operation>', 'what is granted').choices(grants))
      .action(
        action((output, grant: Grant, { email }: ByEmail) =>
          changeUserCommand(environment, { email, change: name, grant }, output),
        ),
      )
  }
  for (const [name, description] of [
    ['disable', 'refuse everything of a user'],
    ['enable', 'make a disabled user what it was'],
  ] as const) {
    addChange(name, description).action(
      action((output, { email }: ByEmail) => changeUserCommand(environment, { email, change: name }, output)),
    )
  }
}

type ByEmail = { readonly email: string }

/** `giving users create`: creates an account with its first API key, which is shown once. */
export async function createUserCommand(
  environment: Environment,
  options: { readonly email: string; readonly password: string; readonly tokenTimeoutSeconds: number | undefined },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, ['tokenTimeoutHours'])
  const { email, password } = options
  const tokenTimeoutSeconds = options.tokenTimeoutSeconds ?? runtime.config.tokenTimeoutHours * 3600
  const { apiKey } = await createApiUser(
    { store: runtime.store, clock: runtime.clock, passwords: createPasswordHashing() },
    { email, password, tokenTimeoutSeconds },
  )
  output.result({ apiKey }, () => `API key (shown only now): ${apiKey}`)
  return 0
}

/** `giving users list`: every account, with what it may do. */
export async function listUsersCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const users = (await listAccounts(runtime.store.db)).map(({ createdAt, ...account }) => {
    const nonAscii = nonAsciiOf(account.email)
    return { ...account, ...(nonAscii.length > 0 && { nonAscii }), createdAt: isoInstantOf(createdAt) }
  })
  output.result({ users }, () =>
    users.map(({ email, disabled, keys, tokenTimeoutSeconds, grants, createdAt }) => {
      const may = disabled ? 'disabled' : grants.length > 0 ? `may read, ${grants.join(', ')}` : 'may read'
      return `${describeEmail(email).padEnd(40)} ${may}; ${keys} keys; tokens live ${tokenTimeoutSeconds} s; since ${createdAt}`
    }),
  )
  if (!output.json && users.length === 0) output.note('there is no API user yet: giving users create')
  return 0
}

/** A change of one account. */
export type UserChange =
  | { readonly change: 'timeout'; readonly seconds: number }
  | { readonly change: 'password'; readonly password: string }
  | { readonly change: 'grant' | 'revoke-grant'; readonly grant: Grant }
  | { readonly change: 'disable' | 'enable' }

/** `giving users timeout|password|grant|revoke-grant|disable|enable`: changes the account of an e-mail. */
export async function changeUserCommand(
  environment: Environment,
  { email, ...change }: UserChange & ByEmail,
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const accountId = await getAccountId(runtime.store.db, email)
  const outcome = await applyChange(runtime, accountId, email, change as UserChange)
  output.result({ email, change: change.change }, () => `${email}: ${outcome}`)
  return 0
}

async function applyChange(
  { store: { db }, clock }: Runtime,
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
      return 'the password is changed; keys stay valid, tokens have ended'
    }
    case 'grant':
      await recordGrant(db, accountId, change.grant, clock())
      return `${change.grant} granted`
    case 'revoke-grant':
      await withdrawGrant(db, accountId, change.grant)
      return `${change.grant} not granted any more`
    case 'disable':
      await disableAccount(db, accountId, clock())
      return 'disabled; its tokens have ended, its keys are refused within 5 s'
    case 'enable':
      await enableAccount(db, accountId)
      return 'enabled'
  }
}
