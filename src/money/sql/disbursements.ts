import type { IsoDate } from '../../kernel/dates.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { listsOfEach } from '../../kernel/rows.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'

/** A payout to the partner of a project; negative: money that came back. */
export type DisbursementRecord = {
  readonly projectId: number
  readonly on: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
  /** What was paid, where that was in another currency. */
  readonly original?: { readonly amount: Decimal; readonly currency: CurrencyCode } | undefined
  /** Unique: the same reference is the same payout. */
  readonly reference: string
  /** The organisation that was paid; absent: the project's own. */
  readonly receiver?: number | undefined
}

/** The outcome of one record; `conflict`: its reference is in the books with other values, which `correct` replaces. */
export type DisbursementOutcome = 'new' | 'known' | 'corrected' | 'conflict' | 'unknown-project'

/**
 * Records payouts with different references and returns the outcome of each, in their order. A reference that is known
 * changes nothing.
 */
export async function recordDisbursements(
  db: Db,
  records: readonly DisbursementRecord[],
  source: string,
  correct = false,
): Promise<DisbursementOutcome[]> {
  const { rows } = await db.query<{ outcome: DisbursementOutcome }>(
    `with given as (
        select * from unnest($1::bigint[], $2::date[], $3::numeric[], $4::text[], $5::text[], $6::bigint[],
          $9::numeric[], $10::text[])
          with ordinality g (project_id, disbursed_on, amount, currency, reference, receiver_id, original_amount,
            original_currency, position)
      ), written as (
        insert into disbursement (project_id, disbursed_on, amount, currency, reference, receiver_id, source,
          original_amount, original_currency)
        select g.project_id, g.disbursed_on, g.amount, g.currency, g.reference, g.receiver_id, $7, g.original_amount,
          g.original_currency
        from given g join project p on p.id = g.project_id order by g.project_id, g.position
        on conflict (reference) do nothing returning reference
      ), corrected as (
        update disbursement d set project_id = g.project_id, disbursed_on = g.disbursed_on, amount = g.amount,
          currency = g.currency, receiver_id = g.receiver_id, original_amount = g.original_amount,
          original_currency = g.original_currency
        from given g join project p on p.id = g.project_id
        where $8 and d.reference = any (${asSubselect('$5::text[]')}::text[]) and d.reference = g.reference and d.source = $7
          and (d.project_id, d.disbursed_on, d.amount, d.currency, d.receiver_id, d.original_amount, d.original_currency)
            is distinct from (g.project_id, g.disbursed_on, g.amount, g.currency, g.receiver_id, g.original_amount,
              g.original_currency)
        returning d.reference
      )
      select case when c.reference is not null then 'corrected' when w.reference is not null then 'new' when p.id is null and k.id is null then 'unknown-project'
        when (k.project_id, k.disbursed_on, k.amount, k.currency, k.receiver_id, k.original_amount, k.original_currency)
          is not distinct from (g.project_id, g.disbursed_on, g.amount, g.currency, g.receiver_id, g.original_amount,
            g.original_currency) then 'known'
        else 'conflict' end as outcome
      from given g
        left join project p on p.id = g.project_id
        left join written w on w.reference = g.reference
        left join corrected c on c.reference = g.reference
        -- By the index: other plans read the whole table for each batch of a file.
        left join lateral (select * from disbursement d where d.reference = g.reference limit 1) k on true
      order by g.position`,
    [
      ...listsOfEach(records, 'projectId', 'on', 'amount', 'currency', 'reference', 'receiver'),
      source,
      correct,
      records.map(({ original }) => original?.amount ?? null),
      records.map(({ original }) => original?.currency ?? null),
    ],
  )
  return rows.map(({ outcome }) => outcome)
}

/** A payout of the books. */
export type StoredDisbursement = DisbursementRecord & { readonly source: string }

export async function findDisbursement(db: Db, reference: string): Promise<StoredDisbursement | undefined> {
  const { rows } = await db.query<StoredDisbursement>(
    `select project_id, disbursed_on as on, amount, currency, reference, receiver_id as receiver, source
        , case when original_amount is not null then json_build_object('amount', original_amount::text,
          'currency', original_currency) end as original
      from disbursement where reference = $1`,
    [reference],
  )
  return rows[0]
}

export async function removeDisbursement(db: Db, reference: string): Promise<void> {
  await db.query('delete from disbursement where reference = $1', [reference])
}
