import type { Decimal } from '../../kernel/money.js'
import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'

/** A charge or refund that the processor has settled. */
export type SettledEntry = {
  readonly kind: 'charge' | 'refund'
  /** The processor's name for it. */
  readonly id: string
  readonly chargeId: string
  readonly reference: string | undefined
  readonly amount: Decimal
  readonly currency: string
  readonly settledAt: Date
}

/** Keeps what the processor listed; an entry that is kept already is replaced. */
export async function saveProcessorEntries(
  db: Db,
  { gateway, readAt }: { readonly gateway: string; readonly readAt: Date },
  entries: readonly SettledEntry[],
): Promise<void> {
  // One statement cannot replace a row twice.
  const given = [...new Map(entries.map((entry) => [entry.id, entry])).values()]
  await db.query(
    `insert into processor_entry (gateway, read_at, id, kind, charge_id, reference, amount, currency, settled_at)
      select $1, $2, g.* from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::text[],
        $9::timestamptz[]) as g
      on conflict (gateway, id) do update set read_at = excluded.read_at, kind = excluded.kind,
        charge_id = excluded.charge_id, reference = excluded.reference, amount = excluded.amount,
        currency = excluded.currency, settled_at = excluded.settled_at`,
    [gateway, readAt, ...listsOfEach(given, 'id', 'kind', 'chargeId', 'reference', 'amount', 'currency', 'settledAt')],
  )
}

/** Removes entries of this time that the processor did not list any more at `readAt`; call it when all are saved. */
export async function removeUnlistedEntries(
  db: Db,
  read: { readonly gateway: string; readonly readAt: Date; readonly from: Date; readonly until: Date },
): Promise<void> {
  await db.query(
    'delete from processor_entry where gateway = $1 and settled_at >= $2 and settled_at < $3 and read_at < $4',
    [read.gateway, read.from, read.until, read.readAt],
  )
  // Otherwise the comparison is planned with the statistics of few entries, and takes minutes.
  await db.query('analyze processor_entry')
}
