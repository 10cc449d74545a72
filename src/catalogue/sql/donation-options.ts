import type { DonationOption } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'

/** What certain gifts to a project do, in the order of its record. */
export async function donationOptionsOf(db: Db, project: number): Promise<DonationOption[]> {
  const { rows } = await db.query<DonationOption>(
    'select amount, description from donation_option where project_id = $1 order by position',
    [project],
    'donation-options',
  )
  return rows
}
