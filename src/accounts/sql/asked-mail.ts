import type { Db } from '../../platform/database/connection.js'
import type { Subject } from './throttle-counts.js'

const [hour, day] = [3_600_000, 86_400_000]

/** How many messages of the newest ones may be younger than this. */
const limits = [
  { most: 3, withinMs: hour, unwanted: false },
  { most: 6, withinMs: day, unwanted: false },
  { most: 3, withinMs: 30 * day, unwanted: true },
] as const

/**
 * Enters that a message to an address is asked for; returns after how many seconds one may be, 0: now. `fromOwner`: only its
 * owner can have asked, as for a new password; else three that nobody confirmed are the last ones for a month. Call it in a
 * transaction: requests for one address wait for each other.
 */
export async function askForMail(
  db: Db,
  subject: Subject,
  { at, fromOwner = false }: { readonly at: Date; readonly fromOwner?: boolean },
): Promise<number> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [subject.toString('hex')])
  const { rows } = await db.query<{ askedAt: Date; wanted: boolean }>(
    `with old as (
        delete from asked_mail where id in (
          select id from asked_mail where asked_at < $2::timestamptz - interval '31 days' order by asked_at limit 10))
      select asked_at, wanted from asked_mail where subject = $1 order by asked_at desc limit 100`,
    [subject, at],
  )
  const waits = limits.map(({ most, withinMs, unwanted }) => {
    if (unwanted && fromOwner) return 0
    const counted = unwanted ? rows.filter(({ wanted }) => !wanted) : rows
    const first = counted[most - 1]
    return first ? first.askedAt.getTime() + withinMs - at.getTime() : 0
  })
  const waitMs = Math.max(0, ...waits)
  if (waitMs > 0) return Math.ceil(waitMs / 1000)
  await db.query('insert into asked_mail (subject, asked_at, wanted) values ($1, $2, $3)', [subject, at, fromOwner])
  return 0
}

/** Enters that the owner of an address wants the messages that were asked for. */
export async function recordWantedMail(db: Db, subject: Subject): Promise<void> {
  await db.query('update asked_mail set wanted = true where subject = $1 and not wanted', [subject])
}
