import type { Donation } from '../../kernel/donation.js'
import type { Donor } from '../../kernel/donor.js'
import { listsOfEach, ofEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import { donationColumns } from './donation-columns.js'

/** A donor as stored: encrypted with a data key, which is encrypted with the key `keyId`. */
export type SealedDonor = {
  readonly keyId: string
  readonly wrappedKey: Buffer
  readonly sealed: Buffer
  readonly emailHash: Buffer
}

/** What a repeated request is compared with; `sealed`: whose data key the hash was made with, absent in rows in clear. */
export type PayloadProof = {
  readonly salt: Buffer
  readonly hash: Buffer
  readonly sealed?: Pick<SealedDonor, 'keyId' | 'wrappedKey'> | undefined
}

/** How a person is looked up: by the hash of the e-mail under each key, and by itself in rows that are still in clear. */
export type DonorLookup = { readonly hashes: readonly Buffer[]; readonly email: string }

const isDonor = `(p.email_hash = any ($1::bytea[]) or lower(p.email) = lower($2))`

/**
 * Erases what is known of a person (letter case of the e-mail ignored) and returns the number of their donations. The
 * donations stay, with their money; nothing in them leads back to the person.
 */
export async function eraseDonor(db: Db, { hashes, email }: DonorLookup): Promise<number> {
  const { rowCount } = await db.query(`delete from donor p where ${isDonor}`, [hashes, email.trim()])
  return rowCount
}

/** A person as stored: encrypted and bound to a reference, or, until that, in clear. */
export type StoredDonor = { readonly reference: string } & (
  | { readonly sealed: SealedDonor; readonly clear?: undefined }
  | { readonly sealed?: undefined; readonly clear: Donor }
)

export type DonorRow = StoredDonor & { readonly donationId: number }

type FlatDonorRow = { readonly donationId: number; readonly reference: string } & Partial<SealedDonor & Donor>

const donorColumns = `p.donation_id, coalesce(d.reference, '') as reference, p.key_id,
  p.wrapped_key, p.sealed, p.email_hash, p.email, p.details`

function toDonorRow(flat: FlatDonorRow): DonorRow {
  const { donationId, reference, keyId, wrappedKey, sealed, emailHash, email, details } = flat
  return keyId !== undefined && wrappedKey && sealed && emailHash
    ? { donationId, reference, sealed: { keyId, wrappedKey, sealed, emailHash } }
    : { donationId, reference, clear: { email: email ?? '', details: details ?? {} } }
}

/** The donations of a person, oldest first, with what is known of them. */
export async function findDonations(
  db: Db,
  { hashes, email }: DonorLookup,
): Promise<{ readonly donation: Donation; readonly donor: DonorRow }[]> {
  const { rows } = await db.query<Donation>(
    `select ${donationColumns} from donation d join donor p on p.donation_id = d.id where ${isDonor} order by d.id`,
    [hashes, email.trim()],
  )
  const donors = await listDonors(db, ofEach(rows, 'id'))
  return rows.flatMap((row) => {
    const donor = donors.get(row.id)
    return donor ? [{ donation: row, donor }] : []
  })
}

/** The donors of these donations; without those that were erased. */
export async function listDonors(db: Db, donationIds: readonly number[]): Promise<ReadonlyMap<number, DonorRow>> {
  const { rows } = await db.query<FlatDonorRow>(
    `select ${donorColumns} from donor p join donation d on d.id = p.donation_id where d.id = any ($1::bigint[])`,
    [donationIds],
  )
  return new Map(rows.map((row) => [row.donationId, toDonorRow(row)]))
}

/** How many donors are encrypted with each key; without `keyId`: in clear. */
export async function countDonorsByKey(db: Db): Promise<{ readonly keyId?: string; readonly donors: number }[]> {
  const { rows } = await db.query<{ keyId?: string; donors: number }>(
    'select key_id, count(*) as donors from donor group by key_id order by key_id nulls first',
  )
  return rows
}

/** A part of the donors that are in clear or encrypted with one of `oldKeys`, after a donation, locked until the commit. */
export async function lockDonorsToRekey(
  db: Db,
  { oldKeys, after, limit }: { readonly oldKeys: readonly string[]; readonly after: number; readonly limit: number },
): Promise<(DonorRow & { readonly payloadHash: Buffer })[]> {
  const { rows } = await db.query<FlatDonorRow & { readonly payloadHash: Buffer }>(
    `select ${donorColumns}, p.payload_hash from donor p join donation d on d.id = p.donation_id
      where p.donation_id > $2 and (p.key_id is null or p.key_id = any ($1::text[]))
      order by p.donation_id limit $3 for update of p`,
    [oldKeys, after, limit],
  )
  return rows.map((row) => ({ ...toDonorRow(row), payloadHash: row.payloadHash }))
}

/** Stores donors as they are encrypted now; nothing of them stays in clear. */
export async function saveSealedDonors(
  db: Db,
  donors: readonly (SealedDonor & { readonly donationId: number; readonly payloadHash: Buffer })[],
): Promise<void> {
  await db.query(
    `update donor p set key_id = g.key_id, wrapped_key = g.wrapped_key, sealed = g.sealed, email_hash = g.email_hash,
        payload_hash = g.payload_hash, email = null, details = null
      from unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[])
        as g (donation_id, key_id, wrapped_key, sealed, email_hash, payload_hash)
      where p.donation_id = g.donation_id`,
    listsOfEach(donors, 'donationId', 'keyId', 'wrappedKey', 'sealed', 'emailHash', 'payloadHash'),
  )
}

/** Rewrites the tables of people, which removes the old versions of their rows from the files. Donations wait meanwhile. */
export async function rewriteDonorTable(db: Db): Promise<void> {
  await db.query('vacuum (full) donor, subscription')
}
