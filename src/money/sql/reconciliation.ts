import type { IsoDate } from '../../kernel/dates.js'
import type { Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** What the processor settled on a day in one currency, charges less refunds, and what the books have for it. */
export type ReconciledDay = {
  readonly day: IsoDate
  readonly currency: string
  readonly processorAmount: Decimal
  readonly booksAmount: Decimal
  /** The processor's amount less that of the books. */
  readonly difference: Decimal
}

/** A charge or refund that the processor and the books do not agree on. */
export type ReconciliationDifference = {
  readonly day: IsoDate
  readonly currency: string
  readonly kind: 'missing' | 'doubled' | 'changed' | 'unknown'
  readonly entry: 'charge' | 'refund'
  /** Our name for it. */
  readonly reference?: string | undefined
  /** The processor's name for it; absent: the processor has none. */
  readonly processorId?: string | undefined
  /** The processor's name for the charge concerned. */
  readonly chargeId?: string | undefined
  /** Amount and currency. */
  readonly processorAmount?: string | undefined
  readonly booksAmount?: string | undefined
  readonly donationId?: number | undefined
  /** When a person accepted it; absent: it needs one. */
  readonly acceptedAt?: Date | undefined
}

/** Which days of which gateway are compared: those from `from` to `to`, with what is known at `now`. */
export type ReconciledSpan = {
  readonly gateway: string
  readonly from: IsoDate
  readonly to: IsoDate
  readonly now: Date
  /** How many days after it was booked a charge has settled at the latest. */
  readonly settlesWithinDays: number
  /** The platform's currency, in which each day has a result. */
  readonly currency: string
}

/**
 * Compares the entries of the processor with the books, and replaces the kept result of these days. Call it in a
 * transaction, so that nothing is booked meanwhile.
 */
export async function reconcileEntries(db: Db, span: ReconciledSpan): Promise<void> {
  const { gateway, from, to, now, settlesWithinDays } = span
  const days = 'gateway = $1 and day between $2 and $3'
  await db.query(`delete from reconciliation_difference where ${days} and accepted_at is null`, [gateway, from, to])
  await db.query(`delete from reconciliation where ${days}`, [gateway, from, to])
  await db.query(enterResult, [gateway, from, to, now, settlesWithinDays, span.currency])
}

/**
 * A charge that nobody knows and that was given back as a whole is no difference: so are trials of the gateway, charges that
 * came too late, and what an operator fixes at the processor. A donation whose money never moved, since it was given back
 * or failed before, is none either. Days are UTC days.
 */
const enterResult = `
  with theirs as (
    select e.*, e.settled_at::date as day, d.id as donation_id, d.amount + d.addon as booked, d.currency as booked_in,
        d.status = 'received' as open, d.charge_id <> e.charge_id as again
      from processor_entry e left join donation d
        on d.reference = e.reference and d.gateway = e.gateway and d.status in ('received', 'settled', 'refunded')
      where e.gateway = $1 and e.kind = 'charge' and e.settled_at >= $2::date and e.settled_at < $3::date + 1
    union all
    select e.*, e.settled_at::date, d.id, r.amount + r.addon, d.currency, false, exists (
        select from processor_entry o where o.gateway = e.gateway and o.kind = e.kind and o.reference = e.reference
          and (o.settled_at, o.id) < (e.settled_at, e.id))
      from processor_entry e
        -- A refund of the processor's console is booked under the processor's name for it.
        left join lateral (
          select * from donation_refund where reference = e.reference and kind = 'refund' and done_at is not null
          union all
          select * from donation_refund where reference = e.id and kind = 'refund' and done_at is not null
          limit 1) r on true
        left join donation d on d.id = r.donation_id and d.gateway = e.gateway
      where e.gateway = $1 and e.kind = 'refund' and e.settled_at >= $2::date and e.settled_at < $3::date + 1
  ), judged as (
    select *, case
        when booked is null or again then
          case when (select sum(case o.kind when 'charge' then o.amount else -o.amount end) from processor_entry o
              where o.gateway = $1 and o.charge_id = theirs.charge_id) = 0 then null when booked is null then 'unknown' else 'doubled' end
        when booked <> amount or booked_in <> currency then 'changed' end as difference
    from theirs where open is not true
  ), ours as (
    select 'charge' as kind, d.id, d.reference, d.amount + d.addon as amount, d.currency, d.settled_at as at, d.charge_id,
        d.refunded = d.amount as ended
      from donation d
      where d.gateway = $1 and d.reference is not null and d.status in ('settled', 'refunded')
    union all
    select 'refund', d.id, r.reference, r.amount + r.addon, d.currency, r.done_at, d.charge_id, d.refunded = d.amount
      from donation_refund r join donation d on d.id = r.donation_id
      where d.gateway = $1 and r.kind = 'refund' and r.done_at is not null
  ), missing as (
    select o.kind, o.id, o.reference, o.charge_id, o.amount, o.currency, o.at::date as day from ours o
    where o.at >= $2::date and o.at < $3::date + 1 and o.at < $4::timestamptz - make_interval(days => $5)
      and not exists (select from processor_entry e where e.gateway = $1 and e.kind = o.kind and e.reference = o.reference)
      and not exists (select from processor_entry e where e.gateway = $1 and e.kind = o.kind and e.id = o.reference)
      and not (o.ended and not exists (select from processor_entry e where e.gateway = $1 and e.charge_id = o.charge_id))
  ), line as (
    select day, currency, case kind when 'charge' then amount else -amount end as processor, 0 as books from judged
      where difference is not null or booked is not null and not again
    union all
    select day, booked_in, 0, case kind when 'charge' then booked else -booked end from judged
      where booked is not null and not again
    union all
    select day, currency, 0, case kind when 'charge' then amount else -amount end from missing
    union all
    select day::date, $6, 0, 0 from generate_series($2::date, $3::date, interval '1 day') day
  ), sums as (
    insert into reconciliation (gateway, day, currency, processor_amount, books_amount, checked_at)
    select $1, day, currency, sum(processor), sum(books), $4 from line group by day, currency
  ), found as (
    select day, currency, difference as kind, kind as entry, reference, id as processor_id, charge_id,
        amount || ' ' || currency as processor_amount, case when not again then booked || ' ' || booked_in end as books_amount,
        abs(amount - case when not again and booked_in = currency then booked else 0 end) as difference, donation_id
      from judged where difference is not null
    union all
    select day, currency, 'missing', kind, reference, null, charge_id, null, amount || ' ' || currency, amount, id
      from missing
  )
  insert into reconciliation_difference (gateway, day, currency, kind, entry, reference, processor_id, charge_id,
    processor_amount, books_amount, difference, donation_id)
  select $1, f.* from found f
  where not exists (select from reconciliation_difference k
    where (k.gateway, k.day, k.kind, k.entry) = ($1, f.day, f.kind, f.entry)
      and k.reference is not distinct from f.reference and k.processor_id is not distinct from f.processor_id)`

const differenceColumns = `day::text, currency, kind, entry, reference, processor_id,
  charge_id, processor_amount, books_amount, donation_id,
  accepted_at`

/** The result that is kept of these days. */
export async function findReconciliation(
  db: Db,
  { gateway, from, to }: Pick<ReconciledSpan, 'gateway' | 'from' | 'to'>,
): Promise<{ readonly days: ReconciledDay[]; readonly differences: ReconciliationDifference[] }> {
  const days = await db.query<ReconciledDay>(
    `select day::text, currency, processor_amount, books_amount,
        processor_amount - books_amount as difference
      from reconciliation where gateway = $1 and day between $2 and $3 order by 1, 2`,
    [gateway, from, to],
  )
  const differences = await db.query<ReconciliationDifference>(
    `select ${differenceColumns} from reconciliation_difference
      where gateway = $1 and day between $2 and $3 order by day, currency, kind, entry, reference, processor_id`,
    [gateway, from, to],
  )
  return { days: days.rows, differences: differences.rows }
}

/** Charges that were booked on these days before `before` and that the processor has not settled, as it calls them. */
export async function listUnsettledCharges(
  db: Db,
  { gateway, from, to, before }: Pick<ReconciledSpan, 'gateway' | 'from' | 'to'> & { readonly before: Date },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select d.charge_id as id from donation d
      where d.gateway = $1 and d.settled_at >= $2::date and d.settled_at < $3::date + 1 and d.settled_at < $4
        and d.charge_id is not null and d.refunded < d.amount
        and not exists (select from processor_entry e where e.gateway = $1 and e.id = d.charge_id)
      order by d.settled_at`,
    [gateway, from, to, before],
  )
  return rows.map(({ id }) => id)
}

/** Accepts the differences of a day: they need no person any more. Returns their number. */
export async function acceptDifferences(
  db: Db,
  { gateway, day, at }: { readonly gateway: string; readonly day: IsoDate; readonly at: Date },
): Promise<number> {
  const { rowCount } = await db.query(
    `update reconciliation_difference set accepted_at = $3 where gateway = $1 and day = $2 and accepted_at is null`,
    [gateway, day, at],
  )
  return rowCount
}

/** Days with differences that nobody accepted, oldest first. */
export async function listUnreconciledDays(
  db: Db,
): Promise<{ readonly gateway: string; readonly day: IsoDate; readonly differences: number }[]> {
  const { rows } = await db.query<{ gateway: string; day: IsoDate; differences: number }>(
    `select gateway, day::text, count(*) as differences from reconciliation_difference
      where accepted_at is null group by 1, 2 order by 2, 1`,
  )
  return rows
}

/** When this gateway was last compared with the books; undefined: never. */
export async function findLastReconciliation(db: Db, gateway: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | undefined }>(
    'select max(checked_at) as at from reconciliation where gateway = $1',
    [gateway],
  )
  return rows[0]?.at ?? undefined
}

/** What the processor and the books differ by and nobody accepted, by currency; 0 for one without differences. */
export async function sumDifferences(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<{ currency: string; sum: number }>(
    `select currency, sum(difference)::float8 as sum from (
        select distinct currency, 0 as difference from reconciliation
        union all
        select currency, difference from reconciliation_difference where accepted_at is null) line
      group by currency`,
  )
  return Object.fromEntries(rows.map(({ currency, sum }) => [currency, sum]))
}
