import type { IsoDate } from '../../kernel/dates.js'
import type { Donation } from '../../kernel/donation.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { donationColumns } from './donation-columns.js'
import type { HeldUntil } from './donation-intents.js'

/** `chargeback`: the processor took the money back; `failure`: it never got the money that it had approved. */
export type RefundKind = 'refund' | 'chargeback' | 'failure'

/** A refund in the books, done or not. */
export type RefundIntent = {
  readonly id: number
  readonly reference: string
  readonly kind: RefundKind
  readonly donation: Donation
  readonly chargeId: string | undefined
  readonly lease: HeldUntil
  /** What is given back of the amount. */
  readonly amount: Decimal
  /** What is given back of the tip. */
  readonly addon: Decimal
}

/** What a refund is asked for. */
export type RefundRequest = {
  readonly donationId: number
  readonly reference: string
  readonly kind: RefundKind
  /** Of the amount; undefined: all that is left of it, and the tip. */
  readonly amount: Decimal | undefined
  readonly at: Date
  readonly leaseSeconds: number
}

/**
 * Records a refund before money moves; call it in a transaction. Throws `not-found` for an unknown donation and
 * `request-invalid` when it cannot be given back: not settled, less is left, or another refund of it is under way.
 */
export async function recordRefundIntent(db: Db, request: RefundRequest): Promise<RefundIntent> {
  const { donationId } = request
  const { rows } = await db.query<
    Donation & { readonly chargeId?: string; readonly left: Decimal; readonly enough: boolean; readonly open: boolean }
  >(
    `select ${donationColumns}, d.charge_id, d.amount - d.refunded as left,
        coalesce($2::numeric, d.amount - d.refunded) <= d.amount - d.refunded and d.amount > d.refunded as enough,
        exists (select from donation_refund r where r.donation_id = d.id and r.done_at is null) as open
      from donation d where d.id = $1 for update`,
    [donationId, request.amount],
  )
  if (!rows[0]) throw new ServiceError('not-found', `there is no donation ${donationId}`)
  const { chargeId, left, enough, open, ...donation } = rows[0]
  if (donation.reference === undefined) {
    throw refuse('a donation that was paid here', `donation ${donationId} was not paid here`)
  }
  if (donation.status !== 'settled' && donation.status !== 'refunded') {
    throw refuse('a donation that has settled', `donation ${donationId} is ${donation.status}`)
  }
  if (open) throw refuse('no other refund under way', `a refund of donation ${donationId} is not finished yet`)
  if (!enough) throw refuse(`at most ${left}, which is left of donation ${donationId}`, request.amount ?? 'everything')
  const amount = request.amount ?? left
  const addon = request.amount === undefined ? donation.addon : ('0' as Decimal)
  const inserted = await db.query<{ id: number; lease: HeldUntil }>(
    `insert into donation_refund (donation_id, reference, kind, amount, addon, requested_at, lease_until)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7))
      returning id, lease_until::text as lease`,
    [donationId, request.reference, request.kind, amount, addon, request.at, request.leaseSeconds],
  )
  return {
    ...(inserted.rows[0] ?? { id: 0, lease: '' }),
    reference: request.reference,
    kind: request.kind,
    donation,
    chargeId,
    amount,
    addon,
  }
}

/**
 * What was given back since an instant, or is to be, in the books' currency and with tips; what others give back meanwhile waits
 * until the end of the transaction.
 */
export async function sumRefundsSince(db: Db, since: Date): Promise<Decimal> {
  await db.query(`select pg_advisory_xact_lock(hashtext('sum of refunds'))`)
  const { rows } = await db.query<{ sum: Decimal }>(
    `select coalesce(sum(round((r.amount + r.addon) * coalesce(d.settled_amount / d.amount, 1), 3)), 0) as sum
      from donation_refund r join donation d on d.id = r.donation_id
      where r.kind = 'refund' and r.requested_at >= $1`,
    [since],
  )
  return rows[0]?.sum ?? ('0' as Decimal)
}

function refuse(expected: string, got: string): ServiceError {
  return new ServiceError('request-invalid', `expected ${expected}; got: ${got}`, {
    problems: [{ field: 'donation', expected, got }],
  })
}

/**
 * Enters a refund that has been made in the books: a negative amount of its own in the month of the refund, the project's
 * totals, and the same share of the fee (rounded to `places`, those of the books' currency), all in one statement. A donation stops counting once all of
 * it was given back. False: it was entered before.
 */
export async function recordRefundDone(
  db: Db,
  {
    id,
    at,
    day,
    places,
    mails,
  }: {
    readonly id: number
    readonly at: Date
    readonly day: IsoDate
    readonly places: number
    /** Whether the donor is told. */
    readonly mails: boolean
  },
): Promise<boolean> {
  const { rows } = await db.query<{ id: number }>(enterRefundDone, [id, at, day, places, mails])
  return rows.length > 0
}

// The fee given back, and of a charge in another currency the amount, is the difference of two rounded shares, so that a full
// refund in parts leaves no rest. What currencies have become worth meanwhile is the platform's, not the project's.
const enterRefundDone = `
  with due as (
    select id, donation_id, kind, amount, reference from donation_refund where id = $1 and done_at is null for update
  ), given_back as (
    update donation d set status = 'refunded', refunded = d.refunded + r.amount
    from due r where d.id = r.donation_id
    returning d.id, d.project_id, d.funder_id, coalesce(d.settled_currency, d.currency) as currency, r.amount as charged,
      r.kind, r.reference, r.id as refund_id,
      case when d.refunded = d.amount and r.amount > 0 then 1 else 0 end as whole,
      case when d.settled_amount is null then r.amount else round(d.settled_amount * d.refunded / d.amount, $4)
        - round(d.settled_amount * (d.refunded - r.amount) / d.amount, $4) end as amount,
      round(d.fee * d.refunded / d.amount, $4) - round(d.fee * (d.refunded - r.amount) / d.amount, $4) as fee
  ), done as (
    update donation_refund r set done_at = $2, settled_amount = nullif(g.amount, g.charged)
    from given_back g where r.id = g.refund_id
  ), totals as (
    update project p set funding = p.funding - g.amount,
      number_of_donations = greatest(p.number_of_donations - g.whole, 0),
      totals_changed_at = greatest(p.totals_changed_at, $2::timestamptz),
      remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding + g.amount, 0) end
    from given_back g where p.id = g.project_id
    returning g.*
  ), months as (
    insert into donation_month (project_id, month, currency, kind, source, funder_id, amount, count, last_on, itemised)
    select t.project_id, date_trunc('month', $3::date)::date, t.currency, part.kind, 'local', t.funder_id, -part.amount,
      part.count, $3, -part.amount
    from totals t, lateral (values ('fee', t.fee, 0), ('refund', t.amount, t.whole)) part (kind, amount, count)
    where part.amount > 0
    on conflict (project_id, month, currency, kind, source, funder_id) do update set
      amount = donation_month.amount + excluded.amount, count = donation_month.count + excluded.count,
      last_on = greatest(donation_month.last_on, excluded.last_on),
      itemised = donation_month.itemised + excluded.itemised
  ), mail as (
    -- Who disputes a charge knows that it went back.
    insert into donor_mail (donation_id, kind, subject, next_at)
    select id, case kind when 'failure' then 'charge-failed' else 'refund' end, refund_id::text, $2
    from given_back where $5::boolean and kind <> 'chargeback'
    on conflict do nothing
  ), event as (
    insert into donation_event (donation_id, kind, at, details)
    select id, 'refunded', $2, jsonb_build_object('kind', kind, 'amount', charged::text, 'fee', fee::text,
      'reference', reference) from totals
  )
  select id from totals`

/** Money that went back at the processor, for the books. */
export type OutsideRefund = {
  readonly donationId: number
  /** The processor's id of it. */
  readonly reference: string
  readonly kind: RefundKind
  readonly amount: Decimal
  readonly addon: Decimal
  readonly at: Date
  readonly day: IsoDate
  readonly places: number
  readonly mails: boolean
}

/** Enters money that went back without a request of ours, like a refund that has been made; call it in a transaction. */
export async function recordOutsideRefund(db: Db, refund: OutsideRefund): Promise<void> {
  const { donationId, reference, kind, amount, addon, at } = refund
  const { rows } = await db.query<{ id: number }>(
    `insert into donation_refund (donation_id, reference, kind, amount, addon, requested_at, lease_until)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp()) returning id`,
    [donationId, reference, kind, amount, addon, at],
  )
  await recordRefundDone(db, { ...refund, id: rows[0]?.id ?? 0 })
}

/** Removes a refund that the gateway refused; false: it is done already, or another process had taken it over. */
export async function cancelRefund(db: Db, { id, lease }: Pick<RefundIntent, 'id' | 'lease'>): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from donation_refund where id = $1 and done_at is null and lease_until = $2::timestamptz',
    [id, lease],
  )
  return rowCount > 0
}

/** Takes over the refund that was left unfinished longest; undefined: there is none whose lease is over. */
export async function takeOverOpenRefund(db: Db, leaseSeconds: number): Promise<RefundIntent | undefined> {
  const { rows } = await db.query<Donation & { readonly refund: Omit<RefundIntent, 'donation'> }>(
    `with due as (
        select id from donation_refund where done_at is null and lease_until < clock_timestamp()
        order by lease_until, id limit 1 for update skip locked
      ), taken as (
        update donation_refund r set lease_until = clock_timestamp() + make_interval(secs => $1)
        from due where r.id = due.id returning r.*)
      select ${donationColumns}, json_build_object('id', r.id, 'reference', r.reference, 'kind', r.kind,
        'chargeId', d.charge_id, 'amount', r.amount::text, 'addon', r.addon::text,
        'lease', r.lease_until::text) as refund
      from taken r join donation d on d.id = r.donation_id`,
    [leaseSeconds],
  )
  if (!rows[0]) return undefined
  const { refund, ...donation } = rows[0]
  return { ...refund, donation }
}

/**
 * Where a refund of the books is no longer at the processor, and one of the same amount is there that the books do not know, that
 * one was made in its place: the booked one gets its id, so that a comparison finds both.
 */
export async function renameRepeatedRefunds(
  db: Db,
  donationId: number,
  refunds: readonly { readonly id: string; readonly reference?: string | undefined; readonly amount: Decimal }[],
): Promise<void> {
  const present = refunds.flatMap(({ id, reference }) => [id, reference ?? id])
  for (const { id, reference = id, amount } of refunds) {
    await db.query(
      `update donation_refund set reference = $2 where id = (
          select min(id) from donation_refund where donation_id = $1 and kind = 'refund' and done_at is not null
            and amount + addon = $4 and reference <> all ($5::text[]))
        and not exists (select from donation_refund where donation_id = $1 and reference in ($2, $3))`,
      [donationId, id, reference, amount, present],
    )
  }
}
