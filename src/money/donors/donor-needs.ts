import type { Db } from '../../platform/database/connection.js'
import { countDonorsByKey } from '../sql/donors.js'
import { countSubscriptionsByKey } from '../sql/subscriptions.js'
import type { DonorVault } from './donor-vault.js'

/** What needs a person: donors whose key is missing, and donors in clear. */
export async function donorNeeds(db: Db, vault: DonorVault): Promise<string[]> {
  const clear = (await countDonorsByKey(db)).find(({ keyId }) => keyId === undefined)
  return [
    ...(await missingKeys(db, vault)),
    ...(clear ? [`the donors of ${clear.donors} donations are not encrypted: run giving donors rekey`] : []),
  ]
}

/** A sentence for each key that donors or subscriptions are encrypted with and that is missing. */
export async function missingKeys(db: Db, vault: DonorVault): Promise<string[]> {
  const isMissing = ({ keyId }: { readonly keyId?: string }) => keyId !== undefined && !vault.keyIds.includes(keyId)
  const ofDonors = (await countDonorsByKey(db)).filter(isMissing)
  const ofSubscriptions = (await countSubscriptionsByKey(db)).filter(isMissing)
  return [
    ...ofDonors.map(
      ({ keyId, donors }) =>
        `the donors of ${donors} donations cannot be read: the key "${keyId}" is missing from DONOR_KEYS; totals do not need it`,
    ),
    ...ofSubscriptions.map(
      ({ keyId, subscriptions }) =>
        `${subscriptions} subscriptions to reports cannot be mailed: the key "${keyId}" is missing from DONOR_KEYS`,
    ),
  ]
}
