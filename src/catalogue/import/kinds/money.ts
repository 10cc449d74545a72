import type { FieldProblem } from '../../../kernel/errors.js'
import { type CurrencyCode, type Decimal, minorUnitExponent, sameAmount, signOf } from '../../../kernel/money.js'
import { shown } from '../fields.js'
import type { RowMoney } from '../receipt.js'

type MoneyRow = { readonly amount: Decimal; readonly currency: CurrencyCode }

/** What is wrong with an amount for the platform's currency. */
export function checkMoney({ amount, currency }: MoneyRow, platform: CurrencyCode): FieldProblem[] {
  const problems: FieldProblem[] = []
  const places = minorUnitExponent(platform)
  const decimals = amount.split('.')[1]?.replace(/0+$/, '').length ?? 0
  if (decimals > places) problems.push({ field: 'amount', expected: `at most ${places} decimals`, ...shown(amount) })
  if (currency !== platform) {
    problems.push({ field: 'currency', expected: platform, ...shown(currency) })
  }
  return problems
}

/** Money as it counts, in the platform's currency; `original`: as it moved, in another one. */
type CountedMoney = {
  readonly amount: Decimal
  readonly currency: CurrencyCode
  readonly original?: MoneyRow
}

type MovedRow = MoneyRow & { readonly settledAmount?: Decimal | undefined }

/** What is wrong with money that moved in the platform's currency, or in another one with what was settled for it. */
export function checkMovedMoney(row: MovedRow, platform: CurrencyCode): FieldProblem[] {
  const { amount, currency, settledAmount } = row
  if (currency === platform) {
    const differs = settledAmount !== undefined && !sameAmount(amount, settledAmount)
    const expected = `nothing beside an amount in ${platform}`
    return [
      ...checkMoney(row, platform),
      ...(differs ? [{ field: 'settledAmount', expected, ...shown(settledAmount) }] : []),
    ]
  }
  if (settledAmount === undefined) {
    const expected = `what was settled in ${platform} for an amount in ${currency}`
    return [...checkMoney(row, currency), { field: 'settledAmount', expected }]
  }
  const settled = checkMoney({ amount: settledAmount, currency: platform }, platform)
  const isOpposite = signOf(settledAmount) !== signOf(amount)
  return [
    ...checkMoney(row, currency),
    ...settled.map((problem) => ({ ...problem, field: 'settledAmount' })),
    ...(isOpposite ? [{ field: 'settledAmount', expected: 'the sign of the amount', ...shown(settledAmount) }] : []),
  ]
}

/** What of a row that was checked goes into the books. */
export function countedMoney({ amount, currency, settledAmount }: MovedRow, platform: CurrencyCode): CountedMoney {
  if (currency === platform || settledAmount === undefined) return { amount, currency }
  return { amount: settledAmount, currency: platform, original: { amount, currency } }
}

/** The money of a row, for a receipt. */
export function rowMoney(row: MovedRow & { readonly date: string }, platform: CurrencyCode, kind: string): RowMoney {
  const { amount, currency, date } = row
  return { kind, month: date, stated: { amount, currency }, counted: countedMoney(row, platform) }
}

/** The problem of a row whose project the store lacks. */
export function unknownProject(id: number): FieldProblem {
  return { field: 'project', expected: 'a project of this platform', got: String(id) }
}
