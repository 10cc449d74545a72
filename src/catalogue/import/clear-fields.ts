import type { Db } from '../../platform/database/connection.js'
import { clearColumns } from '../sql/clear-columns.js'
import type { ClearedRow } from './fields.js'
import type { Kind, RecordOutcome } from './kind.js'

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
      const outcome = outcomes[index]
      const isRefused = typeof outcome === 'object' && 'field' in outcome
      return names.includes(name) && !isRefused ? [row.id as number | string] : []
    })
    for (const id of await clearColumns(db, cleared, ids)) changed.add(id)
  }
  return outcomes.map((outcome, index) => {
    if (!changed.has(rows[index]?.row.id)) return outcome
    if (outcome === 'unchanged') return 'changed'
    const isKept = typeof outcome === 'object' && 'kept' in outcome
    return isKept && outcome.change === 'unchanged' ? { ...outcome, change: 'changed' } : outcome
  })
}
