import type { Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** A charge that the sandbox gateway has entered. */
export type SandboxCharge = {
  readonly id: number
  readonly amount: Decimal
  readonly currency: string
  /** Absent: approved. */
  readonly declineCode?: number | undefined
}

export type SandboxChargeState = SandboxCharge & {
  readonly reference: string
  readonly at: Date
  readonly refunds: readonly { readonly id: string; readonly reference: string; readonly amount: Decimal }[]
}

/** A charge as the gateway is asked for it. */
export type ChargeEntry = {
  readonly reference: string
  readonly amount: Decimal
  readonly currency: string
  readonly declineCode: number | undefined
  readonly at: Date
}

/**
 * Enters charges, or finds the ones that their references already have: one reference is charged once. The commit does not
 * wait for the disk: the later commit of the settlement makes the charge durable too, and a charge that is lost before it
 * was never answered.
 */
export async function enterCharges(db: Db, charges: readonly ChargeEntry[]): Promise<SandboxCharge[]> {
  const references = charges.map(({ reference }) => reference)
  const { rows } = await db.query<SandboxCharge & { reference: string }>(
    enterAll,
    [
      references,
      charges.map(({ amount }) => amount),
      charges.map(({ currency }) => currency),
      charges.map(({ declineCode }) => declineCode ?? null),
      charges.map(({ at }) => at),
    ],
    'enter-sandbox-charges',
  )
  const entered = new Map(rows.map(({ reference, ...charge }) => [reference, charge]))
  return await Promise.all(
    references.map(async (reference) => {
      const charge = entered.get(reference) ?? (await findCharge(db, reference))
      if (!charge) throw new Error(`the sandbox charge ${reference} vanished`)
      return charge
    }),
  )
}

const enterAll = `
  with setting as (select set_config('synchronous_commit', 'off', true))
  insert into sandbox_charge (reference, amount, currency, decline_code, charged_at)
  select g.* from setting,
    unnest($1::text[], $2::numeric[], $3::text[], $4::integer[], $5::timestamptz[]) as g
  order by 1
  on conflict (reference) do nothing returning reference, id, amount, currency, decline_code`

/** The charge with this reference. */
export async function findCharge(db: Db, reference: string): Promise<SandboxCharge | undefined> {
  const { rows } = await db.query<SandboxCharge>(
    'select id, amount, currency, decline_code from sandbox_charge where reference = $1',
    [reference],
  )
  return rows[0]
}

/** The charge with this id. */
export async function findChargeById(db: Db, id: number): Promise<SandboxChargeState | undefined> {
  const { rows } = await db.query<SandboxChargeState>(
    `select c.id, c.reference, c.charged_at as at, c.amount, c.currency, c.decline_code,
        coalesce((select json_agg(json_build_object('id', 'sandbox-refund-' || r.id, 'reference', r.reference,
          'amount', r.amount::text) order by r.id) from sandbox_refund r where r.charge_id = c.id), '[]') as refunds
      from sandbox_charge c where c.id = $1`,
    [id],
  )
  return rows[0]
}

/**
 * Enters a refund of an approved charge, or finds the one that this reference already has; returns its id. Undefined: no
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

/** An approved charge or a refund of the sandbox. */
export type SandboxEntry = {
  readonly kind: 'charge' | 'refund'
  readonly id: string
  readonly chargeId: string
  readonly reference: string
  readonly amount: Decimal
  readonly currency: string
  readonly settledAt: Date
}

const listed = 1_000

/** All approved charges and refunds of this time, a thousand at a time. */
export async function* listSandboxEntries(db: Db, from: Date, until: Date): AsyncGenerator<SandboxEntry> {
  for (const sql of [selectCharges, selectRefunds]) {
    for (let after = 0, more = true; more; ) {
      const { rows } = await db.query<SandboxEntry & { number: number }>(sql, [from, until, after, listed])
      for (const { number, ...entry } of rows) {
        yield entry
        after = number
      }
      more = rows.length === listed
    }
  }
}

const selectCharges = `
  select id as number, 'charge' as kind, 'sandbox-' || id as id, 'sandbox-' || id as charge_id, reference, amount,
    currency, charged_at as settled_at
  from sandbox_charge
  where decline_code is null and charged_at >= $1 and charged_at < $2 and id > $3 order by number limit $4`

const selectRefunds = `
  select r.id as number, 'refund' as kind, 'sandbox-refund-' || r.id as id, 'sandbox-' || c.id as charge_id,
    r.reference, r.amount, c.currency, r.refunded_at as settled_at
  from sandbox_refund r join sandbox_charge c on c.id = r.charge_id
  where r.refunded_at >= $1 and r.refunded_at < $2 and r.id > $3 order by number limit $4`

/** Removes the charges whose references `query` selects, and their refunds. */
export async function forgetSandboxCharges(db: Db, query: string): Promise<void> {
  await db.query(
    `delete from sandbox_refund where charge_id in (select id from sandbox_charge where reference in (${query}))`,
  )
  await db.query(`delete from sandbox_charge where reference in (${query})`)
}
