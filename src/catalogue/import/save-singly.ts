import type { FieldProblem } from '../../kernel/errors.js'
import type { HashedRecord, SaveOptions } from '../../kernel/record.js'
import { messageOf } from '../../kernel/system-errors.js'
import { isDataError } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { type SaveOutcome, saveRecords } from '../sql/save-records.js'

/** Saves records each in its own transaction, to keep the good ones of a batch that the database has refused. */
export async function saveSingly(
  store: Store,
  records: readonly HashedRecord[],
  options: SaveOptions,
): Promise<SaveOutcome> {
  const sum = { created: 0, changed: 0, unchanged: 0 }
  const refused: SaveOutcome['refused'][number][] = []
  const kept: SaveOutcome['kept'][number][] = []
  for (const hashed of records) {
    try {
      const outcome = await store.transaction((db) => saveRecords(db, [hashed], options))
      sum.created += outcome.created
      sum.changed += outcome.changed
      sum.unchanged += outcome.unchanged
      refused.push(...outcome.refused)
      kept.push(...outcome.kept)
    } catch (error) {
      refused.push({ id: hashed.record.id, problem: refusedByDatabase(error) })
    }
  }
  return { ...sum, refused, kept }
}

/** The problem of a record that the database refuses. Throws any other failure. */
export function refusedByDatabase(error: unknown): FieldProblem {
  if (!isDataError(error)) throw error
  return { field: 'record', expected: 'a record that the database accepts', got: messageOf(error) }
}
