import { ServiceError, toServiceError } from '../../kernel/errors.js'
import type { Store } from '../../platform/database/store.js'
import {
  countDonorsByKey,
  type DonorRow,
  lockDonorsToRekey,
  rewriteDonorTable,
  saveSealedDonors,
} from '../sql/donors.js'
import type { DonorVault } from './donor-vault.js'

/** What a rotation has done. */
export type Rekeyed = {
  /** Rows that were in clear. */
  readonly encrypted: number
  /** Rows that were encrypted with another key. */
  readonly rekeyed: number
  /** Rows whose key is missing, by its id: they stay as they are. */
  readonly unreadable: Readonly<Record<string, number>>
  /** Donations whose donor's data is not what was encrypted: they stay as they are. */
  readonly changed: readonly number[]
}

export type RekeyOptions = {
  /** Only rows in clear; rows of other keys stay as they are. */
  readonly onlyClear?: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
  readonly batchSize?: number
}

/**
 * Encrypts every donor with the first key. Each batch is a transaction: after a crash the next call continues with the
 * rest. Throws `donor-key-missing` or `aborted`.
 */
export async function rekeyDonors(store: Store, vault: DonorVault, options: RekeyOptions): Promise<Rekeyed> {
  const { onlyClear = false, signal, onProgress, batchSize = 500 } = options
  const current = vault.currentId
  const counts = await countDonorsByKey(store.db)
  const oldKeys = onlyClear ? [] : vault.keyIds.filter((id) => id !== current)
  const isOld = ({ keyId }: { keyId?: string }) => keyId === undefined || oldKeys.includes(keyId)
  const total = counts.filter(isOld).reduce((sum, { donors }) => sum + donors, 0)
  const missing = counts.flatMap(({ keyId, donors }) =>
    keyId === undefined || vault.keyIds.includes(keyId) ? [] : [[keyId, donors] as const],
  )
  const changed: number[] = []
  let [encrypted, rekeyed, after] = [0, 0, 0]
  for (;;) {
    const done = encrypted + rekeyed
    if (signal.aborted) throw new ServiceError('aborted', `stopped after ${done} of ${total} donors: run it again`)
    const batch = await store.transaction(async (db) => {
      const rows = await lockDonorsToRekey(db, { oldKeys, after, limit: batchSize })
      const sealed = rows.map((row) => sealAnew(vault, row))
      await saveSealedDonors(
        db,
        sealed.filter((row) => row !== undefined),
      )
      return rows.map((row, index) => ({ ...row, done: sealed[index] !== undefined }))
    })
    changed.push(...batch.filter((row) => !row.done).map(({ donationId }) => donationId))
    encrypted += batch.filter(({ clear, done }) => clear && done).length
    rekeyed += batch.filter(({ sealed, done }) => sealed && done).length
    onProgress?.(encrypted + rekeyed, total)
    const last = batch.at(-1)
    if (!last) break
    after = last.donationId
  }
  if (encrypted > 0 || !onlyClear) await rewriteDonorTable(store.db)
  return { encrypted, rekeyed, unreadable: Object.fromEntries(missing), changed }
}

/** The row under the key that encrypts now; undefined when its data is not what was encrypted. */
function sealAnew(vault: DonorVault, row: DonorRow & { readonly payloadHash: Buffer }) {
  const { donationId, reference, sealed, clear, payloadHash } = row
  if (clear) return { donationId, ...vault.seal(clear, reference, payloadHash) }
  try {
    return sealed && { donationId, payloadHash, ...vault.rewrap(sealed, reference) }
  } catch (error) {
    if (toServiceError(error).code === 'donor-data-changed') return undefined
    throw error
  }
}
