import { type Decimal, splitByLargestRemainder } from '../../kernel/money.js'
import { toUnits } from '../../release/read/activity-entry.js'

/** What is summed, each of its own elements: `partners` of transactions of type 3, `expenditure` of type 4. */
export const sumKinds = ['budget', 'in', 'partners', 'expenditure'] as const
export type SumKind = (typeof sumKinds)[number]

/** Percentages as weights of `splitByWeights`. */
export function weightsOf(shares: readonly Decimal[] | undefined): bigint[] | undefined {
  return shares?.map(toUnits)
}

/** Parts of an amount by weights, which are exactly the amount together. */
export function splitByWeights(units: bigint, weights: readonly bigint[]): bigint[] {
  const parts = splitByLargestRemainder(units < 0n ? -units : units, weights)
  return units < 0n ? parts.map((part) => -part) : parts
}
