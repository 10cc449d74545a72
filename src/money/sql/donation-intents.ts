import type { Donation, ProjectTotals } from '../../kernel/donation.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { type Db, isDataError, sqlState } from '../../platform/database/connection.js'
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

/** An intent in the books; `attempt`: how often its donation was tried, this time included. */
export type RecordedIntent = { readonly id: number; readonly attempt: number; readonly lease: HeldUntil }

/** Until when a donation or refund belongs to who has taken it: that alone may give it up. As PostgreSQL writes it, to the microsecond. */
export type HeldUntil = string

/**
 * Records intents, their donors and their first events, in one statement that is durable when it returns, in the order of the
 * intents. A donation of the same reference that failed becomes the new one. Undefined: the project takes no donations, or
 * the idempotency key or the reference is taken. PostgreSQL's message about a refused value may quote a donor, so it is not
 * passed on.
 */
export async function recordIntents(
  db: Db,
  intents: readonly DonationIntent[],
): Promise<(RecordedIntent | undefined)[]> {
  // Of requests that came twice at the same moment the first counts.
  const first = new Map(intents.toReversed().map((intent) => [intent.reference, intent]))
  const column = <T>(value: (intent: DonationIntent) => T) => [...first.values()].map(value)
  const written = db.query<RecordedIntent & { readonly reference: string }>(
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
  const recorded = new Map(rows.map(({ reference, ...intent }) => [reference, intent]))
  return intents.map((intent) => (first.get(intent.reference) === intent ? recorded.get(intent.reference) : undefined))
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
  ), tried as (
    update donation d set project_id = g.project_id, amount = g.amount, addon = g.addon, fee = g.fee,
      currency = g.currency, status = 'received', gateway = g.gateway, api_key_id = g.api_key_id,
      idempotency_key = g.idempotency_key, transaction_id = g.transaction_id, refcode = g.refcode,
      partner_code = g.partner_code, newsletter_platform = g.newsletter_platform,
      newsletter_charity = g.newsletter_charity,
      lease_until = clock_timestamp() + make_interval(secs => g.lease_seconds)
    from given g join project p on p.id = g.project_id and p.active and not p.paused
    -- One whose late charge is given back is over.
    where d.reference = g.reference and d.status = 'failed' and d.charge_id is null
      and not exists (select from donation o where o.api_key_id = g.api_key_id
        and o.idempotency_key = g.idempotency_key and o.status <> 'failed')
    returning d.id, d.reference, g.at, d.lease_until,
      (select count(*)::integer from donation_event e where e.donation_id = d.id and e.kind = 'received') + 1 as attempt
  ), entered as (
    insert into donation (project_id, amount, addon, fee, currency, source, status, reference, gateway, api_key_id,
      idempotency_key, transaction_id, refcode, partner_code, newsletter_platform, newsletter_charity, received_at,
      lease_until)
    select g.project_id, g.amount, g.addon, g.fee, g.currency, 'local', 'received', g.reference, g.gateway,
      g.api_key_id, g.idempotency_key, g.transaction_id, g.refcode, g.partner_code, g.newsletter_platform,
      g.newsletter_charity, g.at, clock_timestamp() + make_interval(secs => g.lease_seconds)
    from given g join project p on p.id = g.project_id and p.active and not p.paused
    where not exists (select from tried t where t.reference = g.reference)
    order by g.api_key_id, g.idempotency_key
    on conflict do nothing
    returning id, reference, received_at, lease_until
  ), intent as (
    select id, reference, at, attempt, lease_until from tried
    union all select id, reference, received_at, 1, lease_until from entered
  ), event as (
    insert into donation_event (donation_id, kind, at) select id, 'received', at from intent
  ), giver as (
    insert into donor (donation_id, key_id, wrapped_key, sealed, email_hash, payload_salt, payload_hash)
    select i.id, g.key_id, g.wrapped_key, g.sealed, g.email_hash, g.payload_salt, g.payload_hash
    from intent i join given g using (reference)
    on conflict (donation_id) do update set key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
      sealed = excluded.sealed, email_hash = excluded.email_hash, payload_salt = excluded.payload_salt,
      payload_hash = excluded.payload_hash, email = null, details = null
  )
  select id, reference, attempt, lease_until::text as lease from intent`

/** An earlier donation with the same idempotency key, as a repeated request needs it. */
export type EarlierDonation = {
  readonly donation: Donation
  /** The project's totals in the first answer; present once it has settled. */
  readonly totals?: ProjectTotals | undefined
  /** Whether the time is over in which its charge may still turn up at the gateway. */
  readonly leaseOver: boolean
  /** Absent: the donor has been erased, or the donation was entered again from its charge. */
  readonly payload?: PayloadProof | undefined
  /** Absent: the key is not known, since the donation was entered again from its charge or came without accounts. */
  readonly keyId?: number | undefined
  /** The processor's name for its charge; of a failed donation: of one that came late and is given back. */
  readonly chargeId?: string | undefined
}

type EarlierRow = Donation & {
  readonly leaseOver: boolean
  readonly totals?: ProjectTotals
  readonly salt?: Buffer
  readonly hash?: Buffer
  readonly sealKeyId?: string
  readonly keyId?: number
  readonly chargeId?: string
  readonly wrappedKey?: Buffer
}

const selectEarlier = `
  select ${donationColumns}, coalesce(d.lease_until < clock_timestamp(), true) as lease_over,
    e.details || jsonb_build_object('projectId', d.project_id) as totals, p.payload_salt as salt, p.payload_hash as hash,
    p.key_id as seal_key_id, p.wrapped_key, d.api_key_id as key_id, d.charge_id
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

/** The donation with one of these references. */
export async function findDonationByReference(
  db: Db,
  references: readonly string[],
): Promise<EarlierDonation | undefined> {
  const { rows } = await db.query<EarlierRow>(
    `${selectEarlier} where d.reference = any ($1::text[]) order by d.status = 'failed', d.id limit 1`,
    [references],
  )
  return rows[0] && toEarlier(rows[0])
}

/** The donation with this id, with what a repeated request needs. */
export async function findEarlierDonation(db: Db, id: number): Promise<EarlierDonation | undefined> {
  const { rows } = await db.query<EarlierRow>(`${selectEarlier} where d.id = $1`, [id])
  return rows[0] && toEarlier(rows[0])
}

function toEarlier(row: EarlierRow): EarlierDonation {
  const { leaseOver, totals, salt, hash, sealKeyId, wrappedKey, keyId, chargeId, ...donation } = row
  const sealed = sealKeyId !== undefined && wrappedKey ? { keyId: sealKeyId, wrappedKey } : undefined
  return { donation, leaseOver, totals, payload: salt && hash && { salt, hash, sealed }, keyId, chargeId }
}

/**
 * Assigns a donation whose key is not known to a request that proved to be its own, with the donor where none is known.
 * Without an effect when another request was first.
 */
export async function claimDonation(db: Db, id: number, claim: DonationIntent): Promise<void> {
  const { donor } = claim
  await db.query(
    `with claimed as (
        update donation set api_key_id = $2, idempotency_key = $3, transaction_id = $4, refcode = $5, partner_code = $6,
          newsletter_platform = $7, newsletter_charity = $8
        where id = $1 and api_key_id is null
          and not exists (select from donation where api_key_id = $2 and idempotency_key = $3 and status <> 'failed')
        returning id
      )
      insert into donor (donation_id, key_id, wrapped_key, sealed, email_hash, payload_salt, payload_hash)
      select id, $9, $10, $11, $12, $13, $14 from claimed on conflict (donation_id) do nothing`,
    [
      ...[id, claim.keyId, claim.idempotencyKey, claim.transactionId ?? null, claim.refcode, claim.partnerCode ?? null],
      ...[claim.newsletterPlatform, claim.newsletterCharity],
      ...[donor.keyId, donor.wrappedKey, donor.sealed, donor.emailHash, donor.payloadSalt, donor.payloadHash],
    ],
  )
}

/** Takes over an open donation whose lease is over; undefined: another process has it, or it is no longer open. */
export async function takeOverIntent(db: Db, id: number, leaseSeconds: number): Promise<HeldUntil | undefined> {
  const { rows } = await db.query<{ lease: HeldUntil }>(
    `update donation set lease_until = clock_timestamp() + make_interval(secs => $2)
      where id = $1 and status = 'received' and lease_until < clock_timestamp() returning lease_until::text as lease`,
    [id, leaseSeconds],
  )
  return rows[0]?.lease
}

/** A donation that was taken over. */
export type TakenOver = Donation & { readonly lease: HeldUntil }

/** Takes over donations whose lease is over, oldest first: open ones, or those that failed and are looked up once more. */
export async function takeOverDonations(
  db: Db,
  status: 'received' | 'failed',
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<TakenOver[]> {
  // The status stands in the text, so that the partial index of its donations fits.
  const { rows } = await db.query<TakenOver>(
    `with due as (
        select id from donation where status = '${status}' and lease_until < clock_timestamp()
        order by lease_until, id limit $1 for update skip locked)
      update donation d set lease_until = clock_timestamp() + make_interval(secs => $2) from due where d.id = due.id
      returning ${donationColumns}, d.lease_until::text as lease`,
    [limit, leaseSeconds],
  )
  return rows
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
  return rows[0]
}
