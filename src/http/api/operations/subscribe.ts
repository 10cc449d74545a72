import { ServiceError } from '../../../kernel/errors.js'
import { askForSubscription, type SubscriptionRequest } from '../../../money/donors/subscriptions.js'
import { countRequests } from '../../../money/sql/subscriptions.js'
import type { ApiDeps } from '../deps.js'
import { countRequest, placeOf } from './throttle.js'

/** Subscriptions that may be asked for in an hour, each of which is a message. */
const mostAnHour = { ofProject: 100, ofAll: 1_000 }
const hourMs = 3_600_000

/**
 * Enters that somebody wants the reports of a project, so that the worker mails the link to confirm. All addresses look the
 * same from outside: one that was asked for too often gets no message. Throws `login-throttled` when its network, the project
 * or all have asked too often.
 */
export async function subscribe(
  { store, clock, payments: { donors } }: Pick<ApiDeps, 'store' | 'clock' | 'payments'>,
  { address, ...request }: Omit<SubscriptionRequest, 'at'> & { readonly address: string },
): Promise<void> {
  const at = clock()
  await countRequest(store, 'subscription', placeOf(address), at)
  const { ofProject, ofAll } = await countRequests(store.db, request.projectId, new Date(at.getTime() - hourMs))
  if (ofProject >= mostAnHour.ofProject || ofAll >= mostAnHour.ofAll) {
    throw new ServiceError('login-throttled', 'too many subscriptions: try again later', { retryAfterSeconds: 900 })
  }
  // Counted under its keyed hash: without the key nobody can look for an address.
  const [hash = Buffer.alloc(0)] = donors.lookupHashes(request.email)
  try {
    await countRequest(store, 'subscription-mail', hash, at)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'login-throttled') return
    throw error
  }
  await askForSubscription(store.db, donors, { ...request, at })
}
