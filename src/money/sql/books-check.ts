import type { Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** Two figures of the books that should be equal and are not. */
export type BooksDifference = {
  /** The comparison, in words for the operator. */
  readonly what: string
  /** The project, donation or reference concerned. */
  readonly subject: string
  readonly expected: string
  readonly got: string
}

/** The platform's money by currency: incoming - fees - disbursed = balance held. */
export type BooksBalance = {
  readonly currency: string
  readonly projects: number
  readonly incoming: Decimal
  readonly fees: Decimal
  readonly disbursed: Decimal
  readonly balance: Decimal
}

/** Balances by currency, over all projects; call it in one snapshot with `listDifferences`. */
export async function listBalances(db: Db): Promise<BooksBalance[]> {
  const { rows } = await db.query<BooksBalance>(
    `with ${balances}
      select currency, count(*) as projects, sum(incoming) as incoming, sum(fees) as fees, sum(disbursed) as disbursed,
        sum(incoming - fees - disbursed) as balance
      from balance group by currency order by currency`,
  )
  return rows
}

const balances = `balance as (
    select project_id, currency, sum(incoming) as incoming, sum(fees) as fees, sum(disbursed) as disbursed
    from (
      select project_id, currency, case when kind <> 'fee' then amount else 0 end as incoming,
        case when kind = 'fee' then amount else 0 end as fees, 0 as disbursed from donation_month
      union all select project_id, currency, 0, 0, amount from disbursement
    ) line group by project_id, currency
  )`

/** Every difference in the books, at most `limit` of each kind; charges of the sandbox gateway are compared too. */
export async function listDifferences(db: Db, limit: number): Promise<BooksDifference[]> {
  const found: BooksDifference[] = []
  for (const { what, sql } of comparisons) {
    const { rows } = await db.query<{ subject: string; expected: string | undefined; got: string | undefined }>(
      `${sql} order by 1 limit ${Math.trunc(limit)}`,
    )
    for (const row of rows) {
      found.push({ what, subject: row.subject, expected: row.expected ?? 'nothing', got: row.got ?? 'nothing' })
    }
  }
  return found
}

const comparisons = [
  {
    what: 'funding of the project is the sum of its months',
    sql: `select 'project ' || p.id as subject, m.amount::text as expected, p.funding::text as got
      from project p join (
        select project_id, sum(amount) as amount from donation_month where kind <> 'fee' group by project_id
      ) m on m.project_id = p.id
      where p.funding <> m.amount`,
  },
  {
    what: 'number of donations to the project is the sum of its months',
    sql: `select 'project ' || p.id as subject, m.count::text as expected, p.number_of_donations::text as got
      from project p join (
        select project_id, sum(case when kind = 'refund' then -count else count end) as count
        from donation_month where kind <> 'fee' group by project_id
      ) m on m.project_id = p.id
      where p.number_of_donations <> m.count`,
  },
  {
    what: 'gifts, refunds and fees of the month are the sum of the donations',
    sql: `with booked as (
        select project_id, month, currency, kind, sum(itemised) as amount from donation_month
        group by project_id, month, currency, kind
      ), single as (
        select project_id, date_trunc('month', day)::date as month, currency, kind, sum(amount) as amount
        from (
          select d.project_id, d.settled_at::date as day, coalesce(d.settled_currency, d.currency) as currency,
              'gift' as kind, coalesce(d.settled_amount, d.amount) as amount
            from donation d where d.reference is not null and d.settled_at is not null
          union all
          select d.project_id, d.settled_at::date, coalesce(d.settled_currency, d.currency), 'fee', d.fee
            from donation d where d.reference is not null and d.settled_at is not null
          union all
          select d.project_id, r.done_at::date, coalesce(d.settled_currency, d.currency), 'refund',
              -coalesce(r.settled_amount, r.amount)
            from donation_refund r join donation d on d.id = r.donation_id where r.done_at is not null
          union all
          select d.project_id, e.at::date, coalesce(d.settled_currency, d.currency), 'fee', -(e.details ->> 'fee')::numeric
            from donation_event e join donation d on d.id = e.donation_id where e.kind = 'refunded'
        ) line group by 1, 2, 3, 4
      )
      select format('project %s, %s of %s in %s', project_id, kind, to_char(month, 'YYYY-MM'), currency) as subject,
        coalesce(s.amount, 0)::text as expected, coalesce(b.amount, 0)::text as got
      from booked b full join single s using (project_id, month, currency, kind)
      where coalesce(s.amount, 0) <> coalesce(b.amount, 0)`,
  },
  {
    what: 'the month holds at least what single donations explain',
    sql: `select format('project %s, %s of %s', project_id, kind, to_char(month, 'YYYY-MM')) as subject,
        itemised::text as expected, amount::text as got
      from donation_month
      where (kind in ('gift', 'opening') and amount < itemised) or (kind = 'refund' and amount > itemised)`,
  },
  {
    what: 'no more is paid out than came in',
    sql: `with ${balances}
      select format('project %s in %s', project_id, currency) as subject, 'at least 0' as expected,
        (incoming - fees - disbursed)::text as got
      from balance where incoming - fees - disbursed < 0`,
  },
  {
    what: 'what was refunded of the donation is the sum of its refunds',
    sql: `select 'donation ' || d.id as subject, coalesce(r.amount, 0)::text as expected, d.refunded::text as got
      from donation d left join (
        select donation_id, sum(amount) as amount from donation_refund where done_at is not null group by donation_id
      ) r on r.donation_id = d.id
      where d.refunded <> coalesce(r.amount, 0)`,
  },
  {
    what: 'a gift in another currency that was given back whole leaves nothing',
    sql: `select 'donation ' || d.id as subject, d.settled_amount::text as expected,
        sum(coalesce(r.settled_amount, r.amount))::text as got
      from donation d join donation_refund r on r.donation_id = d.id and r.done_at is not null
      where d.settled_amount is not null and d.refunded = d.amount
      group by d.id having sum(coalesce(r.settled_amount, r.amount)) <> d.settled_amount`,
  },
  {
    what: 'no payment is open for more than ten minutes',
    sql: `select 'donation ' || id as subject, 'settled, declined or failed' as expected,
        'received since ' || received_at as got
      from donation where status = 'received' and lease_until < clock_timestamp() - interval '10 minutes'`,
  },
  {
    what: 'the sandbox gateway charged what has settled, and nothing else',
    sql: `select coalesce(d.reference, c.reference) as subject, (d.amount + d.addon)::text as expected,
        c.amount::text as got
      from (select * from donation where gateway = 'sandbox' and settled_at is not null) d
        full join (
          select c.* from sandbox_charge c
          where c.decline_code is null and not exists (
            select from sandbox_refund r where r.charge_id = c.id and r.reference = c.reference || '-late')
            and not exists (select from donation o where o.reference = c.reference and o.status = 'received')
        ) c on c.reference = d.reference
      where d.amount + d.addon is distinct from c.amount`,
  },
  {
    what: 'the sandbox gateway gave back what the books say',
    sql: `select r.reference as subject, (r.amount + r.addon)::text as expected, s.amount::text as got
      from donation_refund r join donation d on d.id = r.donation_id and d.gateway = 'sandbox'
        left join sandbox_refund s on s.reference = r.reference
      where r.kind = 'refund' and r.done_at is not null and r.amount + r.addon is distinct from s.amount`,
  },
] as const
