import { disbursementFields } from '../../../kernel/nouns/money.js'
import { givenOfEach } from '../../../kernel/rows.js'
import { type DisbursementOutcome, recordDisbursements } from '../../../money/sql/disbursements.js'
import { organisationSources } from '../../sql/organisations.js'
import { sumsOfPayouts } from '../../sql/receipts.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { fieldsInFiles } from '../noun-fields.js'
import { sumsOf } from '../receipt.js'
import { checkMovedMoney, countedMoney, rowMoney, unknownProject } from './money.js'

const disbursementKindFields = fieldsInFiles(disbursementFields)

export const disbursements = defineKind({
  name: 'disbursements',
  means: 'Payouts that were made.',
  notes:
    'A payout that is in the books stays: the same reference with other values is refused, unless `--correct` says that this file is right.',
  fields: disbursementKindFields,
  key: ['reference'],
  repeated: 'each',
  money: {
    of: (row, platform) => rowMoney(row, platform, 'payout'),
    stored: async (db, rows) => {
      const references = rows.map(({ reference }) => reference)
      return async () => sumsOf(await sumsOfPayouts(db, 'payout', references))
    },
  },
  check: (row, { currency }) => checkMovedMoney(row, currency),
  save: async (db, rows, { source, correct, currency: platform }) => {
    const receivers = await organisationSources(db, givenOfEach(rows, 'receiver'))
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
