import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { type IssuedKey, issueKey, type KeyLimits, noLimits } from './accounts.js'

/** One key as its owner and the operator see it; its text is not stored. */
export type KeySummary = KeyLimits & {
  readonly id: number
  readonly email: string
  readonly lastUsedAt: Date | undefined
  readonly createdAt: Date
  readonly revokedAt: Date | undefined
}

/** Keys, oldest first; of one account when an e-mail is given. */
export async function listKeys(db: Db, email?: string): Promise<KeySummary[]> {
  const { rows } = await db.query<KeySummary>(
    `select k.id, a.email, k.created_at, k.revoked_at, k.scope, k.origins,
        k.expires_at, k.last_used_at
      from api_key k join account a on a.id = k.account_id
      where $1::text is null or lower(a.email) = lower($1) order by k.id`,
    [email?.trim() ?? null],
  )
  return rows
}

/** Issues a key unless the account has `most` valid ones already; then throws `request-invalid`. Needs a transaction. */
export async function issueKeyUpTo(
  db: Db,
  accountId: number,
  most: number,
  at: Date,
  limits: KeyLimits = noLimits,
): Promise<IssuedKey> {
  // Of two concurrent requests, the second waits and counts the key of the first.
  await db.query('select from account where id = $1 for update', [accountId])
  const { rows } = await db.query<{ keys: number }>(
    `select count(*) as keys from api_key
      where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
    [accountId, at],
  )
  if ((rows[0]?.keys ?? 0) >= most) {
    throw new ServiceError('request-invalid', `the account has ${most} keys already: revoke one first`)
  }
  return await issueKey(db, accountId, at, limits)
}

/** A key by its number or by the hash of its text; within an account when one is given. */
export type KeyChoice =
  | { readonly id: number; readonly accountId?: number }
  | { readonly hash: Buffer; readonly accountId?: number }

/**
 * Revokes a key, ends its tokens and returns its number; undefined when no key fits. Revoking a key again is not an error.
 * Processes that have just seen the key accept it for at most 5 s more.
 */
export async function revokeKey(db: Db, choice: KeyChoice, at: Date): Promise<number | undefined> {
  const [id, hash] = 'id' in choice ? [choice.id, null] : [null, choice.hash]
  const { rows } = await db.query<{ id: number }>(
    `with revoked as (
        update api_key set revoked_at = coalesce(revoked_at, $4)
        where (id = $1 or key_hash = $2) and ($3::bigint is null or account_id = $3) returning id),
      ended as (delete from access_token where api_key_id in (select id from revoked))
      select id from revoked`,
    [id, hash, choice.accountId ?? null, at],
  )
  return rows[0]?.id
}
