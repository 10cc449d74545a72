import { randomBytes } from 'node:crypto'
import type { Db } from '../../platform/database/connection.js'
import { type Account, secretHash } from './accounts.js'

/** What a code that is used once is for. */
export type CodePurpose = 'invitation' | 'verification' | 'reset'

/** A new code: 256 random bits in hexadecimal digits. Only its hash is stored. */
export function newCode(): string {
  return randomBytes(32).toString('hex')
}

/** Stores a code that an operator hands over. */
export async function storeCode(
  db: Db,
  {
    purpose,
    code,
    email,
    expiresAt,
  }: {
    readonly purpose: 'invitation' | 'reset'
    readonly code: string
    readonly email?: string | undefined
    readonly expiresAt: Date
  },
): Promise<void> {
  await db.query('insert into account_code (purpose, code_hash, email, expires_at) values ($1, $2, $3, $4)', [
    ...[purpose, secretHash(code), email?.trim() ?? null, expiresAt],
  ])
}

/** A request about an e-mail that is answered by mail. */
export type MailedRequest = { readonly email: string; readonly at: Date; readonly expiresAt: Date } & (
  | { readonly purpose: 'reset' }
  | {
      readonly purpose: 'verification'
      readonly passwordHash: string
      readonly invitationId: number | undefined
    }
)

/** Stores a request that is answered by mail, whether the e-mail has an account or not. */
export async function storeMailedRequest(db: Db, request: MailedRequest): Promise<void> {
  const { purpose, email, at, expiresAt } = request
  const { passwordHash = null, invitationId = null } = request.purpose === 'verification' ? request : {}
  await db.query(
    `insert into account_code (purpose, email, password_hash, invitation_id, expires_at, mail_at)
      values ($1, $2, $3, $4, $5, $6)`,
    [purpose, email.trim(), passwordHash, invitationId, expiresAt, at],
  )
}

export type DueCode = {
  readonly id: number
  readonly purpose: 'verification' | 'reset'
  readonly email: string
  readonly expiresAt: Date
  /** The e-mail of the account, as it is written there; undefined when it has none. */
  readonly accountEmail: string | undefined
  readonly disabled: boolean
}

/**
 * Takes the request whose mail has waited longest and gives it this code in place of an earlier one. It is due again after a
 * minute, then after two, four and so on, unless `endMailing` is called.
 */
export async function claimDueCode(db: Db, code: string, at: Date): Promise<DueCode | undefined> {
  const { rows } = await db.query<DueCode>(
    `with due as (
        select id from account_code where mail_at <= $1 and expires_at > $1
          order by mail_at limit 1 for update skip locked),
      claimed as (
        update account_code c set code_hash = $2, tries = tries + 1,
            mail_at = $1::timestamptz + make_interval(mins => (2 ^ least(tries, 10))::integer)
          from due where c.id = due.id returning c.id, c.purpose, c.email, c.expires_at)
      select c.id, c.purpose, c.email, c.expires_at, a.email as account_email,
          a.disabled_at is not null as disabled
        from claimed c left join account a on lower(a.email) = lower(c.email)`,
    [at, secretHash(code)],
  )
  return rows[0]
}

/** The mail was sent, or will never be. */
export async function endMailing(db: Db, id: number): Promise<void> {
  await db.query('update account_code set mail_at = null where id = $1', [id])
}

/** Removes a request that was answered without a code, or not at all. */
export async function dropCode(db: Db, id: number): Promise<void> {
  await takeCode(db, id)
}

/** A code that has not expired, and the account that its e-mail has. */
export type FoundCode = {
  readonly id: number
  readonly email: string | undefined
  readonly passwordHash: string | undefined
  readonly invitationId: number | undefined
  readonly account: Pick<Account, 'id' | 'email' | 'disabled'> | undefined
}

/** The code with this text, which is compared as a hash, so that the time of the comparison reveals nothing of it. */
export async function findCode(
  db: Db,
  { purpose, code, at }: { readonly purpose: CodePurpose; readonly code: string; readonly at: Date },
): Promise<FoundCode | undefined> {
  const { rows } = await db.query<FoundCode>(
    `select c.id, c.email, c.password_hash, c.invitation_id,
        case when a.id is not null
          then json_build_object('id', a.id, 'email', a.email, 'disabled', a.disabled_at is not null) end as account
      from account_code c left join account a on lower(a.email) = lower(c.email)
      where c.purpose = $1 and c.code_hash = $2 and c.expires_at > $3`,
    [purpose, secretHash(code), at],
  )
  return rows[0]
}

/** Uses up a code; false when it is used up already. */
export async function takeCode(db: Db, id: number): Promise<boolean> {
  const { rowCount } = await db.query('delete from account_code where id = $1', [id])
  return rowCount > 0
}

/** Removes the other requests for an account that is made now. */
export async function endVerificationsOf(db: Db, email: string): Promise<void> {
  await db.query("delete from account_code where lower(email) = lower($1) and purpose = 'verification'", [email])
}
