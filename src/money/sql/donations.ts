import type { IsoDate } from '../../kernel/dates.js'
import type { Donation, DonationEvent, DonationStatus } from '../../kernel/donation.js'
import type { Db } from '../../platform/database/connection.js'
import { donationColumns } from './donation-columns.js'

export type DonationFilter = {
  readonly projectId: number | undefined
  readonly status: DonationStatus | undefined
  readonly transactionId: string | undefined
  readonly limit: number
  /** Its number, our reference, its receipt's number or its transactionId. */
  readonly name?: string | undefined
  /** The UTC day on which it was received. */
  readonly day?: IsoDate | undefined
  readonly ids?: readonly number[] | undefined
}

/** The newest donations that were made here, newest first. */
export async function listDonations(db: Db, filter: DonationFilter): Promise<Donation[]> {
  const { rows } = await db.query<Donation>(
    `select ${donationColumns} from donation d
      where d.reference is not null and ($1::bigint is null or d.project_id = $1)
        and ($2::text is null or d.status = $2) and ($3::text is null or d.transaction_id = $3)
        and ($5::text is null or $5 in (d.id::text, d.reference, d.receipt_number, d.transaction_id))
        and ($6::date is null or (d.received_at >= $6::date and d.received_at < $6::date + 1))
        and ($7::bigint[] is null or d.id = any ($7::bigint[]))
      order by d.id desc limit $4`,
    [
      ...[filter.projectId, filter.status, filter.transactionId, filter.limit],
      ...[filter.name ?? null, filter.day ?? null, filter.ids ?? null],
    ],
  )
  return rows
}

export type DonationHistory = {
  readonly donation: Donation
  readonly events: readonly DonationEvent[]
  readonly donorKnown: boolean
}

export async function findDonationHistory(db: Db, id: number): Promise<DonationHistory | undefined> {
  const { rows } = await db.query<Donation & { readonly donorKnown: boolean }>(
    `select ${donationColumns}, exists (select from donor p where p.donation_id = d.id) as donor_known
      from donation d where d.id = $1`,
    [id],
  )
  if (!rows[0]) return undefined
  const { donorKnown, ...donation } = rows[0]
  const events = await db.query<DonationEvent>(
    'select kind, at, details from donation_event where donation_id = $1 order by id',
    [id],
  )
  return { donation, events: events.rows, donorKnown }
}
