import { InvalidArgumentError } from 'commander'
import { signedAmount } from '../../catalogue/import/field-types.js'
import { checkMoney } from '../../catalogue/import/kinds/money.js'
import { expectedDay, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { Runtime } from './runtime.js'

/** Reads an amount that is not 0. */
export function amountArgument(raw: string): Decimal {
  const amount = signedAmount.parse(raw)
  if (amount === undefined) throw new InvalidArgumentError(`expected ${signedAmount.expected}`)
  return amount
}

/** Throws `input-unusable` for an amount that the currency has not, or a day that has not been. */
export function refuseUnusable(
  { amount, date }: { readonly amount: Decimal; readonly date: IsoDate },
  { config, clock }: Runtime,
): void {
  const currency: CurrencyCode = config.currency
  const expected = expectedDay(date, 'fact', isoDateOf(clock()))
  const problems: FieldProblem[] = [
    ...checkMoney({ amount, currency }, currency),
    ...(expected === undefined ? [] : [{ field: 'date', expected, got: date }]),
  ]
  const [problem] = problems
  if (problem) {
    throw new ServiceError('input-unusable', `--${problem.field}: expected ${problem.expected}, got ${problem.got}`)
  }
}
