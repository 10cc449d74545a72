import type { Donation } from '../../kernel/donation.js'
import type { Db } from '../../platform/database/connection.js'
import { findDonations } from '../sql/donors.js'
import type { DonorVault } from './donor-vault.js'

/** One donation of a person, with all that is known of them. */
export type DonorRecord = {
  readonly donation: Donation
  readonly email: string
  readonly details: Readonly<Record<string, string>>
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
