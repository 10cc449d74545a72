import { hash } from 'node:crypto'
import type { Db } from '../../platform/database/connection.js'

/** Whom failed sign-ins and new accounts are counted for: the hash of an account, an address, or both. */
export type Subject = Buffer

/** The subject that these parts name. */
export function subjectOf(...parts: readonly string[]): Subject {
  return hash('sha256', parts.join('\0'), 'buffer')
}

export type ThrottleCount = { readonly subject: Subject; readonly count: number; readonly lastAt: Date }

/** A count without additions for so long starts again. */
export const forgottenAfterSeconds = 3_600

/** The counts of these subjects, locked until the transaction ends, which it needs. Removes a few forgotten counts. */
export async function lockThrottleCounts(db: Db, subjects: readonly Subject[], at: Date): Promise<ThrottleCount[]> {
  const { rows } = await db.query<ThrottleCount>(
    `with forgotten as (
        delete from attempt_count where subject in (
          select subject from attempt_count
          where last_at < $2::timestamptz - make_interval(secs => 2 * $3) and subject <> all ($1::bytea[])
          order by last_at limit 10 for update skip locked))
      insert into attempt_count as counted (subject, attempts, last_at)
      select subject, 0, $2 from unnest($1::bytea[]) subject order by subject
      on conflict (subject) do update set
        attempts = case when counted.last_at > excluded.last_at - make_interval(secs => $3)
          then counted.attempts else 0 end
      returning subject, attempts as count, last_at`,
    [subjects, at, forgottenAfterSeconds],
    'lock-throttle-counts',
  )
  return rows
}

/** Counts one more for each subject. Needs counts that are locked. */
export async function addThrottleCounts(db: Db, subjects: readonly Subject[], at: Date): Promise<void> {
  await db.query(
    'update attempt_count set attempts = attempts + 1, last_at = $2 where subject = any ($1::bytea[])',
    [subjects, at],
    'add-throttle-counts',
  )
}

/** Undoes one addition to each of these counts; restores a count to which nothing else was added since. */
export async function restoreThrottleCounts(db: Db, before: readonly ThrottleCount[]): Promise<void> {
  await db.query(
    `with locked as (
        select c.subject, b.attempts, b.last_at
        from attempt_count c
          join unnest($1::bytea[], $2::integer[], $3::timestamptz[]) b (subject, attempts, last_at) using (subject)
        order by c.subject for update of c)
      update attempt_count c set attempts = c.attempts - 1,
        last_at = case when c.attempts = locked.attempts + 1 then locked.last_at else c.last_at end
      from locked where locked.subject = c.subject and c.attempts > 0`,
    [before.map(({ subject }) => subject), before.map(({ count }) => count), before.map(({ lastAt }) => lastAt)],
    'restore-throttle-counts',
  )
}

/** Whether the account has signed in from this place within 90 days; the id 0 is no account's. */
export async function isKnownPlace(db: Db, accountId: number, place: Subject, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from sign_in_place
      where account_id = $1 and place = $2 and last_at > $3::timestamptz - interval '90 days'`,
    [accountId, place, at],
    'is-known-place',
  )
  return rowCount > 0
}

/** Records where the account signed in from, at most once a day, and removes the count of `failures`. */
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
