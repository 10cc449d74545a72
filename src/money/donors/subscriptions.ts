import { hash, randomBytes } from 'node:crypto'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import {
  enterSubscription,
  findSubscriptionsOf,
  lockSubscriptionsToRekey,
  type Subscription,
  saveSealedSubscription,
} from '../sql/subscriptions.js'
import type { DonorVault } from './donor-vault.js'

/** What somebody subscribes to. */
export type SubscriptionRequest = {
  readonly email: string
  readonly projectId: number
  /** The title of the project, as the person saw it. */
  readonly project: string
  readonly language: string
  readonly at: Date
}

/** Enters a request under a new token, which only the person gets. Throws `donor-key-missing`. */
export async function askForSubscription(db: Db, vault: DonorVault, request: SubscriptionRequest): Promise<void> {
  const { email, project, ...rest } = request
  // As many characters as the tokens have that no log shows.
  const token = randomBytes(20).toString('hex')
  const tokenHash = hashOfToken(token)
  const { payloadHash: _, ...sealed } = vault.seal(
    { email, details: { project, token } },
    tokenHash.toString('hex'),
    Buffer.alloc(0),
  )
  await enterSubscription(db, { ...rest, tokenHash, sealed, emailHashes: vault.lookupHashes(email) })
}

/** As a token is stored. */
export function hashOfToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** A subscription of a person, to hand out. */
export type SubscriptionRecord = Pick<Subscription, 'projectId' | 'language' | 'requestedAt' | 'confirmedAt'> & {
  readonly email: string
}

/** What a person has subscribed to; letter case of the e-mail does not count. Throws `donor-data-changed`. */
export async function subscriptionsOf(db: Db, vault: DonorVault, email: string): Promise<SubscriptionRecord[]> {
  const found = await findSubscriptionsOf(db, vault.lookupHashes(email))
  return found.map(({ projectId, language, requestedAt, confirmedAt, reference, sealed }) => ({
    ...{ projectId, language, requestedAt, confirmedAt, email: vault.open(sealed, reference).email },
  }))
}

/**
 * Encrypts the subscriptions of other keys with the first one; returns how many. Those whose data is not what was encrypted stay as they
 * are. Throws `aborted`.
 */
export async function rekeySubscriptions(store: Store, vault: DonorVault, signal: AbortSignal): Promise<number> {
  const oldKeys = vault.keyIds.filter((id) => id !== vault.currentId)
  for (let [done, after] = [0, 0]; ; ) {
    if (signal.aborted) throw new ServiceError('aborted', `stopped after ${done} subscriptions: run it again`)
    const batch = await store.transaction(async (db) => {
      const rows = await lockSubscriptionsToRekey(db, { oldKeys, after, limit: 500 })
      for (const row of rows) {
        const sealed = rewrapped(vault, row)
        if (sealed) await saveSealedSubscription(db, { ...row, sealed })
      }
      return rows
    })
    const last = batch.at(-1)
    if (!last) return done
    done += batch.length
    after = last.id
  }
}

function rewrapped(vault: DonorVault, { sealed, reference }: Subscription) {
  try {
    return vault.rewrap(sealed, reference)
  } catch (error) {
    if (toServiceError(error).code === 'donor-data-changed') return undefined
    throw error
  }
}
