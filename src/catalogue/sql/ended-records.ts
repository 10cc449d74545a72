import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'

/**
 * Closes projects, named by their numbers or the platform's own ids: their identifiers stay published. The next record of
 * one opens it again. Those of other sources, and those that an operator has decided on, stay as they are.
 */
export async function closeProjects(db: Db, keys: readonly string[], source: string): Promise<number> {
  const { rowCount } = await db.query(
    `update project set active = false, status = 'retired', source_hash = null
      where id in (
          select id from project where id::text = any (${asSubselect('$1::text[]')}::text[]) or external_id = any (${asSubselect('$1::text[]')}::text[]) order by id for update)
        and source = $2 and operator_state is null and (active or status <> 'retired')`,
    [keys, source],
  )
  return rowCount ?? 0
}

/** Removes reports by their addresses. */
export async function removeReports(db: Db, urls: readonly string[], source: string): Promise<number> {
  const { rowCount } = await db.query(
    `delete from progress_report where url = any (${asSubselect('$1::text[]')}::text[]) and source = $2`,
    [urls, source],
  )
  return rowCount ?? 0
}

/** Removes payouts that were planned, by their references. */
export async function removePayoutPlans(db: Db, references: readonly string[], source: string): Promise<number> {
  const { rowCount } = await db.query(
    `delete from payout_plan where reference = any (${asSubselect('$1::text[]')}::text[]) and source = $2`,
    [references, source],
  )
  return rowCount ?? 0
}
