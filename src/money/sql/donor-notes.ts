import type { IsoDate } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'

/** A donation whose donor may have written something. */
export type SettledDonation = {
  readonly id: number
  readonly day: IsoDate
  /** The donor has signed up for the newsletter of the project's organisation. */
  readonly newsletterCharity: boolean
}

/** Up to `limit` donations of a project with ids above `after`, settled since a day and not given back, by id. */
export async function listSettledDonations(
  db: Db,
  { projectId, since }: { readonly projectId: number; readonly since: IsoDate },
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<SettledDonation[]> {
  const { rows } = await db.query<SettledDonation>(
    `select id, (settled_at at time zone 'UTC')::date as day, newsletter_charity
      from donation where project_id = $1 and id > $3 and status = 'settled' and settled_at >= $2::date
      order by id limit $4`,
    [projectId, since, after, limit],
  )
  return rows
}
