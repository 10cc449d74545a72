import type { IsoDate } from '../../kernel/dates.js'
import { ofEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import type { SettledDonation } from '../sql/donor-notes.js'
import { listDonors } from '../sql/donors.js'
import type { DonorVault } from './donor-vault.js'

/** What a donor lets the project's organisation know. */
export type DonorNote = {
  readonly donation: number
  readonly date: IsoDate
  /** Only of a donor who has signed up for the organisation's newsletter. */
  readonly name?: string
  /** What the donor wrote to the organisation. */
  readonly note?: string
}

/**
 * The notes and names of these donations that their donors let the organisation know; donations with neither, and those whose
 * donors were erased or are encrypted with a key that is missing, are left out. Throws `donor-data-changed`.
 */
export async function readDonorNotes(
  db: Db,
  vault: DonorVault,
  donations: readonly SettledDonation[],
): Promise<DonorNote[]> {
  const donors = await listDonors(db, ofEach(donations, 'id'))
  const keys = new Set(vault.keyIds)
  return donations.flatMap(({ id, day, newsletterCharity }) => {
    const row = donors.get(id)
    if (!row || (row.sealed && !keys.has(row.sealed.keyId))) return []
    const { details } = row.sealed ? vault.open(row.sealed, row.reference) : row.clear
    const note = details.noteToOrganization ?? ''
    const name = newsletterCharity ? [details.firstname, details.lastname].filter(Boolean).join(' ') : ''
    if (note === '' && name === '') return []
    return [{ donation: id, date: day, ...(name !== '' && { name }), ...(note !== '' && { note }) }]
  })
}
