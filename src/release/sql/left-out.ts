import type { Db } from '../../platform/database/connection.js'
import { findFact, recordFact } from '../../platform/database/facts.js'

/** An element of another publisher's organisation file that is not published, since it breaks a rule of the standard. */
export type LeftOutElement = {
  readonly identifier: string
  readonly code: string
  readonly path: string
  readonly detail: string
  readonly file?: string
  readonly line?: number
}

/** Remembers what the newest organisation file leaves out. */
export async function recordLeftOut(db: Db, left: readonly LeftOutElement[], at: Date): Promise<void> {
  await recordFact(db, 'organisation-left-out', JSON.stringify(left), at)
}

/** What the newest organisation file leaves out. */
export async function listLeftOut(db: Db): Promise<readonly LeftOutElement[]> {
  return JSON.parse((await findFact(db, 'organisation-left-out')) ?? '[]') as LeftOutElement[]
}
