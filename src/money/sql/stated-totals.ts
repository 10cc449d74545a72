import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import { publisherDifferences } from '../../kernel/publisher.js'
import type { HashedRecord, SaveOptions } from '../../kernel/record.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { findPublisher } from '../../platform/database/publisher.js'

// `compared` has what earlier records of this source stated; fees never were part of a stated total.
const insertDifferences = `
  with stated as (
    select * from json_to_recordset($1::json)
      as r(project_id bigint, funding numeric, donations integer, cumulative_to date)
  ), compared as (
    select s.*, coalesce(m.months, 0) as months, s.funding - coalesce(m.amount, 0) as difference,
      s.donations - coalesce(m.donations, 0) as new_donations
    from stated s left join lateral (
      select count(*) as months, sum(amount) as amount,
        sum(case when kind = 'refund' then -count else count end) as donations
      from donation_month
      where project_id = s.project_id and source = $2 and currency = $3 and kind <> 'fee'
    ) m on true
  ), entry as (
    select project_id, difference as amount, 'opening' as kind, cumulative_to as day, greatest(new_donations, 0) as count
    from compared where months = 0 and difference <> 0
    union all
    -- More money of fewer donations, or the reverse, is both: one line of the amount, one of the number.
    select project_id, amount, kind, $4::date, count
    from compared, lateral (values
      ('gift', greatest(difference, 0), greatest(new_donations, 0)),
      ('refund', least(difference, 0), greatest(-new_donations, 0))) part (kind, amount, count)
    where months > 0 and (amount <> 0 or count > 0)
  )
  insert into donation_month (project_id, month, currency, kind, source, funder_id, amount, count, last_on)
  select project_id, date_trunc('month', day)::date, $3, kind, $2, null, amount, count, day from entry
  order by project_id
  on conflict (project_id, month, currency, kind, source, funder_id) do update set
    amount = donation_month.amount + excluded.amount,
    count = donation_month.count + excluded.count,
    last_on = greatest(donation_month.last_on, excluded.last_on)`

// A stated total lacks the donations made here, and has just overwritten them.
const addOwnDonations = `
  update project p set funding = p.funding + own.amount, number_of_donations = greatest(p.number_of_donations + own.count, 0),
    remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding - own.amount, 0) end
  from (
    select project_id, sum(amount) as amount, sum(case when kind = 'refund' then -count else count end) as count
    from donation_month
    where project_id = any (${asSubselect('$1::bigint[]')}::bigint[]) and source = 'local' and kind <> 'fee'
    group by project_id
  ) own
  where p.id = own.project_id and (own.amount, own.count) <> (0, 0)`

/**
 * Turns the totals that records state into months (architecture.md 2.7): the first total above zero of a project becomes
 * one `opening` on the day it is cumulative to; a difference of a later total goes to the current month, as a gift or a
 * refund. Donations made here count on top of stated totals: months of one source never explain the total of another. Call
 * it after the records' projects have been saved, in the same transaction.
 */
export async function recordTotals(db: Db, records: readonly HashedRecord[], options: SaveOptions): Promise<void> {
  const rows = records.map(({ record, cumulativeTo }) => ({
    project_id: record.id,
    funding: record.funding,
    donations: record.numberOfDonations,
    cumulative_to: cumulativeTo,
  }))
  await db.query(insertDifferences, [JSON.stringify(rows), options.source, options.currency, options.today])
  await db.query(addOwnDonations, [records.map(({ record }) => record.id)])
}

/**
 * Throws `publisher-differs` when the store publishes in another currency, and `configuration-invalid` when this source's
 * totals are stored in another one: they would double.
 */
export async function refuseOtherCurrency(
  db: Db,
  source: SaveOptions['source'],
  currency: CurrencyCode,
): Promise<void> {
  const recorded = await findPublisher(db)
  const [difference] = recorded ? publisherDifferences(recorded, { ...recorded, currency }) : []
  if (difference !== undefined) throw new ServiceError('publisher-differs', difference)
  const { rows } = await db.query<{ currency: string }>(
    `select currency from donation_month where source = $1 and currency <> $2 limit 1`,
    [source, currency],
  )
  const other = rows[0]?.currency
  if (other === undefined) return
  throw new ServiceError(
    'configuration-invalid',
    `DEFAULT_CURRENCY is ${currency}, but earlier records of this store were written in ${other}: set it to ${other}, since a platform has one currency`,
  )
}
