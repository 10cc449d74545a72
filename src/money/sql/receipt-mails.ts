import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { OtherTexts } from '../../kernel/texts.js'
import type { Db } from '../../platform/database/connection.js'

/**
 * `due -> sending -> sent`, or back to `due`; `refused`: the server takes no mail for the recipient; `failed`: tried too often;
 * `unknown`: it may have been sent; `dropped`: the donor was erased, or all of the money was given back.
 */
type ReceiptMailState = 'due' | 'sending' | 'sent' | 'refused' | 'failed' | 'unknown' | 'dropped'

/** What the books say of a receipt. */
export type Receipt = {
  readonly donationId: number
  readonly reference: string
  readonly receiptNumber: string
  readonly settledAt: Date
  readonly amount: Decimal
  readonly addon: Decimal
  readonly currency: CurrencyCode
  readonly gateway: string
  readonly project: string
  /** Texts of the project in other languages. */
  readonly projectTexts?: OtherTexts | undefined
  readonly projectLink?: string | undefined
  /** What was given back of the amount. */
  readonly refunded: Decimal
}

/** A receipt that is to be mailed now, by who has claimed it. */
export type DueReceipt = Receipt & {
  /** Of a regular gift: its plan, by its id and the reference of its first donation. */
  readonly plan?: { readonly id: number; readonly reference: string } | undefined
  /** False: all of the money was given back. */
  readonly wanted: boolean
  /** How often it was tried, this time included. */
  readonly tries: number
}

const receiptColumns = `d.id as donation_id, coalesce(d.reference, '') as reference, d.receipt_number,
  d.settled_at, d.amount, d.addon, d.currency, coalesce(d.gateway, '') as gateway, p.title as project,
  p.texts as project_texts, p.project_link, d.refunded`

/** The receipt of a donation that was paid here; undefined: there is none. */
export async function findReceipt(db: Db, donationId: number): Promise<Receipt | undefined> {
  const { rows } = await db.query<Receipt>(
    `select ${receiptColumns} from donation d join project p on p.id = d.project_id
      where d.id = $1 and d.receipt_number is not null and d.settled_at is not null and d.reference is not null`,
    [donationId],
  )
  return rows[0]
}

/** Claims the receipt that is due longest. The claim never expires: only its outcome makes the receipt due again. */
export async function claimReceiptMail(db: Db, now: Date): Promise<DueReceipt | undefined> {
  const { rows } = await db.query<DueReceipt>(
    `with due as (
        select donation_id from receipt_mail where state = 'due' and next_at <= $1
        order by next_at, donation_id limit 1 for update skip locked)
      update receipt_mail m set state = 'sending', tries = m.tries + 1, next_at = $1
      from due, donation d join project p on p.id = d.project_id
      where m.donation_id = due.donation_id and d.id = due.donation_id
      returning ${receiptColumns}, d.refunded < d.amount as wanted, m.tries, (
          select json_build_object('id', l.id, 'reference', coalesce(f.reference, ''))
          from donation_plan l join donation f on f.id = l.donation_id
          where l.donation_id = d.id
            or l.id = (select c.plan_id from donation_plan_charge c where c.reference = d.reference)) as plan`,
    [now],
  )
  return rows[0]
}

/** How a claimed message ended; `reply` is the server's code. */
export type MailOutcome = {
  readonly state: ReceiptMailState
  readonly at: Date
  readonly nextAt?: Date
  readonly reply?: number | undefined
  /** When it was claimed. */
  readonly claimedAt: Date
}

const keyOf = { receipt_mail: 'donation_id', donor_mail: 'id', subscription_mail: 'id' } as const

/**
 * Records how a claimed message ended; receipts are named by their donation. Only that it was sent counts after an operator has
 * made it due again: nothing else may make it due for a third time.
 */
export async function recordMail(db: Db, table: keyof typeof keyOf, id: number, outcome: MailOutcome): Promise<void> {
  const { state, at, nextAt = at, reply = null, claimedAt } = outcome
  await db.query(
    `update ${table} set state = $2, next_at = $3, reply = $4, sent_at = case when $2 = 'sent' then $5::timestamptz end
      where ${keyOf[table]} = $1 and ($2 = 'sent' or state = 'sending' and next_at = $6)`,
    [id, state, nextAt, reply, at, claimedAt],
  )
}

/** How the mail with the receipt of a donation stands; undefined: none is mailed. */
export async function findReceiptMail(
  db: Db,
  donationId: number,
): Promise<{ readonly state: ReceiptMailState; readonly sentAt?: Date | undefined } | undefined> {
  const { rows } = await db.query<{ state: ReceiptMailState; sentAt?: Date }>(
    'select state, sent_at from receipt_mail where donation_id = $1',
    [donationId],
  )
  return rows[0]
}

/** Messages that are not sent, by who is to get them. */
const unsent = {
  donors: `(select state, next_at from receipt_mail where state <> 'sent'
    union all select state, next_at from donor_mail where state <> 'sent') mail`,
  subscribers: `subscription_mail where state <> 'sent'`,
} as const

/** How many messages were not mailed, by what is known of them; `sending` for more than an hour is unknown. */
export async function countUnmailed(
  db: Db,
  to: keyof typeof unsent,
  now: Date,
): Promise<{ readonly refused: number; readonly failed: number; readonly unknown: number }> {
  const { rows } = await db.query<{ refused: number; failed: number; unknown: number }>(
    `select count(*) filter (where state = 'refused') as refused, count(*) filter (where state = 'failed') as failed,
        count(*) filter (where state = 'unknown' or state = 'sending' and next_at < $1) as unknown
      from ${unsent[to]}`,
    [new Date(now.getTime() - 3_600_000)],
  )
  return rows[0] ?? { refused: 0, failed: 0, unknown: 0 }
}

/** Makes all mail to donors due again of which nobody knows whether it was sent; returns how many. */
export async function requeueUnknownReceiptMails(db: Db, now: Date): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `with receipts as (
        update receipt_mail set state = 'due', tries = 0, next_at = $1
        where state = 'unknown' or state = 'sending' and next_at < $1::timestamptz - interval '1 hour' returning 1
      ), others as (
        update donor_mail set state = 'due', tries = 0, next_at = $1
        where state = 'unknown' or state = 'sending' and next_at < $1::timestamptz - interval '1 hour' returning 1
      )
      select (select count(*) from receipts) + (select count(*) from others) as count`,
    [now],
  )
  return rows[0]?.count ?? 0
}

/** Makes the receipt of a settled donation due, again if need be; false: it has none, or it is being mailed. */
export async function requeueReceiptMail(db: Db, donationId: number, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into receipt_mail (donation_id, next_at)
        select id, $2 from donation where id = $1 and receipt_number is not null and reference is not null
      on conflict (donation_id) do update set state = 'due', tries = 0, next_at = excluded.next_at
        where receipt_mail.state <> 'sending' or receipt_mail.next_at < excluded.next_at - interval '1 hour'`,
    [donationId, now],
  )
  return rowCount > 0
}
