import type { FieldProblem } from '../../../kernel/errors.js'
import { type CurrencyCode, type Decimal, minorUnitExponent } from '../../../kernel/money.js'
import * as type from '../field-types.js'
import { type KindFields, shown } from '../fields.js'

/** The fields that every kind of money has. */
export const moneyFields = {
  project: {
    type: type.projectReference,
    required: true,
    means: 'Number or externalId of the project.',
    examples: ['101', '102'],
  },
  currency: {
    type: type.currency,
    required: true,
    means: "ISO 4217; always the platform's one currency.",
    examples: ['USD', 'USD'],
    iati: 'value/@currency',
  },
} as const satisfies KindFields

/** A reference of a payout. */
export const reference: type.FieldType<string> = {
  ...type.shaped('text', 'a text of 1 to 200 characters', /^.{1,200}$/su),
  isFree: true,
}

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

/** The problem of a row whose project the store lacks. */
export function unknownProject(id: number): FieldProblem {
  return { field: 'project', expected: 'a project of this platform', got: String(id) }
}
