import { createHash } from 'node:crypto'
import type { Db } from '../database/connection.js'

/** Whom failed sign-ins and new accounts are counted for: the hash of an account, an address, or both. */
export type Subject = Buffer

/** The subject that these parts name. */
export function subjectOf(...parts: readonly string[]): Subject {
  return createHash('sha256').update(parts.join('\0')).digest()
}

/** How much was counted for one subject, and when last. */
export type ThrottleCount = { readonly subject: Subject; readonly count: number; readonly lastAt: Date }

/** A count starts again when nothing was added to it for so long. */
export const forgottenAfterSeconds = 3_600

/** The counts of those subjects that have any. */
export async function listThrottleCounts(db: Db, subjects: readonly Subject[], at: Date): Promise<ThrottleCount[]> {
  const { rows } = await db.query<ThrottleCount>(
    `select subject, attempts as count, last_at as "lastAt" from attempt_count
      where subject = any ($1::bytea[]) and last_at > $2::timestamptz - make_interval(secs => $3)`,
    [subjects, at, forgottenAfterSeconds],
    'list-throttle-counts',
  )
  return rows
}

/** Counts one more for each subject, and removes a few forgotten counts. */
export async function addThrottleCounts(db: Db, subjects: readonly Subject[], at: Date): Promise<void> {
  await db.query(
    `with forgotten as (
        delete from attempt_count where subject in (
          select subject from attempt_count
          where last_at < $2::timestamptz - make_interval(secs => 2 * $3) and subject <> all ($1::bytea[])
          order by last_at limit 10 for update skip locked))
      insert into attempt_count as counted (subject, attempts, last_at)
      select subject, 1, $2 from unnest($1::bytea[]) subject order by subject
      on conflict (subject) do update set
        attempts = case when counted.last_at > excluded.last_at - make_interval(secs => $3)
          then counted.attempts + 1 else 1 end,
        last_at = excluded.last_at`,
    [subjects, at, forgottenAfterSeconds],
    'add-throttle-counts',
  )
}

/** Whether the account of this e-mail has signed in from this place within 90 days. */
export async function isKnownPlace(db: Db, email: string, place: Subject, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from sign_in_place p join account a on a.id = p.account_id
      where lower(a.email) = lower($1) and p.place = $2 and p.last_at > $3::timestamptz - interval '90 days'`,
    [email, place, at],
    'is-known-place',
  )
  return rowCount > 0
}

/** Remembers where the account signed in from, at most once a day, and forgets the failures of this subject. */
export async function recordSignIn(
  db: Db,
  { accountId, place, failures, at }: { accountId: number; place: Subject; failures: Subject; at: Date },
): Promise<void> {
  await db.query(
    `with cleared as (delete from attempt_count where subject = $3),
      old as (delete from sign_in_place
        where account_id = $1 and place <> $2 and last_at < $4::timestamptz - interval '90 days')
      insert into sign_in_place as known (account_id, place, last_at) values ($1, $2, $4)
      on conflict (account_id, place) do update set last_at = excluded.last_at
        where known.last_at < excluded.last_at - interval '1 day'`,
    [accountId, place, failures, at],
    'record-sign-in',
  )
}
