import type { Db } from '../../platform/database/connection.js'
import type { Grant } from './account-administration.js'
import { type Scope, secretHash } from './accounts.js'

/** Who makes a secure request. */
export type Caller = {
  readonly keyId: number
  readonly accountId: number
  /** The name of the account outside of this database: its e-mail in small letters. */
  readonly account: string
  readonly scope: Scope
  readonly lastUsedAt: Date | undefined
  readonly grants: readonly Grant[]
}

/**
 * The caller with this key, and whether the token was issued for it and is neither expired, revoked nor, where that ends it, unused for
 * `idleMs` at `at`; undefined
 * when the key is unknown, revoked, expired or of a disabled account. Secrets are compared as hashes, so the time of the comparison
 * reveals nothing of them.
 */
export async function findCaller(
  db: Db,
  { apiKey, token, at, idleMs }: { apiKey: string; token: string; at: Date; idleMs?: number | undefined },
): Promise<{ caller: Caller; tokenValid: boolean } | undefined> {
  const { rows } = await db.query<Caller & { readonly tokenValid: boolean }>(
    `select k.id as key_id, k.account_id, lower(a.email) as account, k.scope, k.last_used_at,
        t.token_hash is not null as token_valid,
        array(select operation from account_grant g where g.account_id = k.account_id) as grants
      from api_key k
        join account a on a.id = k.account_id
        left join access_token t on t.token_hash = $2 and t.api_key_id = k.id and t.expires_at > $3
          and ($4::timestamptz is null or coalesce(t.last_used_at, t.issued_at) > $4)
      where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)
        and a.disabled_at is null`,
    [secretHash(apiKey), secretHash(token), at, idleMs === undefined ? null : new Date(at.getTime() - idleMs)],
    'find-caller',
  )
  if (!rows[0]) return undefined
  const { tokenValid, ...caller } = rows[0]
  return { caller, tokenValid }
}

const useWrittenAfterMs = 5 * 60_000

/** Records that a token was used, unless that was recorded within the last five minutes. */
export async function recordTokenUse(db: Db, token: string, at: Date): Promise<void> {
  await db.query(
    'update access_token set last_used_at = $2 where token_hash = $1 and coalesce(last_used_at, issued_at) <= $3',
    [secretHash(token), at, new Date(at.getTime() - useWrittenAfterMs)],
    'record-token-use',
  )
}

/** Ends a token of this key, if it exists. */
export async function endToken(db: Db, { token, keyId }: { token: string; keyId: number }): Promise<void> {
  await db.query('delete from access_token where token_hash = $1 and api_key_id = $2', [secretHash(token), keyId])
}
