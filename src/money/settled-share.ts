import { fromMinorUnits, minorUnitExponent, splitByLargestRemainder, toMinorUnits } from '../kernel/money.js'
import type { Charge, SettledMoney } from './gateways/gateway.js'
import { feeOf, type Payments } from './payments.js'
import type { SettledShare } from './sql/donation-outcomes.js'

// The decimals of any currency.
const finest = 4

/**
 * What of a charge goes into the books: undefined where that is what was charged; otherwise what the processor has settled for
 * gift and tip, divided as they were charged. `unknown`: it has not said so yet; `foreign`: it has settled in a currency that the
 * books have not. No rate is ever guessed.
 */
export function settledShare(
  { currency, feePercent }: Pick<Payments, 'currency' | 'feePercent'>,
  charge: Pick<Charge, 'amount' | 'currency' | 'notes'>,
  settled: SettledMoney | undefined,
): SettledShare | 'unknown' | 'foreign' | undefined {
  if (charge.currency === currency) return undefined
  if (!settled) return 'unknown'
  if (settled.currency !== currency) return 'foreign'
  const places = minorUnitExponent(currency)
  const tip = charge.notes ? toMinorUnits(charge.notes.addon, finest) : 0n
  const parts = [toMinorUnits(charge.amount, finest) - tip, tip]
  const [gift = 0n, addon = 0n] = splitByLargestRemainder(toMinorUnits(settled.amount, places), parts)
  const amount = fromMinorUnits(gift, places)
  return { amount, addon: fromMinorUnits(addon, places), fee: feeOf(amount, feePercent, currency), currency }
}
