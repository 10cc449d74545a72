import type { Db } from '../../platform/database/connection.js'

/** How many amounts of a kind the store has in a currency. */
export type StoredAmounts = { readonly kind: string; readonly currency: string; readonly count: number }

/** What the store has amounts of; those that name no currency of their own are in `currency`, the store's. */
export async function countStoredAmounts(db: Db, currency: string): Promise<StoredAmounts[]> {
  const { rows } = await db.query<StoredAmounts>(
    `select kind, currency, count(*)::integer as count from (
        select 1 as place, 'goals' as kind, $1 as currency from project where goal is not null
        union all select 2, 'suggested amounts', $1 from donation_option
        union all select 3, 'sums of gifts, refunds and fees', currency from donation_month
        union all select 4, 'single donations', coalesce(settled_currency, currency) from donation
        union all select 5, 'payouts', currency from disbursement
        union all select 6, 'planned payouts', currency from payout_plan
      ) as amounts group by place, kind, currency order by place, currency`,
    [currency],
  )
  return rows
}
