import { askForMail, recordWantedMail } from '../../../accounts/sql/asked-mail.js'
import { type Subject, subjectOf } from '../../../accounts/sql/throttle-counts.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { DonorVault } from '../../../money/donors/donor-vault.js'
import { askForSubscription, type SubscriptionRequest } from '../../../money/donors/subscriptions.js'
import { confirmSubscription, countRequests, type Subscription } from '../../../money/sql/subscriptions.js'
import type { ApiDeps } from '../deps.js'
import { countRequest, placeOf } from './throttle.js'

/** Subscriptions that may be asked for in an hour, each of which is a message. */
const mostAnHour = { ofProject: 100, ofAll: 1_000 }
const hourMs = 3_600_000

/**
 * Enters that somebody wants the reports of a project, so that the worker mails the link to confirm. All addresses look the
 * same from outside: one that was asked for too often gets no message. Throws `login-throttled` when its network has asked too
 * often, and while a project or all have many requests, when it has asked at all: a few networks close no form for the others.
 */
export async function subscribe(
  { store, clock, payments: { donors } }: Pick<ApiDeps, 'store' | 'clock' | 'payments'>,
  { address, ...request }: Omit<SubscriptionRequest, 'at'> & { readonly address: string },
): Promise<void> {
  const at = clock()
  const before = await countRequest(store, 'subscription', placeOf(address), at)
  const { ofProject, ofAll } = await countRequests(store.db, request.projectId, new Date(at.getTime() - hourMs))
  const isCrowded = ofProject >= mostAnHour.ofProject || ofAll >= mostAnHour.ofAll
  if (isCrowded && before > 0) {
    throw new ServiceError('login-throttled', 'too many subscriptions: try again later', { retryAfterSeconds: 900 })
  }
  const subject = subscriberOf(donors, request.email)
  if ((await store.transaction((db) => askForMail(db, subject, { at }))) > 0) return
  await askForSubscription(store.db, donors, { ...request, at })
}

/** Confirms a subscription: its mail is wanted. */
export async function confirm(
  { store, clock, payments: { donors } }: Pick<ApiDeps, 'store' | 'clock' | 'payments'>,
  { id, sealed, reference }: Subscription,
): Promise<void> {
  await confirmSubscription(store.db, id, clock())
  await recordWantedMail(store.db, subscriberOf(donors, donors.open(sealed, reference).email))
}

/** Whose mailbox an address leads to, under its keyed hash: without the key nobody can look for one. What follows a + in it is a mark of its owner. */
function subscriberOf(donors: DonorVault, email: string): Subject {
  const [hash = Buffer.alloc(0)] = donors.lookupHashes(email.replace(/^([^+@]+)\+[^@]*@/, '$1@'))
  return subjectOf('subscription-mail', hash.toString('hex'))
}
