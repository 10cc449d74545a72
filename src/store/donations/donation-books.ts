import type { Db } from '../database/connection.js'
import { together } from '../database/together.js'
import { type DonationIntent, recordIntents } from './donation-intents.js'
import { type Payment, recordSettlements, type Settlement } from './donation-outcomes.js'

/** The two entries that every donation waits for. */
export type DonationBooks = {
  /** See `recordIntents`. */
  recordIntent(intent: DonationIntent): Promise<number | undefined>
  /** See `recordSettlements`. */
  recordSettled(payment: Payment): Promise<Settlement | undefined>
}

/**
 * Entries of one process, taken together: what comes while an entry is being written waits for the next one, which then
 * writes all of it with one commit. The more donors there are, also to one project, the cheaper each becomes; a single
 * one waits for nobody.
 */
export function createDonationBooks(db: Db): DonationBooks {
  return {
    recordIntent: together((intents: readonly DonationIntent[]) => recordIntents(db, intents)),
    recordSettled: together((payments: readonly Payment[]) => recordSettlements(db, payments)),
  }
}
