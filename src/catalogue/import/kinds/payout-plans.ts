import { savePayoutPlans } from '../../sql/payout-plans.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import * as type from '../field-types.js'
import type { KindFields } from '../fields.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { checkMoney, moneyFields, reference, unknownProject } from './money.js'

const payoutPlanKindFields = {
  project: moneyFields.project,
  date: {
    type: type.day,
    day: 'plan',
    required: true,
    means: 'Day on which it will be paid.',
    examples: ['2027-03-31', '2027-09-30'],
    iati: 'planned-disbursement/period-start',
  },
  amount: {
    type: type.positiveAmount,
    required: true,
    unit: 'currency',
    means: 'Amount.',
    examples: ['2500.00', '2500.00'],
    iati: 'planned-disbursement/value',
  },
  currency: moneyFields.currency,
  reference: {
    type: reference,
    required: true,
    means: 'Unique among all projects; a disbursement of the same reference fulfils it.',
    examples: ['P-2027-1', 'P-2027-2'],
  },
} as const satisfies KindFields

export const payoutPlans = defineKind({
  name: 'payout-plans',
  means: 'Payouts that are agreed on.',
  notes: 'A row of the same reference replaces the plan. Plans that a file no longer has stay.',
  fields: payoutPlanKindFields,
  key: ['reference'],
  repeated: 'last',
  check: (row, { currency }) => checkMoney(row, currency),
  save: async (db, rows, { source }) => {
    const projects = await lockProjectSources(
      db,
      rows.map(({ project }) => project),
    )
    const known = rows.filter(({ project }) => projects.has(project))
    const saved = await savePayoutPlans(
      db,
      known.map(({ project, date, ...row }) => ({ projectId: project, plannedOn: date, ...row })),
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
