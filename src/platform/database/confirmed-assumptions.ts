import type { Db } from './connection.js'
import { findFact, recordFact } from './facts.js'

/** The edition of the assumptions that a store publishes, and who confirmed the list of them; nobody: it was published before. */
export type ConfirmedAssumptions = {
  readonly edition: number
  readonly by?: string
  readonly at?: string
}

/** Undefined: the store has neither published nor confirmed anything, so that the newest edition holds. */
export async function findConfirmedAssumptions(db: Db): Promise<ConfirmedAssumptions | undefined> {
  const text = await findFact(db, 'assumptions')
  return text === undefined ? undefined : (JSON.parse(text) as ConfirmedAssumptions)
}

export async function recordAssumptions(db: Db, given: ConfirmedAssumptions, now: Date): Promise<void> {
  const { edition, by, at = now.toISOString() } = given
  const value = { edition, ...(by !== undefined && { by, at }) }
  await recordFact(db, 'assumptions', JSON.stringify(value), now)
}
