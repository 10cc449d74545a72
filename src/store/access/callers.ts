import type { Db } from '../database/connection.js'
import type { Grant } from './account-administration.js'
import { secretHash } from './accounts.js'

/** Who makes a secure request. */
export type Caller = {
  readonly keyId: number
  readonly accountId: number
  readonly grants: readonly Grant[]
}

/**
 * The caller with this key, and whether the token was issued for it, neither expired nor revoked by `at`; undefined when
 * the key is unknown, revoked or of a disabled account. Secrets are compared as hashes, so the comparison's time tells
 * nothing of them.
 */
export async function findCaller(
  db: Db,
  { apiKey, token, at }: { apiKey: string; token: string; at: Date },
): Promise<{ caller: Caller; tokenValid: boolean } | undefined> {
  const { rows } = await db.query<{ id: number; account_id: number; token_valid: boolean; grants: Grant[] }>(
    `select k.id, k.account_id, t.token_hash is not null as token_valid,
        array(select operation from account_grant g where g.account_id = k.account_id) as grants
      from api_key k
        join account a on a.id = k.account_id
        left join access_token t on t.token_hash = $2 and t.api_key_id = k.id and t.expires_at > $3
      where k.key_hash = $1 and k.revoked_at is null and a.disabled_at is null`,
    [secretHash(apiKey), secretHash(token), at],
    'find-caller',
  )
  const row = rows[0]
  if (!row) return undefined
  return {
    caller: { keyId: row.id, accountId: row.account_id, grants: row.grants },
    tokenValid: row.token_valid,
  }
}

/** Ends a token of this key; one that is not there needs no ending. */
export async function endToken(db: Db, { token, keyId }: { token: string; keyId: number }): Promise<void> {
  await db.query('delete from access_token where token_hash = $1 and api_key_id = $2', [secretHash(token), keyId])
}
