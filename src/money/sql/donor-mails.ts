import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { OtherTexts } from '../../kernel/texts.js'
import type { Db } from '../../platform/database/connection.js'
import type { PlanState } from './donation-plans.js'

/** A message that is to be mailed now, by who has claimed it. */
export type DueMail = {
  readonly id: number
  readonly kind: 'refund' | 'charge-failed' | 'statement'
  /** The number of the refund, or the year. */
  readonly subject: string
  readonly tries: number
  readonly donationId: number
  readonly reference: string
  readonly amount: Decimal
  readonly addon: Decimal
  readonly refunded: Decimal
  readonly currency: CurrencyCode
  readonly gateway: string
  readonly at: Date
  readonly receiptNumber?: string | undefined
  readonly project: string
  /** Texts of the project in other languages. */
  readonly projectTexts?: OtherTexts | undefined
  readonly projectLink?: string | undefined
  /** What was given back of amount and tip. */
  readonly givenBack?: Decimal | undefined
  /** Of a try of a regular gift. */
  readonly plan?:
    | { readonly id: number; readonly reference: string; readonly state: PlanState; readonly lookAt: string }
    | undefined
}

/** Claims the message that is due longest. The claim never expires: only its outcome makes it due again. */
export async function claimDonorMail(db: Db, now: Date): Promise<DueMail | undefined> {
  const { rows } = await db.query<DueMail>(
    `with due as (
        select id from donor_mail where state = 'due' and next_at <= $1
        order by next_at, id limit 1 for update skip locked)
      update donor_mail m set state = 'sending', tries = m.tries + 1, next_at = $1
      from due, donation d join project p on p.id = d.project_id
      where m.id = due.id and d.id = m.donation_id
      returning m.id, m.kind, m.subject, m.tries, d.id as donation_id, coalesce(d.reference, '') as reference, d.amount,
        d.addon, d.refunded, d.currency, coalesce(d.gateway, '') as gateway, coalesce(d.settled_at, d.received_at, $1) as at,
        d.receipt_number, p.title as project, p.texts as project_texts, p.project_link, (
          select amount + addon from donation_refund r where m.kind <> 'statement' and r.id::text = m.subject) as given_back, (
          select json_build_object('id', l.id, 'reference', coalesce(f.reference, ''), 'state', l.state, 'lookAt', l.look_at)
          from donation_plan_charge c join donation_plan l on l.id = c.plan_id join donation f on f.id = l.donation_id
          where c.reference = d.reference) as plan`,
    [now],
  )
  return rows[0]
}

/** The donations of a UTC year of which something remains, with a donor who is known, in their order, after one of them. */
export async function listGiftsOfYear(
  db: Db,
  { year, after, limit }: { readonly year: number; readonly after: number; readonly limit: number },
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select d.id from donation d join donor p on p.donation_id = d.id
      where d.settled_at >= make_timestamptz($1, 1, 1, 0, 0, 0, 'UTC')
        and d.settled_at < make_timestamptz($1 + 1, 1, 1, 0, 0, 0, 'UTC')
        and d.refunded < d.amount and d.id > $2
      order by d.id limit $3`,
    [year, after, limit],
  )
  return rows.map(({ id }) => id)
}

/** Makes the statements of a year due, each named by its donor's first donation; those that are known stay. Returns how many are new. */
export async function queueStatements(
  db: Db,
  { year, donationIds, at }: { readonly year: number; readonly donationIds: readonly number[]; readonly at: Date },
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into donor_mail (donation_id, kind, subject, next_at)
      select id, 'statement', $2, $3 from unnest($1::bigint[]) id on conflict do nothing`,
    [donationIds, String(year), at],
  )
  return rowCount
}
