import { type DisbursementOutcome, recordDisbursements } from '../../../money/sql/disbursements.js'
import { organisationSources } from '../../sql/organisations.js'
import * as type from '../field-types.js'
import type { KindFields } from '../fields.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { checkMovedMoney, countedMoney, moneyFields, movedMoneyFields, reference, unknownProject } from './money.js'

const disbursementKindFields = {
  project: moneyFields.project,
  date: {
    type: type.day,
    day: 'fact',
    required: true,
    means: 'Day of the payout, not in the future.',
    examples: ['2025-06-30', '2025-09-30'],
    iati: 'transaction-date',
  },
  amount: {
    type: type.signedAmount,
    required: true,
    unit: 'currency',
    means: 'Amount; negative: money that came back.',
    examples: ['2500.00', '1200.50'],
    iati: 'transaction type 3; in another currency: its description',
  },
  ...movedMoneyFields,
  reference: {
    type: reference,
    required: true,
    means: 'Unique: the same reference is the same payout, and fulfils the payout plan of that reference.',
    examples: ['P-2025-1', 'P-2025-2'],
    iati: 'transaction/@ref',
  },
  receiver: {
    type: type.organisationReference,
    means: "Number or externalId of the organisation that was paid. Left out: the project's own.",
    examples: ['', '8'],
    iati: 'receiver-org',
  },
} as const satisfies KindFields

export const disbursements = defineKind({
  name: 'disbursements',
  means: 'Payouts that were made.',
  notes:
    'A payout that is in the books stays: the same reference with other values is refused, unless `--correct` says that this file is right.',
  fields: disbursementKindFields,
  key: ['reference'],
  repeated: 'each',
  check: (row, { currency }) => checkMovedMoney(row, currency),
  save: async (db, rows, { source, correct, currency: platform }) => {
    const receivers = await organisationSources(
      db,
      rows.flatMap(({ receiver }) => receiver ?? []),
    )
    const isKnown = ({ receiver }: (typeof rows)[number]) => receiver === undefined || receivers.has(receiver)
    const good = rows.filter(isKnown)
    const outcomes = await recordDisbursements(
      db,
      good.map((row) => {
        const { project: projectId, date: on, reference, receiver } = row
        return { projectId, on, reference, receiver, ...countedMoney(row, platform) }
      }),
      source,
      correct,
    )
    const byReference = new Map(good.map((row, index) => [row.reference, outcomes[index]]))
    return rows.map((row): RecordOutcome => {
      if (isKnown(row)) return toRecordOutcome(byReference.get(row.reference), row.project, row.reference)
      const expected = 'the id of an organisation that was imported before'
      return { field: 'receiver', expected, got: String(row.receiver) }
    })
  },
})

function toRecordOutcome(outcome: DisbursementOutcome | undefined, project: number, reference: string): RecordOutcome {
  if (outcome === 'new') return 'created'
  if (outcome === 'known') return 'unchanged'
  if (outcome === 'corrected') return 'changed'
  if (outcome === 'unknown-project') return unknownProject(project)
  return { field: 'reference', expected: 'a new one, or the values it has in the books', got: reference }
}
