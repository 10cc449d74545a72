import type { Decimal } from '../../kernel/money.js'
import { type IndexedActivity, toUnits, type YearFlows } from '../../release/read/activity-entry.js'
import { type SumKind, splitByWeights, sumKinds, weightsOf } from './sum-kinds.js'

/** Groups over which the money of a project is split. */
export const splitKinds = ['countries', 'sectors', 'themes'] as const
export type SplitKind = (typeof splitKinds)[number]

/** The column of what records state as totals until a day, whose years are not known; it comes before all years. */
export const untilADay = ''
/** The row of projects that are in no group of a kind. */
export const noGroup = ''

/** Sums of one kind of money in one currency, by year. */
export type YearTable = {
  /** Those with money, in order. */
  readonly years: readonly string[]
  readonly all: ReadonlyMap<string, bigint>
  readonly groups: ReadonlyMap<string, ReadonlyMap<string, bigint>>
}

const zero = '0' as Decimal

/**
 * The money of all projects by year, split over groups by the percentages of each project. What a group has in all years is
 * exactly its part of the project's money, and what all groups have in a year is exactly the project's money of the year.
 */
export class YearSums {
  /** Numbers of columns by `USD in 2026`. */
  readonly #columns = new Map<string, number>()
  /** Sums of columns. */
  readonly #all: bigint[] = []
  readonly #groups = {
    countries: new Map<string, bigint[]>(),
    sectors: new Map<string, bigint[]>(),
    themes: new Map<string, bigint[]>(),
  } as const satisfies Record<SplitKind, object>
  /** By year: a bit for each kind of money that an activity has in it, in the order of rows. */
  readonly #kinds = new Map<string, Uint8Array>()
  readonly #rows: number

  constructor(rows: number) {
    this.#rows = rows
  }

  /** Adds the activity of a row. */
  add(row: number, { countries, sectors, themes, shares = {}, years = {} }: IndexedActivity): void {
    const keys = { countries, sectors, themes: Object.keys(themes) }
    const split = splitKinds.map((of) => ({
      groups: (keys[of].length === 0 ? [noGroup] : keys[of]).map((key) => sumsOf(this.#groups[of], key)),
      weights: weightsOf(shares[of]),
    }))
    for (const [currency, byYear] of Object.entries(years)) {
      for (const kind of sumKinds) {
        const amounts = amountsOf(byYear, kind)
        if (amounts.length === 0) continue
        const columns = amounts.map(({ year }) => this.#columnOf(`${currency} ${kind} ${year}`))
        for (const [at, { year, units }] of amounts.entries()) {
          addTo(this.#all, columns[at] ?? 0, units)
          this.#note(row, year, kind)
        }
        for (const { groups, weights } of split) {
          let sum = 0n
          let before: readonly bigint[] = []
          for (const [at, { units }] of amounts.entries()) {
            sum += units
            // Sums up to a year are split, so that roundings of years add up to nothing.
            const parts = weights ? splitByWeights(sum, weights) : [sum]
            for (const [number, group] of groups.entries()) {
              addTo(group, columns[at] ?? 0, (parts[number] ?? 0n) - (before[number] ?? 0n))
            }
            before = parts
          }
        }
      }
    }
  }

  table(of: SplitKind, kind: SumKind, currency: string): YearTable {
    const start = `${currency} ${kind} `
    const columns = [...this.#columns]
      .filter(([name]) => name.startsWith(start))
      .map(([name, column]) => ({ year: name.slice(start.length), column }))
      .sort((a, b) => (a.year < b.year ? -1 : 1))
    const byYear = (sums: readonly bigint[]) =>
      new Map(columns.flatMap(({ year, column }) => (sums[column] ? [[year, sums[column]] as const] : [])))
    const groups = [...this.#groups[of]].map(([key, sums]) => [key, byYear(sums)] as const)
    return {
      years: columns.map(({ year }) => year),
      all: byYear(this.#all),
      groups: new Map(groups.filter(([, sums]) => sums.size > 0)),
    }
  }

  /** Whether the activity of a row has money of a kind in a year, in any currency; of a place by the rows of places. */
  having(kind: SumKind, year: string, rows: Uint32Array): (place: number) => boolean {
    const kinds = this.#kinds.get(year)
    const bit = bitOf(kind)
    return (place) => ((kinds?.[rows[place] ?? -1] ?? 0) & bit) !== 0
  }

  #columnOf(name: string): number {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    this.#columns.set(name, this.#columns.size)
    return this.#columns.size - 1
  }

  #note(row: number, year: string, kind: SumKind): void {
    const known = this.#kinds.get(year) ?? new Uint8Array(this.#rows)
    this.#kinds.set(year, known)
    known[row] = (known[row] ?? 0) | bitOf(kind)
  }
}

function bitOf(kind: SumKind): number {
  return 1 << sumKinds.indexOf(kind)
}

function sumsOf(groups: Map<string, bigint[]>, key: string): bigint[] {
  const known = groups.get(key) ?? []
  groups.set(key, known)
  return known
}

function addTo(sums: bigint[], column: number, units: bigint): void {
  while (sums.length <= column) sums.push(0n)
  sums[column] = (sums[column] ?? 0n) + units
}

/** What an activity has of a kind by year, first what has no year. */
function amountsOf(years: Readonly<Record<string, YearFlows>>, kind: SumKind) {
  const amounts = Object.entries(years).map(([year, flows]) => ({ year, units: unitsOf(flows, kind) }))
  const until =
    kind === 'in' ? Object.values(years).reduce((sum, { opening = zero }) => sum + toUnits(opening), 0n) : 0n
  return [{ year: untilADay, units: until }, ...amounts].filter(({ units }) => units !== 0n)
}

function unitsOf(flows: YearFlows, kind: SumKind): bigint {
  const { out = zero, expenditure = zero, opening = zero } = flows
  if (kind === 'in') return toUnits(flows.in ?? zero) - toUnits(opening)
  if (kind === 'partners') return toUnits(out) - toUnits(expenditure)
  return toUnits(flows[kind] ?? zero)
}
