import { hash, randomInt, randomUUID } from 'node:crypto'
import { ServiceError } from '../../domain/errors.js'
import { type Db, sqlState } from '../database/connection.js'

/** An API user. The password is kept as an argon2id hash only. */
export type Account = {
  readonly id: number
  readonly email: string
  readonly passwordHash: string
  readonly tokenTimeoutSeconds: number
  readonly disabled: boolean
}

/** A registered key and the account it was issued to. */
export type ApiKey = { readonly id: number; readonly accountId: number }

/** SHA-256 of a key or token: the only form in which the database has it. Letter case and blanks around do not count. */
export function secretHash(secret: string): Buffer {
  return Buffer.from(secretDigest(secret), 'base64')
}

/** `secretHash` as text (base64). */
export function secretDigest(secret: string): string {
  return hash('sha256', secret.trim().toLowerCase(), 'base64')
}

/** Stores a new account and returns its id; throws `request-invalid` when the e-mail is taken (letter case ignored). */
export async function createAccount(
  db: Db,
  account: { email: string; passwordHash: string; tokenTimeoutSeconds: number; at: Date },
): Promise<number> {
  try {
    const { rows } = await db.query<{ id: number }>(
      `insert into account (email, password_hash, token_timeout_seconds, created_at)
        values ($1, $2, $3, $4) returning id`,
      [account.email, account.passwordHash, account.tokenTimeoutSeconds, account.at],
    )
    return rows[0]?.id ?? 0
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    throw new ServiceError('request-invalid', `an account with the e-mail ${account.email} exists already`, {
      cause: error,
      problems: [{ field: 'email', expected: 'an e-mail address without an account' }],
    })
  }
}

/**
 * The account of an e-mail address, letter case ignored as the database does, and a name that is the same for every way
 * to write the address, whether it has an account or not.
 */
export async function findAccount(
  db: Db,
  email: string,
): Promise<{ readonly name: string; readonly account: Account | undefined }> {
  const { rows } = await db.query<{ written: string; account: Account | null }>(
    `select lower($1) as written, case when a.id is not null then json_build_object('id', a.id, 'email', a.email,
        'passwordHash', a.password_hash, 'tokenTimeoutSeconds', a.token_timeout_seconds,
        'disabled', a.disabled_at is not null) end as account
      from (select) one left join account a on lower(a.email) = lower($1)`,
    [email],
    'find-account',
  )
  const account = rows[0]?.account ?? undefined
  return { name: account ? `account ${account.id}` : `e-mail ${rows[0]?.written}`, account }
}

/** A new key: its number, and its text, a UUID, which is not stored and cannot be shown again. */
export type IssuedKey = { readonly id: number; readonly text: string }

/** Issues a key of an account. */
export async function issueKey(db: Db, accountId: number, at: Date): Promise<IssuedKey> {
  const text = randomUUID()
  const { rows } = await db.query<{ id: number }>(
    'insert into api_key (account_id, key_hash, created_at) values ($1, $2, $3) returning id',
    [accountId, secretHash(text), at],
  )
  return { id: rows[0]?.id ?? 0, text }
}

/** The key with this hash, unless it was revoked or its account is disabled. */
export async function findKey(db: Db, hash: Buffer): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKey>(
    `select k.id, k.account_id as "accountId" from api_key k join account a on a.id = k.account_id
      where k.key_hash = $1 and k.revoked_at is null and a.disabled_at is null`,
    [hash],
    'find-api-key',
  )
  return rows[0]
}

const tokenAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz'
const tokenLength = 40

/** Tokens of a key that are valid at a time. */
export const mostTokens = 100

/**
 * Issues an access token of a key and returns its text (40 lower-case letters and digits), which is not stored. Earlier
 * tokens stay valid until they expire, but for the oldest beyond `mostTokens`. Removes a few expired ones.
 */
export async function issueToken(
  db: Db,
  { keyId, timeoutSeconds, at }: { keyId: number; timeoutSeconds: number; at: Date },
): Promise<string> {
  const token = Array.from({ length: tokenLength }, () => tokenAlphabet[randomInt(tokenAlphabet.length)]).join('')
  await db.query(
    `with expired as (
        delete from access_token where token_hash in (
          select token_hash from access_token where expires_at < $3 order by expires_at limit 10
          for update skip locked)),
      surplus as (
        delete from access_token where token_hash in (
          select token_hash from access_token where api_key_id = $2
          order by issued_at desc, token_hash offset $5 - 1 for update skip locked))
      insert into access_token (token_hash, api_key_id, issued_at, expires_at) values ($1, $2, $3, $4)`,
    [secretHash(token), keyId, at, new Date(at.getTime() + timeoutSeconds * 1000), mostTokens],
    'issue-token',
  )
  return token
}

/** Whether the token was issued for this key and has not expired by `at`. */
export async function isTokenValid(
  db: Db,
  { token, keyId, at }: { token: string; keyId: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from access_token where token_hash = $1 and api_key_id = $2 and expires_at > $3',
    [secretHash(token), keyId, at],
  )
  return rowCount > 0
}
