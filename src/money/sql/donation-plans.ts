import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { OtherTexts } from '../../kernel/texts.js'
import type { Db } from '../../platform/database/connection.js'

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

/** A plan that is looked at now, as who has claimed it saw it: only that moves it on. */
export type DuePlan = {
  readonly id: number
  readonly donationId: number
  readonly state: PlanState
  readonly customer?: string | undefined
  readonly method?: string | undefined
  readonly instant: number
  readonly tries: number
  readonly nextAt?: Date | undefined
  /** When another process may claim it; changes with each claim. */
  readonly claimedUntil: Date
}

// SQL: the plan is still as its claim found it. Who stalls longer than a claim lasts moves nothing.
const asSeen = 'p.id = $1 and p.state = $2 and p.instant = $3 and p.tries = $4 and p.look_at = $5'
const seen = ({ id, state, instant, tries, claimedUntil }: DuePlan) => [id, state, instant, tries, claimedUntil]

const planColumns = `p.id, p.donation_id, coalesce(d.reference, '') as reference, d.project_id,
  d.amount, d.addon, d.currency, p.state, p.created_at, p.next_at, p.tries,
  p.ended_at, p.reason`

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
        reason = nullif(donation_plan.reason, $3),
        -- The donation is paid anew: who looks at the plan meanwhile must not end it for the payment before.
        look_at = case when donation_plan.state = 'starting' or donation_plan.reason = $3 then excluded.look_at
          else donation_plan.look_at end
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
        where p.state in ('starting', 'active') and p.look_at <= $2 and (p.next_at <= $2 or p.state = 'starting')
          and d.gateway = $1
        order by p.look_at, p.id limit 1 for update of p skip locked)
      update donation_plan p set look_at = $2::timestamptz + interval '10 minutes' from due where p.id = due.id
      returning p.id, p.donation_id, p.state, p.customer, p.method, p.instant, p.tries,
        p.next_at, p.look_at as claimed_until`,
    [gateway, now],
  )
  return rows[0]
}

/** Puts a claimed plan in force, with the processor's names for the donor's way to pay. */
export async function activatePlan(
  db: Db,
  plan: DuePlan,
  kept: { readonly customer?: string | undefined; readonly token: string; readonly nextAt: Date },
): Promise<void> {
  await db.query(
    `update donation_plan p set state = 'active', customer = $6, method = $7, next_at = $8, look_at = $8 where ${asSeen}`,
    [...seen(plan), kept.customer ?? null, kept.token, kept.nextAt],
  )
}

/** Sets which instant of a claimed plan is charged next. */
export async function schedulePlan(
  db: Db,
  plan: DuePlan,
  next: { readonly instant: number; readonly nextAt: Date },
): Promise<void> {
  await db.query(
    `update donation_plan p set instant = $6, next_at = $7, look_at = $7, tries = 0 where ${asSeen} and p.instant < $6`,
    [...seen(plan), next.instant, next.nextAt],
  )
}

/** Sets how often the instant of a claimed plan was declined, and when it is tried again. */
export async function postponePlan(
  db: Db,
  plan: DuePlan,
  { tries, lookAt }: { readonly tries: number; readonly lookAt: Date },
): Promise<void> {
  await db.query(`update donation_plan p set tries = $6, look_at = $7 where ${asSeen}`, [...seen(plan), tries, lookAt])
}

type PlanEnd = { readonly state: 'asleep' | 'ended'; readonly reason: string; readonly at: Date }

/** Ends a claimed plan; the donor of one that falls asleep is told. False: it was moved on meanwhile. */
export async function endClaimedPlan(db: Db, plan: DuePlan, { state, reason, at }: PlanEnd): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation_plan p set state = $6, reason = $7, ended_at = $8,
        tell_at = case when $6 = 'asleep' then $8::timestamptz end
      where ${asSeen}`,
    [...seen(plan), state, reason, at],
  )
  return rowCount > 0
}

/** Ends a plan because a person says so. False: it was over before, or there is none. */
export async function endPlan(
  db: Db,
  id: number,
  { reason, at }: { readonly reason: string; readonly at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update donation_plan set state = 'ended', reason = $2, ended_at = $3
      where id = $1 and state in ('starting', 'active')`,
    [id, reason, at],
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

/**
 * The reference of a try of the instant of a claimed plan: the given one, or the one that was entered before. Undefined, and
 * nothing may be charged: the instant has not come at `now`, or the plan was moved on meanwhile.
 */
export async function enterPlanCharge(
  db: Db,
  plan: DuePlan,
  { reference, now }: { readonly reference: string; readonly now: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ reference: string }>(
    `insert into donation_plan_charge (plan_id, instant, try, reference)
        select p.id, p.instant, p.tries, $6 from donation_plan p
        where ${asSeen} and p.state = 'active' and p.next_at <= $7 for update
      on conflict (plan_id, instant, try) do update set reference = donation_plan_charge.reference
      returning reference`,
    [...seen(plan), reference, now],
  )
  return rows[0]?.reference
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
  return rows
}

export async function findPlan(db: Db, id: number): Promise<DonationPlan | undefined> {
  const { rows } = await db.query<DonationPlan>(
    `select ${planColumns} from donation_plan p join donation d on d.id = p.donation_id where p.id = $1`,
    [id],
  )
  return rows[0]
}

/** The plan that a donation is a gift of. */
export async function findPlanOfDonation(db: Db, donationId: number): Promise<DonationPlan | undefined> {
  const { rows } = await db.query<DonationPlan>(
    `select ${planColumns} from donation_plan p join donation d on d.id = p.donation_id
      where p.donation_id = $1 or p.id = (
        select c.plan_id from donation_plan_charge c join donation o on o.reference = c.reference where o.id = $1)
      limit 1`,
    [donationId],
  )
  return rows[0]
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
  /** Texts of the project in other languages. */
  readonly projectTexts?: OtherTexts | undefined
  readonly endedAt: Date
}

/** Claims a plan whose donor is to be told. The claim never expires: what may have been sent is not sent twice. */
export async function claimSleepingPlan(db: Db, now: Date): Promise<SleepingPlan | undefined> {
  const { rows } = await db.query<SleepingPlan>(
    `with due as (
        select id from donation_plan where tell_at <= $1 order by tell_at, id limit 1 for update skip locked)
      update donation_plan p set tell_at = null from due, donation d join project o on o.id = d.project_id
      where p.id = due.id and d.id = p.donation_id
      returning p.id, p.donation_id, d.amount, d.addon, d.currency, o.title as project, o.texts as project_texts,
        coalesce(p.ended_at, p.created_at) as ended_at`,
    [now],
  )
  return rows[0]
}

/** Tells the donor of a sleeping plan later: the message was certainly not accepted. */
export async function tellLater(db: Db, id: number, at: Date): Promise<void> {
  await db.query(`update donation_plan set tell_at = $2 where id = $1 and state = 'asleep' and tell_at is null`, [
    id,
    at,
  ])
}
