import type { Decimal } from '../domain/money.js'
import type { Db } from './connection.js'

/** A charge in the books of the sandbox gateway. */
export type SandboxCharge = {
  readonly id: number
  readonly amount: Decimal
  readonly currency: string
  /** Absent: approved. */
  readonly declineCode?: number
}

type Row = { id: number; amount: string; currency: string; decline_code: number | null }

/**
 * Enters a charge, or finds the one that this reference already has: one reference is charged once. Its commit is not
 * waited for: the settlement's commit comes after it and takes it along, and a charge that is lost with the whole
 * database was never answered.
 */
export async function enterCharge(
  db: Db,
  charge: {
    readonly reference: string
    readonly amount: Decimal
    readonly currency: string
    readonly declineCode: number | undefined
    readonly at: Date
  },
): Promise<SandboxCharge> {
  const { rows } = await db.query<Row>(
    `with unhurried as (select set_config('synchronous_commit', 'off', true))
      insert into sandbox_charge (reference, amount, currency, decline_code, charged_at)
      select $1, $2, $3, $4::integer, $5 from unhurried
      on conflict (reference) do nothing returning id, amount, currency, decline_code`,
    [charge.reference, charge.amount, charge.currency, charge.declineCode, charge.at],
    'enter-sandbox-charge',
  )
  const entered = rows[0] ? toCharge(rows[0]) : await findCharge(db, charge.reference)
  if (!entered) throw new Error(`the sandbox charge ${charge.reference} vanished`)
  return entered
}

/** The charge with this reference. */
export async function findCharge(db: Db, reference: string): Promise<SandboxCharge | undefined> {
  const { rows } = await db.query<Row>(
    'select id, amount, currency, decline_code from sandbox_charge where reference = $1',
    [reference],
  )
  return rows[0] && toCharge(rows[0])
}

/**
 * Enters a refund of an approved charge, or finds the one that this reference already has; gives its id. Undefined: no
 * approved charge has this reference, or less is left of it.
 */
export async function enterRefund(
  db: Db,
  refund: { readonly reference: string; readonly chargeReference: string; readonly amount: Decimal; readonly at: Date },
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    `with charge as (
        select id, amount from sandbox_charge where reference = $2 and decline_code is null for update
      ), entered as (
        insert into sandbox_refund (reference, charge_id, amount, refunded_at)
        select $1, c.id, $3, $4 from charge c
        where not exists (select from sandbox_refund where reference = $1)
          and c.amount >= $3 + coalesce((select sum(amount) from sandbox_refund where charge_id = c.id), 0)
        returning id
      )
      select id from entered union all select id from sandbox_refund where reference = $1`,
    [refund.reference, refund.chargeReference, refund.amount, refund.at],
  )
  return rows[0]?.id
}

function toCharge(row: Row): SandboxCharge {
  return {
    id: row.id,
    amount: row.amount as Decimal,
    currency: row.currency,
    ...(row.decline_code !== null && { declineCode: row.decline_code }),
  }
}
