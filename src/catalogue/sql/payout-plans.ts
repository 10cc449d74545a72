import { payoutPlanFields } from '../../kernel/nouns/money.js'
import type { PlannedPayout } from '../../kernel/project.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsertRows } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns } from './field-columns.js'

/** A payout that is agreed on. */
export type PayoutPlan = PlannedPayout & { readonly projectId: number }

/** What became of a plan; `ofProject`: another project has its reference. */
export type PayoutPlanOutcome = RowChange | { readonly ofProject: number }

const statement = {
  table: 'payout_plan',
  key: ['reference'],
  columns: columnsOf(payoutPlanFields, 'record').filter((column) => column !== 'reference'),
  insertOnly: ['project_id', 'source'],
}

const toColumns = createToColumns(payoutPlanFields, 'record')

/** Writes plans of different references, each of a stored project, and returns the outcome of each. */
export async function savePayoutPlans(
  db: Db,
  plans: readonly PayoutPlan[],
  source: string,
): Promise<PayoutPlanOutcome[]> {
  const { rows } = await db.query<{ reference: string; projectId: number }>(
    `select reference, project_id from payout_plan where reference = any (${asSubselect('$1::text[]')}::text[]) order by reference for update`,
    [plans.map(({ reference }) => reference)],
  )
  const owners = new Map(rows.map((row) => [row.reference, row.projectId]))
  const isOwn = (plan: PayoutPlan) => (owners.get(plan.reference) ?? plan.projectId) === plan.projectId
  const own = plans.filter(isOwn)
  const changes = await upsertRows(
    db,
    statement,
    own.map((plan) => ({ ...toColumns(plan), project_id: plan.projectId, source })),
  )
  const byReference = new Map(own.map(({ reference }, index) => [reference, changes[index] ?? 'unchanged']))
  return plans.map(({ reference }) => byReference.get(reference) ?? { ofProject: owners.get(reference) ?? 0 })
}
