import type { Db } from '../../platform/database/connection.js'
import { together } from '../../platform/database/together.js'
import { type DonationIntent, type RecordedIntent, recordIntents } from './donation-intents.js'
import { type Payment, recordSettlements, type Settlement } from './donation-outcomes.js'

/** The two entries that every donation waits for. */
export type DonationBooks = {
  /** See `recordIntents`. */
  recordIntent(intent: DonationIntent): Promise<RecordedIntent | undefined>
  /** See `recordSettlements`. */
  recordSettled(payment: Payment): Promise<Settlement | undefined>
}

/**
 * Groups the entries of one process: those that come while a group is being written are written together next, with one
 * commit. An entry gets cheaper the more there are, also of one project; a single one does not wait.
 */
export function createDonationBooks(db: Db): DonationBooks {
  return {
    recordIntent: together((intents: readonly DonationIntent[]) => recordIntents(db, intents)),
    recordSettled: together((payments: readonly Payment[]) => recordSettlements(db, payments)),
  }
}
