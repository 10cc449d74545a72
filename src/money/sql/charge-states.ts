import type { Donation } from '../../kernel/donation.js'
import type { Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { donationColumns } from './donation-columns.js'

/** A donation as the books have it, to be compared with its charge at the processor. */
export type BookedCharge = {
  readonly donation: Donation
  readonly chargeId?: string | undefined
  /** What has been given back of amount and tip. */
  readonly givenBack: Decimal
  /** Our references of refunds, and the processor's ids of those that it made by itself. */
  readonly references: readonly string[]
  /** Whether a refund is under way. */
  readonly open: boolean
  /** When the last refund was entered. */
  readonly lastBackAt?: Date | undefined
  /** When its charge was last followed, by the database's clock. */
  readonly followedAt?: Date | undefined
  /** How it was when it was last followed. */
  readonly last?: { readonly progress: string; readonly dispute?: string; readonly difference?: string } | undefined
}

/** What is known of a charge after it was followed. */
export type FollowedCharge = {
  readonly donationId: number
  readonly progress: string
  readonly dispute: string | undefined
  readonly difference: string | undefined
  /** When its events happened, for the history of the donation. */
  readonly at: Date
}

/** The donation that was charged at this gateway under this reference. */
export async function findChargedDonation(
  db: Db,
  { gateway, reference }: { readonly gateway: string; readonly reference: string },
): Promise<Donation | undefined> {
  const { rows } = await db.query<Donation>(
    `select ${donationColumns} from donation d where d.reference = $1 and d.gateway = $2`,
    [reference, gateway],
  )
  return rows[0]
}

/** Reads and locks what the books have of a donation; call it in a transaction. */
export async function lockBookedCharge(db: Db, donationId: number): Promise<BookedCharge> {
  await db.query('select from donation where id = $1 for update', [donationId])
  const { rows } = await db.query<Donation & Omit<BookedCharge, 'donation'>>(
    `select ${donationColumns}, d.charge_id, r.given_back, r."references", r.open,
        r.last_back_at, s.read_at as followed_at, case when s.donation_id is not null then json_strip_nulls(json_build_object('progress', s.progress,
          'dispute', s.dispute, 'difference', s.difference)) end as last
      from donation d left join charge_state s on s.donation_id = d.id, lateral (
        select coalesce(sum(amount + addon) filter (where done_at is not null), 0) as given_back,
          coalesce(array_agg(reference), '{}') as "references", coalesce(bool_or(done_at is null), false) as open,
          max(done_at) as last_back_at
        from donation_refund where donation_id = d.id) r
      where d.id = $1`,
    [donationId],
  )
  if (!rows[0]) throw new Error(`donation ${donationId} vanished`)
  const { chargeId, givenBack, references, open, lastBackAt, followedAt, last, ...donation } = rows[0]
  return { donation, chargeId, givenBack, references, open, lastBackAt, followedAt, last }
}

/** Keeps what the processor has of a charge, with an event for each change that a donation's history shows. */
export async function recordFollowedCharge(
  db: Db,
  charge: FollowedCharge,
  events: readonly { readonly kind: 'confirmed' | 'disputed'; readonly details: Readonly<Record<string, string>> }[],
): Promise<void> {
  const { donationId, progress, dispute, difference, at } = charge
  await db.query(
    `insert into charge_state (donation_id, progress, dispute, difference, read_at) values ($1, $2, $3, $4,
        date_trunc('milliseconds', clock_timestamp()))
      on conflict (donation_id) do update set progress = excluded.progress, dispute = excluded.dispute,
        difference = excluded.difference, read_at = excluded.read_at`,
    [donationId, progress, dispute ?? null, difference ?? null],
  )
  for (const { kind, details } of events) {
    await db.query('insert into donation_event (donation_id, kind, at, details) values ($1, $2, $3, $4)', [
      donationId,
      kind,
      at,
      JSON.stringify(details),
    ])
  }
}

/** Makes a failed donation due for another look at the processor. */
export async function reopenFailedDonation(db: Db, id: number): Promise<void> {
  await db.query(
    `update donation set lease_until = clock_timestamp() where id = $1 and status = 'failed' and lease_until is null`,
    [id],
  )
}

/** What a person has to look at: an open dispute, or a difference that no operator has dealt with. */
export type ChargeAttention = {
  readonly donationId: number
  readonly disputed: boolean
  readonly difference?: string | undefined
}

/** `donationId`: only of this donation. */
export async function listChargeAttention(db: Db, limit: number, donationId?: number): Promise<ChargeAttention[]> {
  const { rows } = await db.query<ChargeAttention>(
    `select donation_id, coalesce(dispute = 'open', false) as disputed,
        case when difference is distinct from accepted then difference end as difference
      from charge_state
      where (difference is not null or dispute = 'open')
        and (difference is distinct from accepted or dispute = 'open') and ($2::bigint is null or donation_id = $2)
      order by donation_id limit $1`,
    [limit, donationId ?? null],
  )
  return rows
}

/** Accepts the difference of a charge until it changes, and returns it. */
export async function acceptDifference(db: Db, donationId: number): Promise<string | undefined> {
  const { rows } = await db.query<{ difference: string }>(
    `update charge_state set accepted = difference where donation_id = $1 and difference is not null returning difference`,
    [donationId],
  )
  return rows[0]?.difference
}

/** The charge of a donation and the gateway that made it. */
export async function findChargeOf(
  db: Db,
  donationId: number,
): Promise<{ readonly gateway?: string | undefined; readonly chargeId?: string | undefined } | undefined> {
  const { rows } = await db.query<{ gateway?: string; chargeId?: string }>(
    `select gateway, charge_id from donation where id = $1`,
    [donationId],
  )
  return rows[0]
}
