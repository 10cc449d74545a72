import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { withoutNulls } from '../../platform/database/without-nulls.js'

/** `starting -> active -> asleep | ended`: an `asleep` one could not be charged; both are over. */
export type PlanState = 'starting' | 'active' | 'asleep' | 'ended'

/** A gift of every month. */
export type DonationPlan = {
  readonly id: number
  /** The first donation; amount, tip and project of every charge are its. */
  readonly donationId: number
  readonly reference: string
  readonly projectId: number
  readonly amount: Decimal
  readonly addon: Decimal
  readonly currency: CurrencyCode
  readonly state: PlanState
  readonly createdAt: Date
  /** When it is charged next; absent while its first donation is not settled. */
  readonly nextAt?: Date | undefined
  /** How often the next charge was declined. */
  readonly tries: number
  readonly endedAt?: Date | undefined
  readonly reason?: string | undefined
}

/** A plan that is looked at now, by who has claimed it. */
export type DuePlan = {
  readonly id: number
  readonly donationId: number
  readonly state: PlanState
  readonly customer?: string | undefined
  readonly method?: string | undefined
  readonly instant: number
  readonly tries: number
  readonly nextAt?: Date | undefined
}

const planColumns = `p.id, p.donation_id as "donationId", coalesce(d.reference, '') as reference, d.project_id as "projectId",
  d.amount, d.addon, d.currency, p.state, p.created_at as "createdAt", p.next_at as "nextAt", p.tries,
  p.ended_at as "endedAt", p.reason`

/** Why a plan ended whose first donation was not paid; it begins anew with a request that is repeated. */
export const notPaid = 'the first gift was not paid'

/** Records that a donation is the first of a plan; returns the plan's id. A plan that ended without a gift begins anew. */
export async function recordPlan(db: Db, donationId: number, at: Date): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into donation_plan (donation_id, look_at, created_at)
      values ($1, $2::timestamptz + interval '1 minute', $2)
      on conflict (donation_id) do update set
        state = case when donation_plan.reason = $3 then 'starting' else donation_plan.state end,
        ended_at = case when donation_plan.reason = $3 then null else donation_plan.ended_at end,
        reason = nullif(donation_plan.reason, $3)
      returning id`,
    [donationId, at, notPaid],
  )
  if (!rows[0]) throw new Error(`the plan of donation ${donationId} vanished`)
  return rows[0].id
}

/** Claims the plan that is due longest, by postponing it: when this process dies, another one takes it up. */
export async function claimDuePlan(
  db: Db,
  { gateway, now }: { readonly gateway: string; readonly now: Date },
): Promise<DuePlan | undefined> {
  const { rows } = await db.query<DuePlan>(
    `with due as (
        select p.id from donation_plan p join donation d on d.id = p.donation_id
        where p.state in ('starting', 'active') and p.look_at <= $2 and d.gateway = $1
        order by p.look_at, p.id limit 1 for update of p skip locked)
      update donation_plan p set look_at = $2::timestamptz + interval '10 minutes' from due where p.id = due.id
      returning p.id, p.donation_id as "donationId", p.state, p.customer, p.method, p.instant, p.tries,
        p.next_at as "nextAt"`,
    [gateway, now],
  )
  return rows[0] && withoutNulls(rows[0])
}

/** Puts a plan in force, with the processor's names for the donor's way to pay. */
export async function activatePlan(
  db: Db,
  id: number,
  kept: { readonly customer?: string | undefined; readonly token: string; readonly nextAt: Date },
): Promise<void> {
  await db.query(
    `update donation_plan set state = 'active', customer = $2, method = $3, next_at = $4, look_at = $4
      where id = $1 and state = 'starting'`,
    [id, kept.customer ?? null, kept.token, kept.nextAt],
  )
}

/** Sets which instant is charged next. */
export async function schedulePlan(
  db: Db,
  id: number,
  next: { readonly instant: number; readonly nextAt: Date },
): Promise<void> {
  await db.query(
    `update donation_plan set instant = $2, next_at = $3, look_at = $3, tries = 0
      where id = $1 and state = 'active' and instant < $2`,
    [id, next.instant, next.nextAt],
  )
}

/** Sets how often an instant was declined, and when it is tried again. */
export async function postponePlan(
  db: Db,
  id: number,
  { tries, lookAt }: { readonly tries: number; readonly lookAt: Date },
): Promise<void> {
  await db.query(`update donation_plan set tries = $2, look_at = $3 where id = $1 and state = 'active'`, [
    id,
    tries,
    lookAt,
  ])
}

/** Ends a plan; the donor of one that falls asleep is told. False: it was over before, or there is none. */
export async function endPlan(
  db: Db,
  id: number,
  { state, reason, at }: { readonly state: 'asleep' | 'ended'; readonly reason: string; readonly at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation_plan set state = $2, reason = $3, ended_at = $4,
        tell_at = case when $2 = 'asleep' then $4::timestamptz end
      where id = $1 and state in ('starting', 'active')`,
    [id, state, reason, at],
  )
  return rowCount > 0
}

/** Ends the plans whose way to pay, or whose donor, the processor has given up; returns how many. */
export async function endPlansOfMethod(
  db: Db,
  { gateway, method, reason, at }: Readonly<Record<'gateway' | 'method' | 'reason', string>> & { readonly at: Date },
): Promise<number> {
  const { rowCount } = await db.query(
    `update donation_plan p set state = 'ended', reason = $3, ended_at = $4 from donation d
      where d.id = p.donation_id and d.gateway = $1 and (p.method = $2 or p.customer = $2)
        and p.state in ('starting', 'active')`,
    [gateway, method, reason, at],
  )
  return rowCount
}

/** The reference of a try of an instant: the given one, or the one that was entered before. */
export async function enterPlanCharge(db: Db, { id, instant, tries }: DuePlan, reference: string): Promise<string> {
  const { rows } = await db.query<{ reference: string }>(
    `insert into donation_plan_charge (plan_id, instant, try, reference) values ($1, $2, $3, $4)
      on conflict (plan_id, instant, try) do update set reference = donation_plan_charge.reference
      returning reference`,
    [id, instant, tries, reference],
  )
  return rows[0]?.reference ?? reference
}

/** Whether a charge of this instant was begun. */
export async function hasPlanCharge(db: Db, { id, instant }: DuePlan): Promise<boolean> {
  const { rows } = await db.query('select from donation_plan_charge where plan_id = $1 and instant = $2 limit 1', [
    id,
    instant,
  ])
  return rows.length > 0
}

/** The newest plans, newest first; those whose first donation was not paid are left out. */
export async function listPlans(
  db: Db,
  { state, limit }: { readonly state: PlanState | undefined; readonly limit: number },
): Promise<DonationPlan[]> {
  const { rows } = await db.query<DonationPlan>(
    `select ${planColumns} from donation_plan p join donation d on d.id = p.donation_id
      where ($1::text is null or p.state = $1) and (p.method is not null or p.state <> 'ended')
      order by p.id desc limit $2`,
    [state ?? null, limit],
  )
  return rows.map(withoutNulls)
}

export async function findPlan(db: Db, id: number): Promise<DonationPlan | undefined> {
  const { rows } = await db.query<DonationPlan>(
    `select ${planColumns} from donation_plan p join donation d on d.id = p.donation_id where p.id = $1`,
    [id],
  )
  return rows[0] && withoutNulls(rows[0])
}

/** The numbers of a plan's donations, oldest first. */
export async function listPlanDonations(db: Db, id: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select donation_id as id from donation_plan where id = $1
      union select d.id from donation_plan_charge c join donation d on d.reference = c.reference where c.plan_id = $1
      order by id`,
    [id],
  )
  return rows.map((row) => row.id)
}

/** A plan whose donor is told now that it sleeps, by who has claimed it. */
export type SleepingPlan = {
  readonly id: number
  readonly donationId: number
  readonly amount: Decimal
  readonly addon: Decimal
  readonly currency: CurrencyCode
  readonly project: string
  readonly endedAt: Date
}

/** Claims a plan whose donor is to be told. The claim never expires: what may have been sent is not sent twice. */
export async function claimSleepingPlan(db: Db, now: Date): Promise<SleepingPlan | undefined> {
  const { rows } = await db.query<SleepingPlan>(
    `with due as (
        select id from donation_plan where tell_at <= $1 order by tell_at, id limit 1 for update skip locked)
      update donation_plan p set tell_at = null from due, donation d join project o on o.id = d.project_id
      where p.id = due.id and d.id = p.donation_id
      returning p.id, p.donation_id as "donationId", d.amount, d.addon, d.currency, o.title as project,
        coalesce(p.ended_at, p.created_at) as "endedAt"`,
    [now],
  )
  return rows[0]
}

/** Tells the donor of a sleeping plan later: the message was certainly not accepted. */
export async function tellLater(db: Db, id: number, at: Date): Promise<void> {
  await db.query('update donation_plan set tell_at = $2 where id = $1', [id, at])
}
