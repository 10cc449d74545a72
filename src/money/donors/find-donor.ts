import type { Donation } from '../../kernel/donation.js'
import type { Donor } from '../../kernel/donor.js'
import type { Db } from '../../platform/database/connection.js'
import { findDonations, listDonors } from '../sql/donors.js'
import type { DonorVault } from './donor-vault.js'

/** One donation of a person, with all that is known of them. */
export type DonorRecord = {
  readonly donation: Donation
  readonly email: string
  readonly details: Readonly<Record<string, string>>
}

/** Who made a donation; undefined: the donor was erased. Throws `donor-key-missing`, `donor-data-changed`. */
export async function donorOf(db: Db, vault: DonorVault, donationId: number): Promise<Donor | undefined> {
  const row = (await listDonors(db, [donationId])).get(donationId)
  return row && (row.sealed ? vault.open(row.sealed, row.reference) : row.clear)
}

/** In which language a donor wants mail and pages; undefined: that is not known. */
export async function languageOfDonor(db: Db, vault: DonorVault, donationId: number): Promise<string | undefined> {
  const row = (await listDonors(db, [donationId])).get(donationId)
  if (!row || (row.sealed && !vault.keyIds.includes(row.sealed.keyId))) return undefined
  return (row.sealed ? vault.open(row.sealed, row.reference) : row.clear).details.language
}

/**
 * The donations of a person, oldest first; letter case of the e-mail does not count. Donors whose key is missing cannot be
 * found. Throws `donor-data-changed`.
 */
export async function findDonor(db: Db, vault: DonorVault, email: string): Promise<DonorRecord[]> {
  const found = await findDonations(db, { hashes: vault.lookupHashes(email), email })
  return found.map(({ donation, donor }) => ({
    donation,
    ...(donor.sealed ? vault.open(donor.sealed, donor.reference) : donor.clear),
  }))
}
