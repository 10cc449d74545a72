import type { IsoDate } from '../../kernel/dates.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** A payout to the partner of a project; negative: money that came back. */
export type DisbursementRecord = {
  readonly projectId: number
  readonly on: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
  /** Unique: the same reference is the same payout. */
  readonly reference: string
  /** The organisation that was paid; absent: the project's own. */
  readonly receiver?: number | undefined
}

/** The outcome of one record; `conflict`: its reference is in the books with other values. */
export type DisbursementOutcome = 'new' | 'known' | 'conflict' | 'unknown-project'

/**
 * Records payouts with different references and returns the outcome of each, in their order. A reference that is known
 * changes nothing.
 */
export async function recordDisbursements(
  db: Db,
  records: readonly DisbursementRecord[],
  source: string,
): Promise<DisbursementOutcome[]> {
  const { rows } = await db.query<{ outcome: DisbursementOutcome }>(
    `with given as (
        select * from unnest($1::bigint[], $2::date[], $3::numeric[], $4::text[], $5::text[], $6::bigint[])
          with ordinality g (project_id, disbursed_on, amount, currency, reference, receiver_id, position)
      ), written as (
        insert into disbursement (project_id, disbursed_on, amount, currency, reference, receiver_id, source)
        select g.project_id, g.disbursed_on, g.amount, g.currency, g.reference, g.receiver_id, $7
        from given g join project p on p.id = g.project_id order by g.project_id, g.position
        on conflict (reference) do nothing returning reference
      )
      select case when w.reference is not null then 'new' when p.id is null and k.id is null then 'unknown-project'
        when (k.project_id, k.disbursed_on, k.amount, k.currency, k.receiver_id)
          is not distinct from (g.project_id, g.disbursed_on, g.amount, g.currency, g.receiver_id) then 'known'
        else 'conflict' end as outcome
      from given g
        left join project p on p.id = g.project_id
        left join written w on w.reference = g.reference
        left join disbursement k on k.reference = g.reference
      order by g.position`,
    [
      records.map(({ projectId }) => projectId),
      records.map(({ on }) => on),
      records.map(({ amount }) => amount),
      records.map(({ currency }) => currency),
      records.map(({ reference }) => reference),
      records.map(({ receiver }) => receiver ?? null),
      source,
    ],
  )
  return rows.map(({ outcome }) => outcome)
}
