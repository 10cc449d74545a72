import type { IsoDate } from '../../kernel/dates.js'
import type { Decline, ProjectTotals } from '../../kernel/donation.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import type { HeldUntil, TakenOver } from './donation-intents.js'

/** The receipt of a settled donation, and its project's totals after it. */
export type Settlement = {
  readonly receiptNumber: string
  readonly settledAt: Date
  readonly totals: ProjectTotals
}

/** What came of a charge in another currency, in that of the books: the gift, the tip, and the platform's share of the gift. */
export type SettledShare = {
  readonly amount: Decimal
  readonly addon: Decimal
  readonly fee: Decimal
  readonly currency: CurrencyCode
}

/** A payment that was made, for the books. */
export type Payment = {
  readonly id: number
  readonly chargeId: string
  readonly at: Date
  readonly day: IsoDate
  /** Whether the receipt is to be mailed. */
  readonly mailsReceipt: boolean
  /** What goes into the books, where another currency was charged. */
  readonly settled?: SettledShare | undefined
  /** As the processor said it of 3-D Secure. */
  readonly liabilityShifted?: boolean | undefined
}

/**
 * Settles open donations: state, receipt, project totals, month, fee and event in one statement, hence in one
 * transaction of one round trip. Each gets the totals after itself, in the order of the donations' ids. Undefined: the
 * donation is not open (any more). Every writer locks in this order: donations, projects by id, months, versions.
 */
export async function recordSettlements(db: Db, payments: readonly Payment[]): Promise<(Settlement | undefined)[]> {
  const { rows } = await db.query<Settlement & { readonly id: number }>(
    settle,
    [
      ...listsOfEach(payments, 'id', 'chargeId', 'at', 'day', 'mailsReceipt', 'liabilityShifted'),
      payments.map(({ settled }) => settled?.amount ?? null),
      payments.map(({ settled }) => settled?.addon ?? null),
      payments.map(({ settled }) => settled?.fee ?? null),
      payments.map(({ settled }) => settled?.currency ?? null),
    ],
    'settle-donations',
  )
  const settled = new Map(rows.map(({ id, ...settlement }) => [id, settlement]))
  return payments.map(({ id }) => settled.get(id))
}

// Written so that no partial index over open donations fits: a plan that reads all of them to find one is slow.
const isOpen = `status || '' = 'received'`

const settle = `
  with given as (
    select * from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::date[], $5::boolean[],
      $6::boolean[], $7::numeric[], $8::numeric[], $9::numeric[], $10::text[])
      as g (id, charge_id, at, day, mails, liability_shifted, amount, addon, fee, currency)
  ), settled as (
    update donation d set status = 'settled', settled_at = g.at, charge_id = g.charge_id,
      liability_shifted = g.liability_shifted, settled_amount = g.amount, settled_addon = g.addon,
      settled_currency = g.currency, fee = coalesce(g.fee, d.fee),
      receipt_number = 'R' || nextval('receipt_number_seq') || '-GC' || nextval('receipt_contribution_seq') || '-T1'
    from given g where d.id = g.id and d.${isOpen}
    returning d.id, d.project_id, d.funder_id, coalesce(g.amount, d.amount) as amount, d.fee,
      coalesce(g.currency, d.currency) as currency, d.receipt_number, d.settled_at, g.day, g.mails
  ), mail as (
    insert into receipt_mail (donation_id, next_at) select id, settled_at from settled where mails order by id
  ), sums as (
    select project_id, sum(amount) as amount, count(*)::integer as count, max(settled_at) as at
    from settled group by project_id
  ), locked as (
    select p.id, s.amount, s.count, s.at from project p join sums s on s.project_id = p.id order by p.id for no key update of p
  ), totals as (
    update project p set funding = p.funding + l.amount, number_of_donations = p.number_of_donations + l.count,
      totals_changed_at = greatest(p.totals_changed_at, l.at),
      remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding - l.amount, 0) end
    from locked l where p.id = l.id
    returning p.id, p.goal, p.remaining, p.funding - l.amount as funding_before,
      p.number_of_donations - l.count as count_before, p.project_link, p.progress_report_link
  ), counted as (
    select s.id, s.project_id, s.funder_id, s.amount, s.fee, s.currency, s.receipt_number, s.settled_at, s.day,
      t.goal, t.remaining, t.funding_before, t.count_before, t.project_link, t.progress_report_link
    from settled s join totals t on t.id = s.project_id
  ), answer as (
    select c.id, c.project_id, c.receipt_number, c.settled_at, jsonb_strip_nulls(jsonb_build_object(
      'funding', (c.funding_before + sum(c.amount) over so_far)::text, 'goal', c.goal::text,
      'remaining', case when c.goal is null then c.remaining
        else greatest(c.goal - c.funding_before - sum(c.amount) over so_far, 0) end::text,
      'numberOfDonations', c.count_before + count(*) over so_far,
      'projectLink', c.project_link, 'progressReportLink', c.progress_report_link)) as details
    from counted c
    window so_far as (partition by c.project_id order by c.id)
  ), months as (
    insert into donation_month (project_id, month, currency, kind, source, funder_id, amount, count, last_on, itemised)
    select c.project_id, date_trunc('month', c.day)::date, c.currency, part.kind, 'local', c.funder_id,
      sum(part.amount), count(*), max(c.day), sum(part.amount)
    from counted c, lateral (values ('fee', c.fee), ('gift', c.amount)) part (kind, amount)
    where part.amount > 0
    group by 1, 2, 3, 4, c.funder_id order by 1, 2, 4
    on conflict (project_id, month, currency, kind, source, funder_id) do update set
      amount = donation_month.amount + excluded.amount, count = donation_month.count + excluded.count,
      last_on = greatest(donation_month.last_on, excluded.last_on),
      itemised = donation_month.itemised + excluded.itemised
  ), event as (
    insert into donation_event (donation_id, kind, at, details)
    select id, 'settled', settled_at, details from answer order by id
  )
  select id, receipt_number, settled_at,
    details || jsonb_build_object('projectId', project_id) as totals
  from answer`

/**
 * Corrects the settled amount of an unrefunded donation: in its month, its fee and its project's totals. Call it in a transaction that
 * has locked the donation.
 */
export async function recordResettled(
  db: Db,
  { id, amount, addon, at, places }: SettledShare & { readonly id: number; readonly at: Date; readonly places: number },
): Promise<void> {
  await db.query(
    `with before as (
        select id, settled_amount as amount, fee, round(fee * $2::numeric / settled_amount, $4) as new_fee from donation
        where id = $1 and settled_amount > 0 and refunded = 0
      ), corrected as (
        update donation d set settled_amount = $2, settled_addon = $3, fee = b.new_fee from before b where d.id = b.id
        returning d.project_id, d.funder_id, d.settled_currency as currency,
          date_trunc('month', d.settled_at::date)::date as month, $2::numeric - b.amount as amount, b.new_fee - b.fee as fee
      ), totals as (
        update project p set funding = p.funding + c.amount, totals_changed_at = greatest(p.totals_changed_at, $5::timestamptz),
          remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding - c.amount, 0) end
        from corrected c where p.id = c.project_id
      )
      update donation_month m set amount = m.amount + part.amount, itemised = m.itemised + part.amount
      from corrected c, lateral (values ('gift', c.amount), ('fee', c.fee)) part (kind, amount)
      where m.project_id = c.project_id and m.month = c.month and m.currency = c.currency and m.kind = part.kind
        and m.source = 'local' and m.funder_id is not distinct from c.funder_id`,
    [id, amount, addon, places, at],
  )
}

/**
 * Records for whom an open donation waits, and when to look again: after as long as it has waited, five minutes at least and
 * six hours at most, and when a day is over. False: it was not open (any more).
 */
export async function recordWaiting(
  db: Db,
  id: number,
  { waitsFor, at }: { readonly waitsFor: 'donor' | 'processor'; readonly at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation d set waits_for = $2, lease_until = clock_timestamp() + make_interval(secs => greatest(300,
        least(w.seconds, 21600, case when w.seconds < 86400 then 86400 - w.seconds end)))
      from (select id, extract(epoch from $3::timestamptz - received_at)::float8 as seconds from donation where id = $1) w
      where d.id = w.id and d.${isOpen}`,
    [id, waitsFor, at],
  )
  return rowCount > 0
}

/**
 * Closes an open donation whose payment was refused; false: it was not open (any more). With `mails` a donor is told who waits
 * for no answer: of a slow payment, and of the first try of a gift of a month, unless the plan sleeps within ten minutes.
 */
export async function recordDeclined(
  db: Db,
  id: number,
  { decline, at, mails }: { readonly decline: Decline; readonly at: Date; readonly mails: boolean },
): Promise<boolean> {
  const { rows } = await db.query(
    `with declined as (
        update donation set status = 'declined', decline_code = $2, decline_text = $3
        where id = $1 and ${isOpen} returning id, reference, waits_for
      ), mail as (
        insert into donor_mail (donation_id, kind, next_at)
        select id, 'charge-failed', $4::timestamptz + interval '10 minutes' from declined d
        where $5::boolean and (waits_for = 'processor'
          or exists (select from donation_plan_charge c where c.reference = d.reference and c.try = 0))
        on conflict do nothing
      ), event as (
        insert into donation_event (donation_id, kind, at, details)
        select id, 'declined', $4, jsonb_build_object('code', $2::integer) from declined
      )
      select id from declined`,
    [id, decline.code, decline.text, at, mails],
  )
  return rows.length > 0
}

/**
 * Closes an open donation that was not charged; false: it was not open (any more), or another process had taken it over, which
 * may be charging it now. Where it may have been charged after all, it is looked up once more after `lookAgainSeconds`.
 */
export async function recordFailed(
  db: Db,
  id: number,
  failure: {
    readonly reason: string
    readonly at: Date
    readonly lookAgainSeconds?: number
    /** Absent: its charge was ended at the processor, whoever has it now. */
    readonly lease?: HeldUntil
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `with failed as (
        update donation set status = 'failed', lease_until = clock_timestamp() + make_interval(secs => $4)
        where id = $1 and ${isOpen} and ($5::text is null or lease_until = $5::timestamptz) returning id
      ), event as (
        insert into donation_event (donation_id, kind, at, details)
        select id, 'failed', $3, jsonb_build_object('reason', $2::text) from failed
      )
      select id from failed`,
    [id, failure.reason, failure.at, failure.lookAgainSeconds ?? null, failure.lease ?? null],
  )
  return rows.length > 0
}

/**
 * Marks the charge of a failed donation as one that is given back: from then on nothing is charged under its reference. It is
 * looked at again once the lease is over, unless it was recorded as returned. False: the donation has not failed (any more).
 */
export async function claimLateCharge(
  db: Db,
  id: number,
  { chargeId, leaseSeconds }: { readonly chargeId: string; readonly leaseSeconds: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation set charge_id = $2, lease_until = case
        when charge_id is distinct from $2 or lease_until is not null then clock_timestamp() + make_interval(secs => $3) end
      where id = $1 and status = 'failed'`,
    [id, chargeId, leaseSeconds],
  )
  return rowCount > 0
}

/**
 * Records, once, that a charge which came after its donation had failed was given back. The donation stays failed, since its
 * idempotency key may belong to another donation by now, and is not looked up again.
 */
export async function recordLateChargeReturned(
  db: Db,
  id: number,
  { at, chargeId, amount }: { readonly at: Date; readonly chargeId: string; readonly amount: Decimal },
): Promise<void> {
  await db.query(
    `with closed as (
        update donation set lease_until = null
        where id = $1 and status = 'failed' and lease_until is not null returning id
      )
      insert into donation_event (donation_id, kind, at, details)
      select id, 'failed', $2,
        jsonb_build_object('reason', 'late charge given back', 'chargeId', $3::text, 'amount', $4::text)
      from closed`,
    [id, at, chargeId, amount],
  )
}

/** Ends the lookups of a failed donation, unless it was tried and has failed again since it was taken over. */
export async function closeFailedDonation(db: Db, { id, lease }: Pick<TakenOver, 'id' | 'lease'>): Promise<void> {
  await db.query(
    `update donation set lease_until = null where id = $1 and status = 'failed' and lease_until = $2::timestamptz`,
    [id, lease],
  )
}
