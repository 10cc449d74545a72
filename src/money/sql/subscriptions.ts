import type { Db } from '../../platform/database/connection.js'
import type { SealedDonor } from './donors.js'

/** Somebody who gets the progress reports of a project by mail, or has asked for it. */
export type Subscription = {
  readonly id: number
  readonly projectId: number
  readonly language: string
  readonly requestedAt: Date
  readonly confirmedAt?: Date | undefined
  /** What the encrypted data is bound to. */
  readonly reference: string
  readonly sealed: SealedDonor
}

/** After how long a request that was not confirmed is forgotten. */
const confirmWithinMs = 48 * 3_600_000

type FlatSubscription = Omit<Subscription, 'sealed'> & SealedDonor

const columns = `s.id, s.project_id, s.language, s.requested_at, s.confirmed_at,
  encode(s.token_hash, 'hex') as reference, s.key_id, s.wrapped_key, s.sealed,
  s.email_hash`

function toSubscription<Row extends FlatSubscription>(row: Row) {
  const { keyId, wrappedKey, sealed, emailHash, ...rest } = row
  return { ...rest, sealed: { keyId, wrappedKey, sealed, emailHash } }
}

export type NewSubscription = Pick<Subscription, 'projectId' | 'language' | 'sealed'> & {
  readonly tokenHash: Buffer
  /** Of the e-mail, under each key. */
  readonly emailHashes: readonly Buffer[]
  readonly at: Date
}

/**
 * Enters a request and its message. One that is not confirmed gets its message again; one that is confirmed stays as it is,
 * without a message.
 */
export async function enterSubscription(db: Db, request: NewSubscription): Promise<void> {
  const { projectId, language, tokenHash, sealed, emailHashes, at } = request
  await db.query(
    `with known as (
        update subscription set requested_at = $9
        where project_id = $1 and email_hash = any ($8::bytea[]) and confirmed_at is null returning id)
      , entered as (
        insert into subscription (project_id, token_hash, language, key_id, wrapped_key, sealed, email_hash, requested_at)
        select id, $2, $3, $4, $5, $6, $7, $9 from project where id = $1
          and not exists (select from subscription where project_id = $1 and email_hash = any ($8::bytea[]))
        on conflict (project_id, email_hash) do nothing returning id)
      insert into subscription_mail as m (subscription_id, next_at)
        select id, $9 from known union all select id, $9 from entered
      on conflict (subscription_id, report) do update set state = 'due', tries = 0, next_at = excluded.next_at
        where m.state <> 'sending' or m.next_at < excluded.next_at - interval '1 hour'`,
    [
      ...[projectId, tokenHash, language, sealed.keyId, sealed.wrappedKey, sealed.sealed, sealed.emailHash],
      ...[emailHashes, at],
    ],
  )
}

/** How many subscriptions were asked for since then, to one project and to all. */
export async function countRequests(
  db: Db,
  projectId: number,
  since: Date,
): Promise<{ readonly ofProject: number; readonly ofAll: number }> {
  const { rows } = await db.query<{ ofProject: number; ofAll: number }>(
    `select count(*) filter (where project_id = $1) as of_project, count(*) as of_all
      from subscription where requested_at > $2`,
    [projectId, since],
  )
  return rows[0] ?? { ofProject: 0, ofAll: 0 }
}

/** The subscription that a link leads to; undefined when it has ended, or was not confirmed in time. */
export async function findSubscription(db: Db, tokenHash: Buffer, now: Date): Promise<Subscription | undefined> {
  const { rows } = await db.query<FlatSubscription>(
    `select ${columns} from subscription s
      where s.token_hash = $1 and (s.confirmed_at is not null or s.requested_at > $2)`,
    [tokenHash, new Date(now.getTime() - confirmWithinMs)],
  )
  return rows[0] && toSubscription(rows[0])
}

export async function confirmSubscription(db: Db, id: number, at: Date): Promise<void> {
  await db.query('update subscription set confirmed_at = coalesce(confirmed_at, $2) where id = $1', [id, at])
}

/** Erases what is known of somebody who subscribed. */
export async function endSubscription(db: Db, tokenHash: Buffer): Promise<void> {
  await db.query('delete from subscription where token_hash = $1', [tokenHash])
}

/** The subscriptions of a person, by the hashes of the e-mail under each key. */
export async function findSubscriptionsOf(db: Db, emailHashes: readonly Buffer[]): Promise<Subscription[]> {
  const { rows } = await db.query<FlatSubscription>(
    `select ${columns} from subscription s where s.email_hash = any ($1::bytea[]) order by s.id`,
    [emailHashes],
  )
  return rows.map(toSubscription)
}

/** Erases the subscriptions of a person; returns how many there were. */
export async function eraseSubscriptionsOf(db: Db, emailHashes: readonly Buffer[]): Promise<number> {
  return (await db.query('delete from subscription where email_hash = any ($1::bytea[])', [emailHashes])).rowCount
}

/** How many subscriptions are encrypted with each key. */
export async function countSubscriptionsByKey(
  db: Db,
): Promise<{ readonly keyId: string; readonly subscriptions: number }[]> {
  const { rows } = await db.query<{ keyId: string; subscriptions: number }>(
    'select key_id, count(*) as subscriptions from subscription group by key_id order by key_id',
  )
  return rows
}

/** A part of the subscriptions that are encrypted with one of `oldKeys`, after one of them, locked until the commit. */
export async function lockSubscriptionsToRekey(
  db: Db,
  { oldKeys, after, limit }: { readonly oldKeys: readonly string[]; readonly after: number; readonly limit: number },
): Promise<Subscription[]> {
  const { rows } = await db.query<FlatSubscription>(
    `select ${columns} from subscription s where s.id > $2 and s.key_id = any ($1::text[])
      order by s.id limit $3 for update`,
    [oldKeys, after, limit],
  )
  return rows.map(toSubscription)
}

/** Stores a subscription as it is encrypted now; one that its person has under that key too is removed. */
export async function saveSealedSubscription(
  db: Db,
  { id, projectId, sealed }: Pick<Subscription, 'id' | 'projectId' | 'sealed'>,
): Promise<void> {
  const { keyId, wrappedKey, emailHash } = sealed
  await db.query(
    `with twice as (
        delete from subscription s where id = $1
          and exists (select from subscription o where o.project_id = $2 and o.email_hash = $3 and o.id <> s.id) returning id)
      update subscription set key_id = $4, wrapped_key = $5, email_hash = $3
      where id = $1 and not exists (select from twice)`,
    [id, projectId, emailHash, keyId, wrappedKey],
  )
}

/** A message that is to be mailed now, by who has claimed it. */
export type DueSubscriptionMail = Subscription & {
  readonly mailId: number
  /** The address of the report; empty: the message with the link to confirm. */
  readonly report: string
  readonly tries: number
}

/** Claims the message that is due longest, those with links first; none while `mostAnHour` were sent within an hour. */
export async function claimSubscriptionMail(
  db: Db,
  now: Date,
  mostAnHour: number,
): Promise<DueSubscriptionMail | undefined> {
  const { rows } = await db.query<
    FlatSubscription & { readonly mailId: number; readonly report: string; readonly tries: number }
  >(
    `with due as (
        select id from subscription_mail where state = 'due' and next_at <= $1
          and (select count(*) from subscription_mail where sent_at > $1::timestamptz - interval '1 hour') < $2
        order by report <> '', next_at, id limit 1 for update skip locked)
      update subscription_mail m set state = 'sending', tries = m.tries + 1, next_at = $1
      from due, subscription s where m.id = due.id and s.id = m.subscription_id
      returning ${columns}, m.id as mail_id, m.report, m.tries`,
    [now, mostAnHour],
  )
  return rows[0] && toSubscription(rows[0])
}

/** Projects with subscriptions of which this release was not looked at. */
export async function listUnreadProjects(db: Db, releaseId: string, limit: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select distinct s.project_id as id from subscription s left join followed_project f using (project_id)
      where f.release_id is distinct from $1 order by 1 limit $2`,
    [releaseId, limit],
  )
  return rows.map(({ id }) => id)
}

/** The reports of a project in a release, newest first, by their addresses. */
export type ReportsOfRelease = {
  readonly projectId: number
  readonly releaseId: string
  readonly reports: readonly string[]
}

/**
 * Remembers the reports of a project, and makes mail about the new ones due, `most` of them: to whoever has confirmed.
 * When a project is looked at first, all of its reports are known.
 */
export async function followReports(
  db: Db,
  { projectId, releaseId, reports }: ReportsOfRelease,
  { most, at }: { readonly most: number; readonly at: Date },
): Promise<void> {
  await db.query(
    `with known as (select reports from followed_project where project_id = $1)
      , mails as (
        insert into subscription_mail (subscription_id, report, next_at)
        select s.id, r.address, $4 from known, subscription s, unnest($3::text[]) with ordinality r (address, place)
        where s.project_id = $1 and s.confirmed_at is not null and r.address <> all (known.reports) and r.place <= $5
        order by r.place desc, s.id on conflict do nothing)
      insert into followed_project as f (project_id, release_id, reports) select id, $2, $3 from project where id = $1
      on conflict (project_id) do update set release_id = excluded.release_id,
        reports = array(select unnest(f.reports) union select unnest(excluded.reports))`,
    [projectId, releaseId, reports, at, most],
  )
}
