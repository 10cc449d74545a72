import { splitByLargestRemainder } from '../../kernel/money.js'
import { type ActivityEntry, toUnits } from '../../release/read/activity-entry.js'

/** What is summed, each of its own elements: `partners` of transactions of type 3, `expenditure` of type 4. */
export const sumKinds = ['budget', 'in', 'partners', 'expenditure'] as const
export type SumKind = (typeof sumKinds)[number]

/** Groups over which the money of a project is split. */
export const splitKinds = ['countries', 'sectors', 'themes'] as const
export type SplitKind = (typeof splitKinds)[number]

/** The groups of an activity of each kind, with their percentages as weights of `splitByWeights` where there are several. */
export function splitsOf({
  countries,
  sectors,
  themes,
  shares = {},
}: Pick<ActivityEntry, SplitKind | 'shares'>): Readonly<
  Record<SplitKind, { readonly keys: readonly string[]; readonly weights: readonly bigint[] | undefined }>
> {
  const weights = (kind: SplitKind) => shares[kind]?.map(toUnits)
  return {
    countries: { keys: countries, weights: weights('countries') },
    sectors: { keys: sectors, weights: weights('sectors') },
    themes: { keys: Object.keys(themes), weights: weights('themes') },
  }
}

/** Parts of an amount by weights, which are exactly the amount together. */
export function splitByWeights(units: bigint, weights: readonly bigint[]): bigint[] {
  const parts = splitByLargestRemainder(units < 0n ? -units : units, weights)
  return units < 0n ? parts.map((part) => -part) : parts
}
