import type { Db } from '../../platform/database/connection.js'
import { forgetSandboxCharges } from './sandbox-charges.js'

// No money moves at these gateways (the gateway port says so of their names).
const isTest = `d.gateway like '%sandbox'`

/**
 * Removes every donation that a sandbox took, with its donor, its charge and its share of totals and months, and returns
 * their number. Call it in a transaction. Days are those that the books have them under, in UTC.
 */
export async function removeTestDonations(db: Db): Promise<number> {
  for (const table of ['processor_entry', 'reconciliation', 'reconciliation_difference']) {
    await db.query(`delete from ${table} where gateway like '%sandbox'`)
  }
  const { rows } = await db.query<{ id: number }>(`select id from donation d where ${isTest} order by id for update`)
  if (rows.length === 0) return 0
  await db.query(takeOutOfMonths)
  await db.query(takeOutOfTotals)
  await forgetSandboxCharges(db, `select d.reference from donation d where ${isTest}`)
  await db.query(`delete from donation d where ${isTest}`)
  return rows.length
}

/** How many donations a sandbox took. */
export async function countTestDonations(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`select count(*) as count from donation d where ${isTest}`)
  return rows[0]?.count ?? 0
}

const takeOutOfMonths = `
  with line as (
    select d.project_id, coalesce(d.settled_currency, d.currency) as currency, d.funder_id, part.kind,
        d.settled_at::date as day, part.amount, 1 as count
      from donation d, lateral (values ('gift', coalesce(d.settled_amount, d.amount)), ('fee', d.fee)) part (kind, amount)
      where ${isTest} and d.settled_at is not null and part.amount > 0
    union all
    select d.project_id, coalesce(d.settled_currency, d.currency), d.funder_id, 'refund', r.done_at::date,
        -coalesce(r.settled_amount, r.amount),
        case when d.refunded = d.amount
          and row_number() over (partition by d.id order by r.done_at desc, r.id desc) = 1 then 1 else 0 end
      from donation_refund r join donation d on d.id = r.donation_id
      where ${isTest} and r.done_at is not null and r.amount > 0
    union all
    select d.project_id, coalesce(d.settled_currency, d.currency), d.funder_id, 'fee', e.at::date, -(e.details ->> 'fee')::numeric, 0
      from donation_event e join donation d on d.id = e.donation_id
      where ${isTest} and e.kind = 'refunded'
  ), sum as (
    select project_id, currency, funder_id, kind, date_trunc('month', day)::date as month, sum(amount) as amount,
      sum(count)::integer as count
    from line group by 1, 2, 3, 4, 5
  ), rest as (
    update donation_month m set amount = m.amount - s.amount, count = greatest(m.count - s.count, 0),
      itemised = m.itemised - s.amount
    from sum s
    where m.project_id = s.project_id and m.currency = s.currency and m.kind = s.kind and m.month = s.month
      and m.source = 'local' and m.funder_id is not distinct from s.funder_id
      and (m.amount, m.count) <> (s.amount, s.count)
    returning m.project_id
  )
  delete from donation_month m using sum s
    where m.project_id = s.project_id and m.currency = s.currency and m.kind = s.kind and m.month = s.month
      and m.source = 'local' and m.funder_id is not distinct from s.funder_id
      and (m.amount, m.count) = (s.amount, s.count)`

const takeOutOfTotals = `
  with sum as (
    select d.project_id, sum(coalesce(d.settled_amount, d.amount) - coalesce(r.amount, 0)) as amount,
      count(*) filter (where d.refunded < d.amount)::integer as count
    from donation d left join (
        select donation_id, sum(coalesce(settled_amount, amount)) as amount from donation_refund
        where done_at is not null group by donation_id
      ) r on r.donation_id = d.id
    where ${isTest} and d.settled_at is not null group by d.project_id
  )
  update project p set funding = p.funding - s.amount,
    number_of_donations = greatest(p.number_of_donations - s.count, 0),
    remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding + s.amount, 0) end
  from sum s where p.id = s.project_id`
