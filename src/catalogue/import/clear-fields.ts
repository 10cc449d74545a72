import type { Db } from '../../platform/database/connection.js'
import { clearColumns } from '../sql/clear-columns.js'
import type { ClearedRow } from './fields.js'
import { asChanged, isRefusal, type Kind, type RecordOutcome } from './kind.js'

/** Clears fields of saved records, as their rows ask; returns the outcomes with these changes. */
export async function clearFields(
  db: Db,
  { fields }: Kind,
  rows: readonly ClearedRow[],
  outcomes: readonly RecordOutcome[],
): Promise<RecordOutcome[]> {
  const changed = new Set<unknown>()
  for (const [name, { cleared }] of Object.entries(fields)) {
    if (cleared === undefined || cleared === 'empty list') continue
    const ids = rows.flatMap(({ row, cleared: names }, index) => {
      return names.includes(name) && !isRefusal(outcomes[index]) ? [row.id as number | string] : []
    })
    for (const id of await clearColumns(db, cleared, ids)) changed.add(id)
  }
  return outcomes.map((outcome, index) => (changed.has(rows[index]?.row.id) ? asChanged(outcome) : outcome))
}
