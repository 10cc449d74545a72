import { hash } from 'node:crypto'
import { monthStart } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { type CurrencyCode, signOf } from '../../../kernel/money.js'
import { giftFields } from '../../../kernel/nouns/money.js'
import { givenOfEach, ofEach } from '../../../kernel/rows.js'
import { areGiftsWhole, giftVersion } from '../../../money/sql/differing-months.js'
import { type ImportedGift, monthsOfGifts, saveGifts } from '../../../money/sql/imported-gifts.js'
import { organisationSources } from '../../sql/organisations.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import { sumsOfMonths } from '../../sql/receipts.js'
import type { RowOf } from '../fields.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { fieldsInFiles } from '../noun-fields.js'
import { sumsOf } from '../receipt.js'
import { checkMovedMoney, countedMoney, rowMoney, unknownProject } from './money.js'

const giftKindFields = fieldsInFiles(giftFields)

export type GiftRow = RowOf<typeof giftKindFields>

export const gifts = defineKind({
  name: 'gifts',
  means:
    'The history of gifts, as single gifts or as sums of months. It holds no donor: a column about one is refused.',
  notes:
    'Single gifts are summed by project, month, funder and kind when they are read. The reference of one is kept as a hash only, so that no gift counts twice, in whatever files it comes. The same reference with other values is refused, unless `--correct` says that this file is right. `--repair` sums months again that were changed in the store. A row without a reference is the whole sum of its month, funder and kind. It replaces what an earlier import said, and a second one in the same import is refused. A month is either of single gifts or a sum. Totals and numbers of donations follow. Leave funding out of projects whose gifts are imported; gifts until the day of a total that a project record has brought are in that total, and are refused.',
  fields: giftKindFields,
  key: ['project', 'date', 'kind', 'funder', 'amount', 'reference'],
  repeated: 'each',
  // Gifts of a batch share the months and projects that are written: the more together, the fewer rows of these.
  together: 10_000,
  known: { isAdded: ({ reference }) => reference !== undefined, version: giftVersion, isWhole: areGiftsWhole },
  once: (row) => {
    if (row.reference !== undefined) return ['reference', row.reference]
    return ['date', [row.project, monthStart(row.date), kindOf(row), row.funder ?? ''].join(' ')]
  },
  money: {
    of: (row, platform) => rowMoney(row, platform, kindOf(row)),
    stored: async (db, rows, { source, correct }) => {
      const months = rows.map(({ project, date }) => ({ project, month: monthStart(date) }))
      const hashes = rows.flatMap(({ reference }) => (reference === undefined ? [] : sha256(reference)))
      if (correct) months.push(...(await monthsOfGifts(db, hashes)))
      return async () => sumsOf(await sumsOfMonths(db, months, source))
    },
  },
  check,
  save,
})

function kindOf({ kind, amount }: GiftRow): ImportedGift['kind'] {
  return kind ?? (signOf(amount) > 0 ? 'gift' : 'refund')
}

function check(row: GiftRow, saving: ImportSaving): FieldProblem[] {
  const problems = checkMovedMoney(row, saving.currency)
  const kind = kindOf(row)
  if ((kind === 'gift' && signOf(row.amount) < 0) || (kind === 'refund' && signOf(row.amount) > 0)) {
    const expected = kind === 'gift' ? 'an amount above 0' : 'an amount below 0'
    problems.push({ field: 'amount', expected, got: row.amount })
  }
  if (row.reference === undefined && row.count === undefined) {
    problems.push({ field: 'count', expected: 'the number of gifts in the sum, or a reference of a single gift' })
  }
  return problems
}

async function save(db: Parameters<typeof saveGifts>[0], rows: readonly GiftRow[], saving: ImportSaving) {
  const projects = await lockProjectSources(db, ofEach(rows, 'project'))
  const funders = await organisationSources(db, givenOfEach(rows, 'funder'))
  const outcomes = new Map<GiftRow, RecordOutcome>()
  const good: GiftRow[] = []
  for (const row of rows) {
    const source = projects.get(row.project)
    if (source === undefined) outcomes.set(row, unknownProject(row.project))
    else if (source === 'upstream' || source === 'demo') {
      const got = `project ${row.project}, which is ${source}`
      outcomes.set(row, { field: 'project', expected: 'a project of this platform', got })
    } else if (row.funder !== undefined && !funders.has(row.funder)) {
      const expected = 'the id of an organisation that was imported before'
      outcomes.set(row, { field: 'funder', expected, got: String(row.funder) })
    } else good.push(row)
  }
  const saved = await saveGifts(
    db,
    good.map((row) => toGift(row, saving.currency)),
    saving,
  )
  for (const [index, row] of good.entries()) outcomes.set(row, saved[index] ?? 'unchanged')
  return rows.map((row) => outcomes.get(row) ?? 'unchanged')
}

/** The gift that a row is. */
export function toGift(row: GiftRow, platform: CurrencyCode): ImportedGift {
  const { project, date, funder, reference: name } = row
  const { amount, original } = countedMoney(row, platform)
  const kind = kindOf(row)
  const count = row.count ?? 1
  const moved = original ? [original.amount, original.currency] : []
  const content = JSON.stringify([project, date, kind, amount, count, funder ?? null, ...moved])
  return {
    projectId: project,
    on: date,
    month: monthStart(date),
    kind,
    amount,
    count,
    funderId: funder,
    ...(name !== undefined && { single: { referenceHash: sha256(name), contentHash: sha256(content), name } }),
  }
}

/** What is kept of a reference. */
export function sha256(text: string): string {
  return hash('sha256', text)
}
