import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** A donation as its charge at the processor tells it: whose key and which donor it was is not known. */
export type LostDonation = {
  readonly reference: string
  readonly gateway: string
  readonly projectId: number
  readonly amount: Decimal
  readonly addon: Decimal
  readonly fee: Decimal
  readonly currency: CurrencyCode
  readonly refcode: string | undefined
  readonly at: Date
}

/**
 * Enters a donation that the books lost, as one that is open; returns its id. It takes the place of a request of the same
 * reference that ended without a charge. Undefined: its project is not known, or the books have it by now. Call it in a
 * transaction that settles it.
 */
export async function enterLostDonation(db: Db, lost: LostDonation): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    `with replaced as (
        update donation d set project_id = p.id, amount = $4, addon = $5, fee = $6, currency = $7, refcode = $8,
          status = 'received', gateway = $2, api_key_id = null, idempotency_key = null, transaction_id = null,
          partner_code = null, newsletter_platform = false, newsletter_charity = false, decline_code = null,
          decline_text = null, received_at = $9, lease_until = clock_timestamp()
        from project p
        where d.reference = $1 and p.id = $3 and d.charge_id is null and d.status in ('failed', 'declined')
        returning d.id
      ), forgotten as (
        delete from donor where donation_id in (select id from replaced)
      ), entered as (
        insert into donation (reference, gateway, project_id, amount, addon, fee, currency, refcode, received_at,
          lease_until, source, status)
        select $1, $2, id, $4, $5, $6, $7, $8, $9, clock_timestamp(), 'local', 'received' from project
        where id = $3 and not exists (select from replaced)
        on conflict do nothing returning id
      ), found as (
        select id from replaced union all select id from entered
      ), event as (
        insert into donation_event (donation_id, kind, at, details)
        select id, 'received', $9, '{"enteredFrom": "charge"}' from found
      )
      select id from found`,
    [
      ...[lost.reference, lost.gateway, lost.projectId, lost.amount, lost.addon, lost.fee, lost.currency],
      ...[lost.refcode ?? null, lost.at],
    ],
  )
  return rows[0]?.id
}
