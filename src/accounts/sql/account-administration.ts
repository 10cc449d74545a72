import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'

/** What an account can be granted beyond reading. */
export type Grant = 'donations' | 'donation-notes' | 'partner-codes'

export const grants: readonly Grant[] = ['donations', 'donation-notes', 'partner-codes']

/** One account as the operator sees it. */
export type AccountSummary = {
  readonly id: number
  readonly email: string
  readonly tokenTimeoutSeconds: number
  readonly createdAt: Date
  readonly disabled: boolean
  readonly grants: readonly Grant[]
  /** Keys that are not revoked. */
  readonly keys: number
}

/** All accounts, oldest first. */
export async function listAccounts(db: Db): Promise<AccountSummary[]> {
  const { rows } = await db.query<AccountSummary>(
    `select a.id, a.email, a.token_timeout_seconds, a.created_at,
        a.disabled_at is not null as disabled,
        array(select operation from account_grant g where g.account_id = a.id order by operation) as grants,
        (select count(*) from api_key k where k.account_id = a.id and k.revoked_at is null) as keys
      from account a order by a.id`,
  )
  return rows
}

/** The id of an e-mail's account, letter case ignored; throws `not-found`. */
export async function getAccountId(db: Db, email: string): Promise<number> {
  const { rows } = await db.query<{ id: number }>('select id from account where lower(email) = lower($1)', [
    email.trim(),
  ])
  if (!rows[0]) throw new ServiceError('not-found', `no account has the e-mail ${email.trim()}`)
  return rows[0].id
}

/** Lifetime of the tokens that are issued from now on. */
export async function changeTokenTimeout(db: Db, accountId: number, seconds: number): Promise<void> {
  await db.query('update account set token_timeout_seconds = $2 where id = $1', [accountId, seconds])
}

export type PasswordChange = {
  readonly accountId: number
  readonly passwordHash: string
  /** Whether the keys of the account end too. */
  readonly revokeKeys: boolean
  readonly at: Date
}

/** Sets a password, ends the account's tokens and codes; returns how many keys were revoked. Needs a transaction. */
export async function changePasswordHash(
  db: Db,
  { accountId, passwordHash, revokeKeys, at }: PasswordChange,
): Promise<number> {
  await db.query(
    `with ended as (${endTokensOf('$1')}), changed as (update account set password_hash = $2 where id = $1 returning email)
      delete from account_code c using changed where c.purpose = 'reset' and lower(c.email) = lower(changed.email)`,
    [accountId, passwordHash],
  )
  if (!revokeKeys) return 0
  const { rowCount } = await db.query(
    'update api_key set revoked_at = $2 where account_id = $1 and revoked_at is null',
    [accountId, at],
  )
  return rowCount
}

function endTokensOf(accountId: string): string {
  return `delete from access_token where api_key_id in (select id from api_key where account_id = ${accountId})`
}

/** Grants an operation; granting it again changes nothing. */
export async function recordGrant(db: Db, accountId: number, grant: Grant, at: Date): Promise<void> {
  await db.query(
    `insert into account_grant (account_id, operation, granted_at) values ($1, $2, $3)
      on conflict (account_id, operation) do nothing`,
    [accountId, grant, at],
  )
}

/** Takes a grant back; secure requests are refused at once. */
export async function withdrawGrant(db: Db, accountId: number, grant: Grant): Promise<void> {
  await db.query('delete from account_grant where account_id = $1 and operation = $2', [accountId, grant])
}

/** Disables an account: its keys are refused within 5 s, its tokens end at once. */
export async function disableAccount(db: Db, accountId: number, at: Date): Promise<void> {
  await db.query(
    `with ended as (${endTokensOf('$1')})
      update account set disabled_at = coalesce(disabled_at, $2) where id = $1`,
    [accountId, at],
  )
}

/** Enables a disabled account: its keys and grants count again, its tokens have ended. */
export async function enableAccount(db: Db, accountId: number): Promise<void> {
  await db.query('update account set disabled_at = null where id = $1', [accountId])
}
