import { ServiceError } from '../domain/errors.js'
import type { Db } from './connection.js'
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

const mostTogether = 100

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Calls of one item as calls of many, one at a time. A failure of many that may be one item's is found out one by one. */
function together<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let writing = false

  const writeAll = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      // A lost connection is nobody's fault, and what it had written may be there: it is not written again.
      if (batch.length === 1 || error instanceof ServiceError) for (const { reject } of batch) reject(error)
      else for (const one of batch) await writeAll([one])
    }
  }
  const drain = async (): Promise<void> => {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostTogether)
      waiting = waiting.slice(mostTogether)
      await writeAll(batch)
    }
    writing = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!writing) void drain()
    })
}
