import type { Donation, ProjectTotals } from '../../kernel/donation.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { type Db, isDataError, sqlState } from '../../platform/database/connection.js'
import { withoutNulls } from '../../platform/database/without-nulls.js'
import { donationColumns } from './donation-columns.js'
import type { PayloadProof, SealedDonor } from './donors.js'

/** A donation that is about to be paid; only `donor` holds the donor, encrypted. */
export type DonationIntent = {
  readonly projectId: number
  readonly amount: Decimal
  readonly addon: Decimal
  readonly fee: Decimal
  readonly currency: CurrencyCode
  readonly reference: string
  readonly gateway: string
  readonly keyId: number
  readonly idempotencyKey: string
  readonly transactionId: string | undefined
  readonly refcode: string
  readonly partnerCode: string | undefined
  readonly newsletterPlatform: boolean
  readonly newsletterCharity: boolean
  readonly at: Date
  /** How long a charge may be under way, or may still turn up at the gateway. */
  readonly leaseSeconds: number
  readonly donor: SealedDonor & { readonly payloadSalt: Buffer; readonly payloadHash: Buffer }
}

/**
 * Records intents, their donors and their first events, in one statement that is durable when it returns; returns the
 * donations' ids in the order of the intents. Undefined: the project takes no donations, or the idempotency key is
 * taken. PostgreSQL's message about a refused value may quote a donor, so it is not passed on.
 */
export async function recordIntents(db: Db, intents: readonly DonationIntent[]): Promise<(number | undefined)[]> {
  const column = <T>(value: (intent: DonationIntent) => T) => intents.map(value)
  const written = db.query<{ id: number; reference: string }>(
    insertIntents,
    [
      ...[column((i) => i.projectId), column((i) => i.amount), column((i) => i.addon), column((i) => i.fee)],
      ...[column((i) => i.currency), column((i) => i.reference), column((i) => i.gateway), column((i) => i.keyId)],
      ...[column((i) => i.idempotencyKey), column((i) => i.transactionId ?? null), column((i) => i.refcode)],
      ...[
        column((i) => i.partnerCode ?? null),
        column((i) => i.newsletterPlatform),
        column((i) => i.newsletterCharity),
      ],
      ...[column((i) => i.at), column((i) => i.leaseSeconds), column((i) => i.donor.keyId)],
      ...[column((i) => i.donor.wrappedKey), column((i) => i.donor.sealed), column((i) => i.donor.emailHash)],
      ...[column((i) => i.donor.payloadSalt), column((i) => i.donor.payloadHash)],
    ],
    'record-donation-intents',
  )
  const { rows } = await written.catch((error: unknown) => {
    throw isDataError(error) ? new Error(`the database refused a donation with SQLSTATE ${sqlState(error)}`) : error
  })
  const ids = new Map(rows.map((row) => [row.reference, row.id]))
  return intents.map(({ reference }) => ids.get(reference))
}

const insertIntents = `
  with given as (
    select * from unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::numeric[], $5::text[], $6::text[], $7::text[],
      $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[], $14::boolean[],
      $15::timestamptz[], $16::float8[], $17::text[], $18::bytea[], $19::bytea[], $20::bytea[], $21::bytea[],
      $22::bytea[])
      as g (project_id, amount, addon, fee, currency, reference, gateway, api_key_id, idempotency_key, transaction_id,
        refcode, partner_code, newsletter_platform, newsletter_charity, at, lease_seconds, key_id, wrapped_key, sealed,
        email_hash, payload_salt, payload_hash)
  ), intent as (
    insert into donation (project_id, amount, addon, fee, currency, source, status, reference, gateway, api_key_id,
      idempotency_key, transaction_id, refcode, partner_code, newsletter_platform, newsletter_charity, received_at,
      lease_until)
    select g.project_id, g.amount, g.addon, g.fee, g.currency, 'local', 'received', g.reference, g.gateway,
      g.api_key_id, g.idempotency_key, g.transaction_id, g.refcode, g.partner_code, g.newsletter_platform,
      g.newsletter_charity, g.at, clock_timestamp() + make_interval(secs => g.lease_seconds)
    from given g join project p on p.id = g.project_id and p.active and not p.paused
    order by g.api_key_id, g.idempotency_key
    on conflict (api_key_id, idempotency_key) where idempotency_key is not null and status <> 'failed' do nothing
    returning id, reference, received_at
  ), event as (
    insert into donation_event (donation_id, kind, at) select id, 'received', received_at from intent
  ), giver as (
    insert into donor (donation_id, key_id, wrapped_key, sealed, email_hash, payload_salt, payload_hash)
    select i.id, g.key_id, g.wrapped_key, g.sealed, g.email_hash, g.payload_salt, g.payload_hash
    from intent i join given g using (reference)
  )
  select id, reference from intent`

/** An earlier donation with the same idempotency key, as a repeated request needs it. */
export type EarlierDonation = {
  readonly donation: Donation
  /** The project's totals in the first answer; present once it has settled. */
  readonly totals?: ProjectTotals | undefined
  /** Whether the time is over in which its charge may still turn up at the gateway. */
  readonly leaseOver: boolean
  /** Absent: the donor has been erased. */
  readonly payload?: PayloadProof | undefined
}

type EarlierRow = Donation & {
  readonly leaseOver: boolean
  readonly totals?: ProjectTotals
  readonly salt?: Buffer
  readonly hash?: Buffer
  readonly keyId?: string
  readonly wrappedKey?: Buffer
}

const selectEarlier = `
  select ${donationColumns}, coalesce(d.lease_until < clock_timestamp(), true) as "leaseOver",
    e.details || jsonb_build_object('projectId', d.project_id) as totals, p.payload_salt as salt, p.payload_hash as hash,
    p.key_id as "keyId", p.wrapped_key as "wrappedKey"
  from donation d
    left join donation_event e on e.donation_id = d.id and e.kind = 'settled'
    left join donor p on p.donation_id = d.id`

/** The donation with this idempotency key; failed ones do not count. */
export async function findDonationByKey(
  db: Db,
  { keyId, idempotencyKey }: { keyId: number; idempotencyKey: string },
): Promise<EarlierDonation | undefined> {
  const { rows } = await db.query<EarlierRow>(
    `${selectEarlier} where d.api_key_id = $1 and d.idempotency_key = $2 and d.status <> 'failed'`,
    [keyId, idempotencyKey],
  )
  return rows[0] && toEarlier(rows[0])
}

/** The donation with this id, with what a repeated request needs. */
export async function findEarlierDonation(db: Db, id: number): Promise<EarlierDonation | undefined> {
  const { rows } = await db.query<EarlierRow>(`${selectEarlier} where d.id = $1`, [id])
  return rows[0] && toEarlier(rows[0])
}

function toEarlier(row: EarlierRow): EarlierDonation {
  const { leaseOver, totals, salt, hash, keyId, wrappedKey, ...donation } = withoutNulls(row)
  const sealed = keyId !== undefined && wrappedKey ? { keyId, wrappedKey } : undefined
  return { donation, leaseOver, totals, payload: salt && hash && { salt, hash, sealed } }
}

/** Takes over an open donation whose lease is over; false: another process has it, or it is no longer open. */
export async function takeOverIntent(db: Db, id: number, leaseSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation set lease_until = clock_timestamp() + make_interval(secs => $2)
      where id = $1 and status = 'received' and lease_until < clock_timestamp()`,
    [id, leaseSeconds],
  )
  return rowCount > 0
}

/** Takes over open donations whose lease is over, oldest first. */
export async function takeOverOpenDonations(
  db: Db,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<Donation[]> {
  const { rows } = await db.query<Donation>(
    `with due as (
        select id from donation where status = 'received' and lease_until < clock_timestamp()
        order by lease_until, id limit $1 for update skip locked)
      update donation d set lease_until = clock_timestamp() + make_interval(secs => $2) from due where d.id = due.id
      returning ${donationColumns}`,
    [limit, leaseSeconds],
  )
  return rows.map(withoutNulls)
}

/** A project as a donor finds it; undefined when no project has this id. */
export async function findDonationTarget(
  db: Db,
  id: number,
): Promise<{ readonly open: boolean; readonly totals: ProjectTotals } | undefined> {
  // Amounts are text in JSON, so that no digit is lost.
  const { rows } = await db.query<{ open: boolean; totals: ProjectTotals }>(
    `select active and not paused as open, json_build_object('projectId', id, 'funding', funding::text,
        'goal', goal::text, 'remaining', remaining::text, 'numberOfDonations', number_of_donations,
        'projectLink', project_link, 'progressReportLink', progress_report_link) as totals
      from project where id = $1`,
    [id],
  )
  return rows[0] && withoutNulls(rows[0])
}
