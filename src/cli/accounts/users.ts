import { Argument, type Command } from 'commander'
import { createPasswordHashing } from '../../accounts/passwords.js'
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
} from '../../accounts/sql/account-administration.js'
import { newCode, storeCode } from '../../accounts/sql/account-codes.js'
import type { AuditAction } from '../../accounts/sql/audit-events.js'
import { createApiUser, toPasswordHash } from '../../http/api/operations/create-api-user.js'
import { instantsInText, isoInstantOf } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'
import { addCommand, type CommandLine, durationOption, durationSeconds } from '../command-line.js'
import type { Output } from '../output.js'
import { audited, auditOperator } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'
import { describeEmail, nonAsciiOf } from './e-mail.js'

/** `giving users`. */
export function registerUsers(program: Command, { storeAction, readSecret }: CommandLine): void {
  const users = program.command('users').description('API users: accounts and what they may do')
  const add = (name: string, description: string) => addCommand(users, name, description)
  add('create', 'create an API user with a first API key, which is shown once')
    .requiredOption('--email <email>', 'e-mail address')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option(
      '--token-timeout <duration>',
      'lifetime of access tokens, such as 10h; default: TOKEN_TIMEOUT_HOURS',
      durationSeconds,
    )
    .action(
      storeAction(['tokenTimeoutHours'], async (runtime, output, options: ByEmail & { tokenTimeout?: number }) =>
        create(runtime, output, { ...options, password: await readSecret() }),
      ),
    )
  add('list', 'list API users and what each may do').action(storeAction([], list))

  const addChange = (name: UserChange['change'], description: string) =>
    add(name, description).requiredOption('--email <email>', 'e-mail address')
  addChange('timeout', 'change how long the access tokens of a user live')
    .requiredOption('--token-timeout <duration>', 'lifetime, such as 10h', durationSeconds)
    .action(
      storeAction([], (runtime, output, { email, tokenTimeout }: ByEmail & { tokenTimeout: number }) =>
        change(runtime, output, { email, change: 'timeout', seconds: tokenTimeout }),
      ),
    )
  addChange('password', 'give a user a new password')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option('--revoke-keys', 'revoke its keys too', false)
    .action(
      storeAction([], async (runtime, output, { email, revokeKeys }: ByEmail & { revokeKeys: boolean }) =>
        change(runtime, output, { email, change: 'password', password: await readSecret(), revokeKeys }),
      ),
    )
  add('reset-password', 'make a code with which a user sets a new password; it is shown once')
    .requiredOption('--email <email>', 'e-mail address')
    .addOption(durationOption('--expires <duration>', 'how long the code is valid', '24h'))
    .action(storeAction([], resetPassword))
  add('invite', 'make a code with which somebody makes an account; it is shown once')
    .option('--email <email>', 'the e-mail address that the account must have; default: any')
    .addOption(durationOption('--expires <duration>', 'how long the code is valid', '7d'))
    .action(storeAction([], invite))
  for (const [name, description] of [
    ['grant', 'grant an operation beyond reading; check first who owns the e-mail'],
    ['revoke-grant', 'revoke a grant; effective at once'],
  ] as const) {
    addChange(name, description)
      .addArgument(new Argument('<operation>', 'what is granted').choices(grants))
      .action(
        storeAction([], (runtime, output, grant: Grant, { email }: ByEmail) =>
          change(runtime, output, { email, change: name, grant }),
        ),
      )
  }
  for (const [name, description] of [
    ['disable', 'disable a user: its keys and tokens are refused'],
    ['enable', 'enable a disabled user again'],
  ] as const) {
    addChange(name, description).action(
      storeAction([], (runtime, output, { email }: ByEmail) => change(runtime, output, { email, change: name })),
    )
  }
}

type ByEmail = { readonly email: string }

/** Creates an account with its first API key, which is shown once. */
async function create(
  runtime: Runtime,
  output: Output,
  { email, password, tokenTimeout }: ByEmail & { readonly password: string; readonly tokenTimeout?: number },
): Promise<number> {
  const { store, clock, config } = runtime
  const { apiKey, accountId, keyId } = await createApiUser(
    { store, clock, passwords: createPasswordHashing() },
    { email, password, tokenTimeoutSeconds: tokenTimeout ?? config.tokenTimeoutHours * 3600 },
  )
  const subject = `account ${accountId}`
  await auditOperator(runtime, store.db, { action: 'account-created', subject, details: { key: keyId } })
  return output.result({ apiKey }, () => `API key (shown only now): ${apiKey}`)
}

async function list({ store }: Runtime, output: Output): Promise<number> {
  const users = (await listAccounts(store.db)).map((account) => {
    const nonAscii = nonAsciiOf(account.email)
    return { ...instantsInText(account), ...(nonAscii.length > 0 && { nonAscii }) }
  })
  return output.result(
    { users },
    () =>
      users.map(({ email, disabled, keys, tokenTimeoutSeconds, grants, createdAt }) => {
        const may = disabled ? 'disabled' : grants.length > 0 ? `may read, ${grants.join(', ')}` : 'may read'
        return `${describeEmail(email).padEnd(40)} ${may}; ${keys} keys; tokens live ${tokenTimeoutSeconds} s; since ${createdAt}`
      }),
    { note: users.length === 0 && 'there is no API user yet: giving users create' },
  )
}

async function resetPassword(
  { store, clock }: Runtime,
  output: Output,
  { email, expires }: ByEmail & { readonly expires: number },
): Promise<number> {
  const [at, code] = [clock(), newCode()]
  const expiresAt = new Date(at.getTime() + expires * 1000)
  await store.transaction(async (db) => {
    const accountId = await getAccountId(db, email)
    await storeCode(db, { purpose: 'reset', code, email, expiresAt })
    await auditOperator({ clock }, db, { action: 'reset-code-issued', subject: `account ${accountId}` })
  })
  return output.result({ resetCode: code, expiresAt: isoInstantOf(expiresAt) }, () => [
    `reset_code (shown only now, valid once until ${isoInstantOf(expiresAt)}): ${code}`,
    'for POST /api/userservice/passwords/reset; until then the old password is valid',
  ])
}

async function invite(
  { store, clock }: Runtime,
  output: Output,
  { email, expires }: { readonly email?: string; readonly expires: number },
): Promise<number> {
  const [at, code] = [clock(), newCode()]
  const expiresAt = new Date(at.getTime() + expires * 1000)
  await audited({ store, clock }, { action: 'invitation-issued' }, (db) =>
    storeCode(db, { purpose: 'invitation', code, email, expiresAt }),
  )
  return output.result({ invitation: code, expiresAt: isoInstantOf(expiresAt) }, () => [
    `invitation (shown only now, valid once until ${isoInstantOf(expiresAt)}): ${code}`,
    'for POST /api/userservice/accounts',
  ])
}

/** A change of one account. */
type UserChange =
  | { readonly change: 'timeout'; readonly seconds: number }
  | { readonly change: 'password'; readonly password: string; readonly revokeKeys: boolean }
  | { readonly change: 'grant' | 'revoke-grant'; readonly grant: Grant }
  | { readonly change: 'disable' | 'enable' }

async function change(runtime: Runtime, output: Output, change: UserChange & ByEmail): Promise<number> {
  const outcome = await runtime.store.transaction(async (db) => {
    const accountId = await getAccountId(db, change.email)
    await auditOperator(runtime, db, {
      action: auditActionOf[change.change],
      subject: `account ${accountId}`,
      details: {
        ...('grant' in change && { grant: change.grant }),
        ...('seconds' in change && { seconds: change.seconds }),
      },
    })
    return await applyChange(db, runtime.clock(), accountId, change)
  })
  return output.result({ email: change.email, change: change.change }, () => `${change.email}: ${outcome}`)
}

const auditActionOf = {
  timeout: 'token-timeout-changed',
  password: 'password-changed',
  grant: 'grant-given',
  'revoke-grant': 'grant-withdrawn',
  disable: 'account-disabled',
  enable: 'account-enabled',
} as const satisfies Record<UserChange['change'], AuditAction>

async function applyChange(db: Db, at: Date, accountId: number, change: UserChange & ByEmail): Promise<string> {
  switch (change.change) {
    case 'timeout':
      await changeTokenTimeout(db, accountId, change.seconds)
      return `tokens issued from now on live ${change.seconds} s`
    case 'password': {
      const { revokeKeys } = change
      const passwordHash = await toPasswordHash(createPasswordHashing(), change)
      await changePasswordHash(db, { accountId, passwordHash, revokeKeys, at })
      return `the password is changed; keys ${revokeKeys ? 'and tokens have ended' : 'stay valid, tokens have ended'}`
    }
    case 'grant':
      await recordGrant(db, accountId, change.grant, at)
      return `${change.grant} granted`
    case 'revoke-grant':
      await withdrawGrant(db, accountId, change.grant)
      return `${change.grant} not granted any more`
    case 'disable':
      await disableAccount(db, accountId, at)
      return 'disabled; its tokens have ended, its keys are refused within 5 s'
    case 'enable':
      await enableAccount(db, accountId)
      return 'enabled'
  }
}
