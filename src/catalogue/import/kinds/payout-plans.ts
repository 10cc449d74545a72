import { payoutPlanFields } from '../../../kernel/nouns/money.js'
import { ofEach } from '../../../kernel/rows.js'
import { savePayoutPlans } from '../../sql/payout-plans.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import { sumsOfPayouts } from '../../sql/receipts.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { fieldsInFiles, statedIn } from '../noun-fields.js'
import { sumsOf } from '../receipt.js'
import { checkMoney, rowMoney, unknownProject } from './money.js'

const payoutPlanKindFields = fieldsInFiles(payoutPlanFields)

export const payoutPlans = defineKind({
  name: 'payout-plans',
  means: 'Payouts that are agreed on.',
  notes: 'A row of the same reference replaces the plan. Plans that a file no longer has stay.',
  fields: payoutPlanKindFields,
  key: ['reference'],
  repeated: 'last',
  money: {
    of: (row, platform) => rowMoney(row, platform, 'planned'),
    stored: async (db, rows) => {
      const references = rows.map(({ reference }) => reference)
      return async () => sumsOf(await sumsOfPayouts(db, 'planned', references))
    },
  },
  check: (row, { currency }) => checkMoney(row, currency),
  save: async (db, rows, { source }) => {
    const projects = await lockProjectSources(db, ofEach(rows, 'project'))
    const known = rows.filter(({ project }) => projects.has(project))
    const saved = await savePayoutPlans(
      db,
      known.map((row) => ({ projectId: row.project, ...statedIn(payoutPlanFields, row) })),
      source,
    )
    const outcomes = new Map(known.map((row, index) => [row.reference, saved[index]]))
    return rows.map((row): RecordOutcome => {
      if (!projects.has(row.project)) return unknownProject(row.project)
      const outcome = outcomes.get(row.reference)
      if (typeof outcome !== 'object') return outcome ?? 'unchanged'
      const got = `${row.reference}, which is of project ${outcome.ofProject}`
      return { field: 'reference', expected: 'a reference that no other project has', got }
    })
  },
})
