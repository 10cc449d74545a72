import { type Decimal, splitByLargestRemainder } from '../../kernel/money.js'
import { type ActivityEntry, paidToPartners, toUnits } from '../../release/read/activity-entry.js'

/** What is summed, each of its own elements: `partners` of transactions of type 3, `expenditure` of type 4. */
export const sumKinds = ['budget', 'in', 'partners', 'expenditure'] as const
export type SumKind = (typeof sumKinds)[number]

export function byKind<T>(make: (kind: SumKind) => T): Record<SumKind, T> {
  return { budget: make('budget'), in: make('in'), partners: make('partners'), expenditure: make('expenditure') }
}

/** The amounts of each kind that an index or a year states. */
export function amountsOf(money: ActivityEntry['money'][string]): Record<SumKind, Decimal> {
  const { budget, in: received, expenditure = '0' as Decimal } = money
  return { budget, in: received, partners: paidToPartners(money), expenditure }
}

/** Groups over which the money of a project is split. */
export const splitKinds = ['countries', 'sectors', 'themes'] as const
export type SplitKind = (typeof splitKinds)[number]

/** Groups of one kind, with their percentages as weights of `splitByWeights` where there are several. */
export type Split = { readonly keys: readonly string[]; readonly weights: readonly bigint[] | undefined }

/** The groups of an activity. */
export function splitsOf({
  countries,
  sectors,
  themes,
  shares = {},
}: Pick<ActivityEntry, SplitKind | 'shares'>): Readonly<Record<SplitKind, Split>> {
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

/** How the money of projects is split over groups of one kind, by their places; what many have in common is kept once. */
export class Splits {
  readonly #kinds: Split[] = [{ keys: [], weights: undefined }]
  readonly #numbers = new Map<string, number>()
  readonly #numberOfPlace: Uint32Array

  constructor(places: number) {
    this.#numberOfPlace = new Uint32Array(places)
  }

  set(place: number, split: Split): void {
    if (!split.weights) return
    const name = `${JSON.stringify(split.keys)} ${split.weights}`
    const number = this.#numbers.get(name) ?? this.#kinds.push(split) - 1
    this.#numbers.set(name, number)
    this.#numberOfPlace[place] = number
  }

  /** Whether the money at a place is split. */
  has(place: number): boolean {
    return (this.#numberOfPlace[place] ?? 0) > 0
  }

  /** The part of the money at a place that belongs to a group; undefined: all of it does. */
  partOf(place: number, group: string): ((units: bigint) => bigint) | undefined {
    const { keys, weights } = this.#kinds[this.#numberOfPlace[place] ?? 0] ?? {}
    if (!keys || !weights) return undefined
    return (units) => {
      if (units === 0n) return 0n
      return splitByWeights(units, weights).reduce((sum, part, at) => (keys[at] === group ? sum + part : sum), 0n)
    }
  }
}
