import type { Decimal } from '../../kernel/money.js'
import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'

/** What a charge says beside its amount, and when its money moves. */
type ChargeDetails = {
  readonly amount: Decimal
  readonly currency: string
  /** Absent: approved. */
  readonly declineCode?: number | undefined
  /** The last part of the address at which the donor confirms it; absent: the donor is not asked. */
  readonly secret?: string | undefined
  /** When money moves, or is known not to; absent: at once. */
  readonly settlesAt?: Date | undefined
  /** What is paid out for it in the platform's currency; absent: what was charged. */
  readonly settledAmount?: Decimal | undefined
  readonly settledCurrency?: string | undefined
}

/** A charge that the sandbox gateway has entered. */
export type SandboxCharge = ChargeDetails & {
  readonly id: number
  readonly reference: string
  readonly at: Date
  readonly answeredAt?: Date | undefined
  /** What later charges of its card are declined with. */
  readonly cardCode?: number | undefined
  readonly dispute?: 'open' | 'won' | 'lost' | undefined
}

export type SandboxChargeState = SandboxCharge & {
  readonly refunds: readonly { readonly id: string; readonly reference: string; readonly amount: Decimal }[]
}

/** A charge as the gateway is asked for it. */
export type ChargeEntry = ChargeDetails & { readonly reference: string; readonly at: Date }

const chargeColumns = `id, reference, charged_at as at, amount, currency, decline_code, secret, answered_at, settles_at,
  settled_amount, settled_currency, card_code, dispute`

/**
 * Enters charges, or finds the ones that their references already have: one reference is charged once. The commit does not
 * wait for the disk: the later commit of the settlement makes the charge durable too, and a charge that is lost before it
 * was never answered.
 */
export async function enterCharges(db: Db, charges: readonly ChargeEntry[]): Promise<SandboxCharge[]> {
  const references = charges.map(({ reference }) => reference)
  const { rows } = await db.query<SandboxCharge>(
    enterAll,
    [
      ...listsOfEach(charges, 'reference', 'amount', 'currency', 'declineCode', 'at', 'secret'),
      ...listsOfEach(charges, 'settlesAt', 'settledAmount', 'settledCurrency'),
    ],
    'enter-sandbox-charges',
  )
  const entered = new Map(rows.map((charge) => [charge.reference, charge]))
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
  insert into sandbox_charge (reference, amount, currency, decline_code, charged_at, secret, settles_at, settled_amount,
    settled_currency)
  select g.* from setting, unnest($1::text[], $2::numeric[], $3::text[], $4::integer[], $5::timestamptz[], $6::text[],
    $7::timestamptz[], $8::numeric[], $9::text[]) as g
  order by 1
  on conflict (reference) do nothing returning ${chargeColumns}`

/** The charge with this reference. */
export async function findCharge(db: Db, reference: string): Promise<SandboxCharge | undefined> {
  const { rows } = await db.query<SandboxCharge>(`select ${chargeColumns} from sandbox_charge where reference = $1`, [
    reference,
  ])
  return rows[0]
}

/** The charge that the donor confirms at this address. */
export async function findAskedCharge(db: Db, secret: string): Promise<SandboxCharge | undefined> {
  const { rows } = await db.query<SandboxCharge>(`select ${chargeColumns} from sandbox_charge where secret = $1`, [
    secret,
  ])
  return rows[0]
}

/** The charge with this id. */
export async function findChargeById(db: Db, id: number): Promise<SandboxChargeState | undefined> {
  const { rows } = await db.query<SandboxChargeState>(
    `select ${chargeColumns},
        coalesce((select json_agg(json_build_object('id', 'sandbox-refund-' || r.id, 'reference', r.reference,
          'amount', r.amount::text) order by r.id) from sandbox_refund r where r.charge_id = c.id), '[]') as refunds
      from sandbox_charge c where c.id = $1`,
    [id],
  )
  return rows[0]
}

/** Answers the charge that waits for its donor; with `declineCode` it is declined. False: it does not wait. */
export async function answerCharge(
  db: Db,
  reference: string,
  { at, declineCode }: { readonly at: Date; readonly declineCode: number | undefined },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update sandbox_charge set answered_at = $2, decline_code = $3
      where reference = $1 and secret is not null and answered_at is null`,
    [reference, at, declineCode ?? null],
  )
  return rowCount > 0
}

/** Sets what later charges of the card are declined with that a donation was paid with: all charges of a plan have one card. */
export async function setCard(db: Db, reference: string, code: number | undefined): Promise<void> {
  await db.query(
    `update sandbox_charge set card_code = $2 where reference = coalesce((
        select f.reference from donation_plan_charge c join donation_plan p on p.id = c.plan_id
          join donation f on f.id = p.donation_id where c.reference = $1), $1)`,
    [reference, code ?? null],
  )
}

/** Sets how a dispute of the charge stands; its id follows from the charge. */
export async function setDispute(db: Db, id: number, status: NonNullable<SandboxCharge['dispute']>): Promise<void> {
  await db.query('update sandbox_charge set dispute = $2 where id = $1', [id, status])
}

/** The charges of open donations whose money has moved by now, or is known not to. */
export async function listDueCharges(db: Db, now: Date): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select c.id from sandbox_charge c join donation d on d.reference = c.reference
      where d.status = 'received' and d.gateway = 'sandbox' and (c.secret is null or c.answered_at is not null)
        and (c.settles_at is not null or c.answered_at is not null) and ${moves} <= $1
      order by ${moves}, c.id`,
    [now],
  )
  return rows.map(({ id }) => id)
}

/** When something is next due at the sandbox after an instant: money moves, a donor has not answered, or a plan is looked at. */
export async function nextDueAfter(db: Db, now: Date, abandonedMs: number): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | undefined }>(
    `select min(at) as at from (
        select p.look_at as at from donation_plan p join donation d on d.id = p.donation_id
          where p.state in ('starting', 'active') and d.gateway = 'sandbox'
        union all
        select c.settles_at from sandbox_charge c join donation d on d.reference = c.reference
          where d.status = 'received' and d.gateway = 'sandbox'
        union all
        select d.received_at + $2 * interval '1 ms' from sandbox_charge c join donation d on d.reference = c.reference
          where d.status = 'received' and d.gateway = 'sandbox' and c.secret is not null and c.answered_at is null
      ) due where at > $1`,
    [now, abandonedMs],
  )
  return rows[0]?.at
}

/** Open donations of the sandbox that were received before an instant, and whose donors have not answered. */
export async function listUnanswered(
  db: Db,
  before: Date,
): Promise<{ readonly id: number; readonly reference: string }[]> {
  const { rows } = await db.query<{ id: number; reference: string }>(
    `select d.id, d.reference from sandbox_charge c join donation d on d.reference = c.reference
      where d.status = 'received' and d.gateway = 'sandbox' and c.secret is not null and c.answered_at is null
        and d.received_at <= $1 order by d.id`,
    [before],
  )
  return rows
}

/** A step of a donation at the sandbox. */
export type SandboxStep = {
  readonly at: Date
  readonly donation: number
  readonly step: string
  readonly amount: Decimal
  readonly currency: string
}

/** What happened to donations of the sandbox after one instant and until another, oldest first. */
export async function listSandboxSteps(db: Db, after: Date, until: Date): Promise<SandboxStep[]> {
  const { rows } = await db.query<SandboxStep>(
    `select e.at, d.id as donation, e.kind as step, d.amount + d.addon as amount, d.currency
      from donation_event e join donation d on d.id = e.donation_id
      where d.gateway = 'sandbox' and e.at > $1 and e.at <= $2 and e.kind <> 'received' order by e.at, e.id`,
    [after, until],
  )
  return rows
}

/** The newest charges with their donations, newest first. */
export async function listSandboxCharges(
  db: Db,
  limit: number,
): Promise<(SandboxCharge & { readonly donation?: number | undefined })[]> {
  const { rows } = await db.query<SandboxCharge & { donation?: number | undefined }>(
    `select ${chargeColumns}, (select d.id from donation d where d.reference = c.reference) as donation
      from sandbox_charge c order by id desc limit $1`,
    [limit],
  )
  return rows
}

// SQL: when money of a charge moves, unless its donor is still asked.
const moves = 'greatest(charged_at, answered_at, settles_at)'

// SQL: money of the charge has moved by this instant.
const isPaid = (instant: string) =>
  `decline_code is null and (secret is null or answered_at is not null) and ${moves} <= ${instant}`

/**
 * Enters a refund of a charge that was paid, or finds the one that this reference already has; returns its id. Undefined: no
 * paid charge has this reference, or less is left of it.
 */
export async function enterRefund(
  db: Db,
  refund: { readonly reference: string; readonly chargeReference: string; readonly amount: Decimal; readonly at: Date },
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    `with charge as (
        select id, amount from sandbox_charge where reference = $2 and ${isPaid('$4')} for update
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
    currency, ${moves} as settled_at
  from sandbox_charge
  where ${isPaid('$2')} and ${moves} >= $1 and ${moves} < $2 and id > $3
  order by number limit $4`

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
