import type { IsoDate } from '../domain/dates.js'
import type { Decline, Donation, ProjectTotals } from '../domain/donation.js'
import type { Db } from './connection.js'
import { totalsObject } from './donation-intents.js'
import { type DonationRow, donationColumns, toDonation } from './donation-rows.js'

/** What the books say after a donation has settled. */
export type Settlement = {
  readonly receiptNumber: string
  readonly settledAt: Date
  readonly totals: ProjectTotals
}

/**
 * Settles an open donation: state, receipt, project totals, month, fee and event in one statement, hence in one
 * transaction of one round trip, which keeps a hot project's row locked no longer than its commit takes. Undefined: the
 * donation is not open (any more). Rows are locked in this order by every writer: donation, project, months, version.
 */
export async function recordSettled(
  db: Db,
  settled: { readonly id: number; readonly chargeId: string; readonly at: Date; readonly day: IsoDate },
): Promise<Settlement | undefined> {
  const { rows } = await db.query<{
    project_id: number
    receipt_number: string
    details: Omit<ProjectTotals, 'projectId'>
  }>(settle, [settled.id, settled.at, settled.chargeId, settled.day], 'settle-donation')
  const row = rows[0]
  return (
    row && {
      receiptNumber: row.receipt_number,
      settledAt: settled.at,
      totals: { projectId: row.project_id, ...row.details },
    }
  )
}

// Written so that no partial index over open donations fits: a plan that read all of them to find one would be slow.
const isOpen = `status || '' = 'received'`

const settle = `
  with settled as (
    update donation set status = 'settled', settled_at = $2, charge_id = $3,
      receipt_number = 'R' || nextval('receipt_number_seq') || '-GC' || nextval('receipt_contribution_seq') || '-T1'
    where id = $1 and ${isOpen}
    returning id, project_id, funder_id, amount, fee, currency, receipt_number
  ), totals as (
    update project p set funding = p.funding + s.amount, number_of_donations = p.number_of_donations + 1,
      remaining = case when p.goal is null then p.remaining else greatest(p.goal - p.funding - s.amount, 0) end
    from settled s where p.id = s.project_id
    returning s.*, ${totalsObject('p')} as details
  ), months as (
    insert into donation_month (project_id, month, currency, kind, source, funder_id, amount, count, last_on, itemised)
    select t.project_id, date_trunc('month', $4::date)::date, t.currency, part.kind, 'local', t.funder_id, part.amount,
      1, $4, part.amount
    from totals t, lateral (values ('fee', t.fee), ('gift', t.amount)) part (kind, amount)
    where part.amount > 0
    on conflict (project_id, month, currency, kind, source, funder_id) do update set
      amount = donation_month.amount + excluded.amount, count = donation_month.count + 1,
      last_on = greatest(donation_month.last_on, excluded.last_on),
      itemised = donation_month.itemised + excluded.itemised
  ), event as (
    insert into donation_event (donation_id, kind, at, details) select id, 'settled', $2, details from totals
  )
  select project_id, receipt_number, details from totals`

/** Closes an open donation whose payment was refused; false: it was not open (any more). */
export async function recordDeclined(db: Db, id: number, decline: Decline, at: Date): Promise<boolean> {
  const { rows } = await db.query(
    `with declined as (
        update donation set status = 'declined', decline_code = $2, decline_text = $3
        where id = $1 and ${isOpen} returning id
      ), event as (
        insert into donation_event (donation_id, kind, at, details)
        select id, 'declined', $4, jsonb_build_object('code', $2::integer) from declined
      )
      select id from declined`,
    [id, decline.code, decline.text, at],
  )
  return rows.length > 0
}

/**
 * Closes an open donation that was not charged; false: it was not open (any more). Where that is not quite certain, it is
 * looked up once more after `lookAgainSeconds`.
 */
export async function recordFailed(
  db: Db,
  id: number,
  failure: { readonly reason: string; readonly at: Date; readonly lookAgainSeconds?: number },
): Promise<boolean> {
  const { rows } = await db.query(
    `with failed as (
        update donation set status = 'failed', lease_until = clock_timestamp() + make_interval(secs => $4)
        where id = $1 and ${isOpen} returning id
      ), event as (
        insert into donation_event (donation_id, kind, at, details)
        select id, 'failed', $3, jsonb_build_object('reason', $2::text) from failed
      )
      select id from failed`,
    [id, failure.reason, failure.at, failure.lookAgainSeconds ?? null],
  )
  return rows.length > 0
}

/** Takes donations that failed and are due to be looked up once more. */
export async function takeFailedDonations(
  db: Db,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<(Donation & { readonly reference: string })[]> {
  const { rows } = await db.query<DonationRow>(
    `with due as (
        select id from donation where status = 'failed' and lease_until < clock_timestamp()
        order by lease_until, id limit $1 for update skip locked)
      update donation d set lease_until = clock_timestamp() + make_interval(secs => $2) from due where d.id = due.id
      returning ${donationColumns}`,
    [limit, leaseSeconds],
  )
  return rows.map((row) => ({ ...toDonation(row), reference: row.reference ?? '' }))
}

/** Says that a donation that failed has been looked up for the last time. */
export async function closeFailedDonation(db: Db, id: number): Promise<void> {
  await db.query(`update donation set lease_until = null where id = $1 and status = 'failed'`, [id])
}
