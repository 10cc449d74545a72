import { hash, randomInt, randomUUID } from 'node:crypto'
import { ServiceError } from '../../kernel/errors.js'
import { type Db, sqlState, unlessReadOnly } from '../../platform/database/connection.js'

/** An API user. The password is kept as an argon2id hash only. */
export type Account = {
  readonly id: number
  readonly email: string
  readonly passwordHash: string
  readonly tokenTimeoutSeconds: number
  readonly disabled: boolean
}

/** What a key may be used for: reads, donations (tokens and secure operations), or both. */
export type Scope = 'read' | 'donate' | 'read donate'

/** What bounds a key. */
export type KeyLimits = {
  readonly scope: Scope
  /** The web origins whose pages may use it, separated by blanks; undefined: any caller. Only a key for reads has them. */
  readonly origins: string | undefined
  readonly expiresAt: Date | undefined
}

/** The limits of a key that does everything that its account may do, until it is revoked. */
export const noLimits: KeyLimits = { scope: 'read donate', origins: undefined, expiresAt: undefined }

/** A registered key, the account it was issued to, and its limits. */
export type ApiKey = KeyLimits & {
  readonly id: number
  readonly accountId: number
  readonly lastUsedAt: Date | undefined
}

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
  const { rows } = await db.query<{ written: string; account: Account | undefined }>(
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
export async function issueKey(
  db: Db,
  accountId: number,
  at: Date,
  { scope, origins, expiresAt }: KeyLimits = noLimits,
): Promise<IssuedKey> {
  const text = randomUUID()
  const { rows } = await db.query<{ id: number }>(
    `insert into api_key (account_id, key_hash, created_at, scope, origins, expires_at)
      values ($1, $2, $3, $4, $5, $6) returning id`,
    [accountId, secretHash(text), at, scope, origins ?? null, expiresAt ?? null],
  )
  return { id: rows[0]?.id ?? 0, text }
}

/** The key with this hash, unless it was revoked, has expired by `at`, or its account is disabled. */
export async function findKey(db: Db, hash: Buffer, at: Date): Promise<ApiKey | undefined> {
  const { rows } = await db.query<ApiKey>(
    `select k.id, k.account_id, k.scope, k.origins, k.expires_at,
        k.last_used_at
      from api_key k join account a on a.id = k.account_id
      where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
        and a.disabled_at is null`,
    [hash, at],
    'find-api-key',
  )
  return rows[0]
}

const useWrittenAfterMs = 5 * 60_000

/** Records that a key was used, unless that was recorded within the last five minutes: reads seldom write. */
export async function recordKeyUse(db: Db, { id, lastUsedAt }: Pick<ApiKey, 'id' | 'lastUsedAt'>, at: Date) {
  const before = new Date(at.getTime() - useWrittenAfterMs)
  if (lastUsedAt && lastUsedAt > before) return
  await unlessReadOnly(() =>
    db.query(
      'update api_key set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)',
      [id, at, before],
      'record-key-use',
    ),
  )
}

const tokenAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz'
const tokenLength = 40

/** Tokens of a key that are valid at a time. */
const mostTokens = 100

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
