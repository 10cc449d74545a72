import type { Decimal } from '../../kernel/money.js'
import { type IndexedActivity, toUnits, type YearFlows } from '../../release/read/activity-entry.js'
import { firstAt } from './places.js'
import { type SplitKind, type SumKind, splitByWeights, splitKinds, splitsOf, sumKinds } from './sum-kinds.js'
import { Units } from './units.js'

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
  /** Sums of columns, and the amounts that they are of. */
  readonly #all: bigint[] = []
  readonly #amounts: Amounts[] = []
  readonly #groups = {
    countries: new Map<string, bigint[]>(),
    sectors: new Map<string, bigint[]>(),
    themes: new Map<string, bigint[]>(),
  } as const satisfies Record<SplitKind, object>

  /** Adds the activity of a row. */
  add(row: number, activity: IndexedActivity): void {
    const splits = splitsOf(activity)
    const split = splitKinds.map((of) => {
      const { keys, weights } = splits[of]
      return { groups: (keys.length === 0 ? [noGroup] : keys).map((key) => sumsOf(this.#groups[of], key)), weights }
    })
    for (const [currency, byYear] of Object.entries(activity.years ?? {})) {
      for (const kind of sumKinds) {
        const amounts = amountsOf(byYear, kind)
        if (amounts.length === 0) continue
        const columns = amounts.map(({ year }) => this.#columnOf(`${currency} ${kind} ${year}`))
        for (const [at, { units }] of amounts.entries()) {
          addTo(this.#all, columns[at] ?? 0, units)
          this.#amounts[columns[at] ?? 0]?.add(row, units)
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
    const columns = this.#columnsOf(currency, kind)
    const byYear = (sums: readonly bigint[]) =>
      new Map(columns.flatMap(({ year, column }) => (sums[column] ? [[year, sums[column]] as const] : [])))
    const groups = [...this.#groups[of]].map(([key, sums]) => [key, byYear(sums)] as const)
    return {
      years: columns.map(({ year }) => year),
      all: byYear(this.#all),
      groups: new Map(groups.filter(([, sums]) => sums.size > 0)),
    }
  }

  /**
   * Reads the money of a kind that activities have in a year, or the part of it that `partOf` gives: as in tables, it is given
   * sums up to a year, so that roundings of years add up to nothing.
   */
  inYear(currency: string, kind: SumKind, wanted: string): (row: number, partOf?: PartOf) => bigint {
    const columns = this.#columnsOf(currency, kind)
    const amounts = columns.filter(({ year }) => year <= wanted).map(({ column }) => this.#amounts[column])
    const last = columns.some(({ year }) => year === wanted) ? amounts.pop() : undefined
    return (row, partOf) => {
      const units = last?.of(row) ?? 0n
      if (units === 0n || !partOf) return units
      const before = amounts.reduce((sum, one) => sum + (one?.of(row) ?? 0n), 0n)
      return partOf(before + units) - partOf(before)
    }
  }

  /** The money of a kind in a year of the activities in the rows whose byte is 1. */
  sumInYear(currency: string, kind: SumKind, year: string, isIn: Uint8Array): bigint {
    const column = this.#columns.get(`${currency} ${kind} ${year}`)
    return this.#amounts[column ?? -1]?.sumOf(isIn) ?? 0n
  }

  /** Whether the activity of a row has money of a kind in a year, in any currency; of a place by the rows of places. */
  having(kind: SumKind, year: string, rows: Uint32Array): (place: number) => boolean {
    const has = new Uint8Array(rows.length)
    for (const [name, column] of this.#columns) {
      if (name.endsWith(` ${kind} ${year}`)) for (const row of this.#amounts[column]?.rows ?? []) has[row] = 1
    }
    return (place) => has[rows[place] ?? -1] === 1
  }

  /** The columns of a kind of money in a currency, in the order of years. */
  #columnsOf(currency: string, kind: SumKind): { readonly year: string; readonly column: number }[] {
    const start = `${currency} ${kind} `
    return [...this.#columns]
      .filter(([name]) => name.startsWith(start))
      .map(([name, column]) => ({ year: name.slice(start.length), column }))
      .sort((a, b) => (a.year < b.year ? -1 : 1))
  }

  #columnOf(name: string): number {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    this.#columns.set(name, this.#columns.size)
    this.#amounts.push(new Amounts())
    return this.#columns.size - 1
  }
}

/** Gives a part of an amount. */
export type PartOf = (units: bigint) => bigint

/** Amounts of some rows, in their order: 12 bytes for each. */
class Amounts {
  #rows = new Uint32Array(16)
  #units = new Units(16)
  #count = 0

  add(row: number, units: bigint): void {
    if (this.#count === this.#rows.length) {
      const rows = this.#rows
      this.#rows = new Uint32Array(2 * rows.length)
      this.#rows.set(rows)
      this.#units = new Units(2 * rows.length, this.#units)
    }
    this.#rows[this.#count] = row
    this.#units.set(this.#count++, units)
  }

  get rows(): Uint32Array {
    return this.#rows.subarray(0, this.#count)
  }

  of(row: number): bigint {
    const at = firstAt(this.rows, row)
    return this.#rows[at] === row && at < this.#count ? this.#units.at(at) : 0n
  }

  /** The sum of the rows whose byte is 1. */
  sumOf(isIn: Uint8Array): bigint {
    const places = new Uint32Array(this.#count)
    let count = 0
    for (let at = 0; at < this.#count; at++) {
      places[count] = at
      count += isIn[this.#rows[at] ?? 0] ?? 0
    }
    return this.#units.sumOf(places.subarray(0, count))
  }
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
