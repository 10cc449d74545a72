import { pick } from './sql.js'

/** Months of money of a chunk's projects, gathered first so that the projects' totals can be taken from them. */
export const createMonths = `
  create temporary table seed_month (
    project_id bigint, k integer, month date, kind text, funder_id bigint, amount numeric, count integer, last_on date
  ) on commit drop`

const key = 'p.id * 100 + k'
const gift = 'm.project_id * 100 + m.k'

/** Fills \`seed_month\`: k counts a project's months from 0, an opening total has -1. */
export const insertMonths = [
  // Gifts of people, with quiet months between.
  `insert into seed_month
   select p.id, k, d.month, 'gift', null, greatest(round(p.monthly * (40 + ${pick(key, 401, 121)}) / 100, s.places), c.count * s.unit),
     c.count, least(d.month + ${pick(key, 403, 28)}, s.today)
   from seed_plan p cross join seed_setting s, generate_series(0, p.months - 1) k,
     lateral (select (p.start_month + make_interval(months => k))::date as month) d,
     lateral (select 1 + ${pick(key, 402, 20)} as count) c
   where k = 0 or ${pick(key, 404, 8)} > 0`,
  // A total from before the months that are known.
  `insert into seed_month
   select p.id, -1, date_trunc('month', p.start_month - 1)::date, 'opening', null,
     round(p.monthly * (1 + ${pick('p.id', 405, 6)}), s.places) + s.unit, 5 + ${pick('p.id', 406, 200)}, p.start_month - 1
   from seed_plan p cross join seed_setting s where ${pick('p.id', 407, 7)} = 0`,
  // Organisations that give.
  `insert into seed_month
   select p.id, k, (p.start_month + make_interval(months => k))::date, 'gift', f.funder_id,
     greatest(round(p.target * (2 + ${pick(key, 410, 8)}) / 100, s.places), s.unit), 1,
     least((p.start_month + make_interval(months => k))::date + ${pick(key, 411, 28)}, s.today)
   from seed_plan p cross join seed_setting s, generate_series(0, p.months - 1, 7) k,
     lateral (select s.first_id + ${pick(key, 412, 's.organisations')} as funder_id) f
   where ${pick('p.id', 413, 8)} = 0 and ${pick(key, 414, 3)} = 0 and f.funder_id is distinct from p.organisation_id`,
  // Refunds in part: no donation counts less for them.
  `insert into seed_month
   select m.project_id, m.k, m.month, 'refund', null, r.amount, 0, m.last_on
   from seed_month m cross join seed_setting s,
     lateral (select -round(m.amount * (5 + ${pick(gift, 420, 20)}) / 100, s.places) as amount) r
   where m.kind = 'gift' and m.funder_id is null and ${pick(gift, 421, 25)} = 0 and r.amount < 0`,
  `insert into seed_month
   select m.project_id, m.k, m.month, 'fee', null, f.amount, m.count, m.last_on
   from seed_month m cross join seed_setting s,
     lateral (select round(m.amount * (3 + ${pick(gift, 422, 6)}) / 100, s.places) as amount) f
   where m.kind = 'gift' and m.funder_id is null and m.k % 3 = 2 and f.amount > 0`,
] as const

export const insertDonationMonths = `
  insert into donation_month (project_id, month, currency, kind, source, funder_id, amount, count, last_on)
  select m.project_id, m.month, s.currency, m.kind, s.source, m.funder_id, m.amount, m.count, m.last_on
  from seed_month m cross join seed_setting s
  order by m.project_id, m.month, m.kind collate "C", m.funder_id`

/** Payouts of what came in by quarter, less fees and a reserve; sometimes a part comes back. */
export const insertDisbursements = [
  `insert into disbursement (project_id, reference, disbursed_on, amount, currency, receiver_id, source)
   select q.project_id, 'pay-' || q.project_id || '-' || lpad(q.quarter::text, 3, '0'), least(q.last_on + 5, s.today), q.amount, s.currency,
     case when ${pick('q.project_id', 430, 20)} = 0 then s.first_id + ${pick('q.project_id', 431, 's.organisations')} end, s.source
   from (
     select m.project_id, (m.k + 3) / 3 as quarter, max(m.last_on) as last_on,
       round(sum(case m.kind when 'fee' then -m.amount else m.amount end) * 0.9, max(s.places)) as amount
     from seed_month m cross join seed_setting s group by m.project_id, (m.k + 3) / 3
   ) q join seed_plan p on p.id = q.project_id cross join seed_setting s
   where p.organisation_id is not null and q.amount > 0
   order by q.project_id, q.quarter`,
  `insert into disbursement (project_id, reference, disbursed_on, amount, currency, receiver_id, source)
   select d.project_id, 'ret' || substr(d.reference, 4), least(d.disbursed_on + 20, s.today), -round(d.amount / 10, s.places), d.currency,
     d.receiver_id, d.source
   from disbursement d join seed_plan p on p.id = d.project_id cross join seed_setting s
   where ${pick('p.id', 432, 30)} = 0 and d.reference like '%-002' and round(d.amount / 10, s.places) > 0
   order by d.project_id`,
] as const

/** Planned payouts: some that were made since, and those of the coming quarters of active projects. */
export const insertPayoutPlans = [
  `insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
   select d.reference, d.project_id, d.disbursed_on, d.amount, d.currency, d.source
   from disbursement d join seed_plan p on p.id = d.project_id
   where d.amount > 0 and ${pick('p.id', 440, 4)} = 0 order by d.reference`,
  `insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
   select 'plan-' || p.id || '-' || k, p.id, s.today + 1 + ${pick('p.id', 441, 60)} + k * 91,
     round(p.target * (5 + ${pick('p.id * 100 + k', 442, 15)}) / 100, s.places), s.currency, s.source
   from seed_plan p cross join seed_setting s, generate_series(0, ${pick('p.id', 443, 9)}) k
   where p.status = 'active' and p.organisation_id is not null and ${pick('p.id', 444, 3)} = 0 order by p.id, k`,
] as const

/** Single gifts of the last two months that add up to the months' amounts and counts. */
export const insertDonations = `
  insert into donation (project_id, funder_id, amount, currency, settled_at, source)
  select m.project_id, m.funder_id, a.each + case when n = 1 then m.amount - a.each * m.count else 0 end, s.currency,
    case when n = m.count then m.last_on::timestamp
      else m.month::timestamp + (m.last_on - m.month) * interval '1 day' * (n - 1) / m.count end at time zone 'UTC', s.source
  from seed_month m cross join seed_setting s, generate_series(1, m.count) n,
    lateral (select trunc(m.amount / m.count, s.places) as each) a
  where m.kind = 'gift' and m.month >= date_trunc('month', s.today) - interval '1 month'
  order by m.project_id, m.month, m.funder_id, n`
