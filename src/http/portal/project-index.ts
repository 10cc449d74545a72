import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { demoPath } from '../../iati/addresses.js'
import { type IsoInstant, isoInstantOf } from '../../kernel/dates.js'
import type { Decimal } from '../../kernel/money.js'
import { type ActivityEntry, paidToPartners, toAmount, toUnits } from '../../release/read/activity-entry.js'
import { type ActivityIndex, indexedActivities, type Row } from '../../release/read/activity-index.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import { type SumKind, splitByWeights, sumKinds, weightsOf } from './sum-kinds.js'
import {
  bitOf,
  hasTerm,
  pointsOf,
  type SearchedTexts,
  searchable,
  searchedFields,
  TextIndex,
  termsOf,
} from './text-index.js'
import { YearSums } from './year-sums.js'

/** Sums of one currency. */
export type Sums = Record<SumKind, bigint>

/** Projects that have a country, sector, theme, status or partner in common. */
export type Group = {
  readonly key: string
  /** As published; empty where the portal names codes itself. */
  readonly name: string
  /** Places in the order of the index, which is newest first. */
  readonly places: number[]
  readonly sums: Map<string, Sums>
}

const groupKinds = ['countries', 'sectors', 'themes', 'statuses', 'organisations'] as const
export type GroupKind = (typeof groupKinds)[number]

/** What a list of projects is filtered by: a year in which they ran, or in which they have money of a kind. */
export type Filter = { readonly words?: string; readonly year?: number; readonly money?: SumKind } & {
  readonly [Kind in GroupKind]?: string
}

/** Orders of a list: by how well words fit, by the start, or by the sum of the currency with most money; largest first. */
export const listOrders = ['best', 'newest', ...sumKinds] as const
export type ListOrder = (typeof listOrders)[number]

// Entries read before other work gets a turn.
const entriesTogether = 500
// Lists that are kept, since readers turn pages: how many, and their bytes with their keys.
const mostKept = 500
const keptBytes = 8 * 1_048_576
// Activities whose money is split over years and groups before other work gets a turn.
const splitTogether = 25
// Places that are counted, summed or ordered before other work gets a turn.
const placesTogether = 20_000

/** What a filter finds. */
export type Found = {
  /** Newest first. */
  readonly places: readonly number[]
  /** Of a search for words, in the order of `places`: how well they fit, and the bits of the fields that they are in. */
  readonly points?: Uint8Array
  readonly fields?: Uint8Array
}

/** The names of a code in all languages that readers search in. */
export type NamesOf = (kind: GroupKind, code: string) => readonly string[]

/**
 * The projects of a release as lists show them: newest first, by group, with sums. It holds numbers and words of titles, and
 * reads an entry when it is shown.
 */
export class ProjectIndex {
  readonly all: Group = emptyGroup('', '')
  readonly groups: Readonly<Record<GroupKind, Map<string, Group>>>
  /** The project of each of the platform's own pages about projects that this service shows. */
  readonly placeOfPage = new Map<string, number>()
  readonly #index: ActivityIndex
  #rows: readonly Row[] = []
  #places = new Uint32Array()
  /** By row. Searches alone wait for it. */
  readonly #texts: Promise<TextIndex>
  /** By row, whole when the texts are. */
  readonly #yearSums: YearSums
  /** Names of countries, sectors and themes as they are searched for, with their projects. */
  #named: readonly { readonly name: string; readonly places: readonly number[] }[] = []
  #projects = new Float64Array()
  /** When each project changed, in milliseconds. */
  #changed = new Float64Array()
  /** The money of each project by currency, `sumKinds.length` sums for each place. */
  readonly #money = new Map<string, BigInt64Array>()
  /** The first and the last year of each project; 0 where none is stated. */
  #years = new Int16Array()
  readonly #found = new LRUCache<string, Found>({
    max: mostKept,
    maxSize: keptBytes,
    sizeCalculation: ({ places }, key) => 10 * places.length + 2 * key.length + 600,
  })
  readonly #sums = new WeakMap<Found, Map<string, Sums>>()
  /** Places by the sum of a kind, largest first. */
  readonly #byMoney = new Map<SumKind, Promise<Uint32Array>>()

  private constructor(release: ReadableRelease, index: ActivityIndex) {
    this.#index = index
    this.#yearSums = new YearSums(index.count)
    const texts = TextIndex.of(textsOf(release, this.#yearSums), nextTurn)
    this.#texts = texts
    // A failure is that of the search that waits for it.
    texts.catch(() => undefined)
    this.groups = {
      countries: new Map(),
      sectors: new Map(),
      themes: new Map(),
      statuses: new Map(),
      organisations: new Map(),
    }
  }

  static async of(release: ReadableRelease, index: ActivityIndex, namesOf: NamesOf): Promise<ProjectIndex> {
    const projectIndex = new ProjectIndex(release, index)
    const starts: string[] = []
    for (let row = 0; row < index.count; row++) {
      starts.push(index.entry(row).start ?? '')
      if (row % entriesTogether === 0) await nextTurn()
    }
    projectIndex.#rows = starts.map((_, row) => row).sort((a, b) => compare(starts[b], starts[a]) || b - a)
    projectIndex.#places = new Uint32Array(index.count)
    for (const [place, row] of projectIndex.#rows.entries()) projectIndex.#places[row] = place
    projectIndex.#projects = new Float64Array(index.count)
    projectIndex.#changed = new Float64Array(index.count)
    projectIndex.#years = new Int16Array(2 * index.count)
    for (const [place, row] of projectIndex.#rows.entries()) {
      const entry = index.entry(row)
      projectIndex.#add(entry, place)
      if (place % entriesTogether === 0) await nextTurn()
    }
    projectIndex.#named = (['countries', 'sectors', 'themes'] as const).flatMap((kind) =>
      [...projectIndex.groups[kind].values()].map(({ key, name, places }) => ({
        // A sign that no search has keeps phrases within one name.
        ...{ name: [name, ...namesOf(kind, key)].map(searchable).join(' | '), places },
      })),
    )
    return projectIndex
  }

  entry(place: number): ActivityEntry {
    return this.#index.entry(this.#rows[place] ?? -1)
  }

  /** The entry at a place as `ActivityIndex.openText` has it. */
  text(place: number): string {
    return this.#index.openText(this.#rows[place] ?? -1)
  }

  /** The project at a place. */
  project(place: number): number | undefined {
    return this.#projects[place]
  }

  /** When the project at a place changed. */
  changed(place: number): IsoInstant | undefined {
    const at = this.#changed[place]
    return at === undefined || Number.isNaN(at) ? undefined : isoInstantOf(new Date(at))
  }

  /** How many projects of a group are also in each group of a kind, those that share none left out. */
  sharedWith(group: Group, kind: GroupKind): { readonly group: Group; readonly count: number }[] {
    const isIn = new Uint8Array(this.all.places.length)
    for (const place of group.places) isIn[place] = 1
    return [...this.groups[kind].values()]
      .map((other) => ({ group: other, count: other.places.reduce((sum, place) => sum + (isIn[place] ?? 0), 0) }))
      .filter(({ count }) => count > 0)
  }

  /** Money by year. */
  async yearSums(): Promise<YearSums> {
    await this.#texts
    return this.#yearSums
  }

  /** What matches the whole filter. Yields to other work between the steps of a search. */
  async find(filter: Filter): Promise<Found> {
    const key = JSON.stringify(['words', 'year', 'money', ...groupKinds].map((name) => filter[name as keyof Filter]))
    const known = this.#found.get(key)
    if (known) return known
    const found = await this.#find(filter)
    if (found.places.length > 0) this.#found.set(key, found)
    return found
  }

  /** The bits of the fields in which words were found in the project at a place. */
  fieldsOf({ places, fields }: Found, place: number): number {
    return fields?.[places.indexOf(place)] ?? 0
  }

  /** The sums of what was found, by currency. */
  async sumsOf(found: Found): Promise<Map<string, Sums>> {
    const known = this.#sums.get(found)
    if (known) return known
    const sums = new Map<string, Sums>()
    for (const [currency, money] of this.#money) {
      const sum = moneyOf(() => 0n)
      for (let from = 0; from < found.places.length; from += placesTogether) {
        for (const place of found.places.slice(from, from + placesTogether)) {
          for (const [at, kind] of sumKinds.entries()) sum[kind] += money[place * sumKinds.length + at] ?? 0n
        }
        await nextTurn()
      }
      if (sumKinds.some((kind) => sum[kind] !== 0n)) sums.set(currency, sum)
    }
    this.#sums.set(found, sums)
    return sums
  }

  /** The places in an order, newest first where projects are equal. */
  async ordered({ places, points }: Found, order: ListOrder): Promise<readonly number[]> {
    if (order === 'newest') return places
    if (order === 'best') return points ? mostFirst(places, points) : places
    const all = this.#byMoney.get(order) ?? this.#orderByMoney(order)
    this.#byMoney.set(order, all)
    const isWanted = new Uint8Array(this.all.places.length)
    for (const place of places) isWanted[place] = 1
    return [...(await all).filter((place) => isWanted[place] === 1)]
  }

  /** Sorts the sums alone, which the runtime does in a few milliseconds, and gives each place the next rank of its sum. */
  async #orderByMoney(kind: SumKind): Promise<Uint32Array> {
    const [currency = ''] = currenciesOf(this.all.sums)
    const money = this.#money.get(currency)
    const { length } = this.all.places
    // The order of sixteen digits.
    const sums = Float64Array.from(
      { length },
      (_, place) => -Number(money?.[place * sumKinds.length + sumKinds.indexOf(kind)] ?? 0n),
    )
    await nextTurn()
    const sorted = sums.slice().sort()
    const given = new Uint32Array(length)
    const order = new Uint32Array(length)
    for (const [place, sum] of sums.entries()) {
      const first = firstAt(sorted, sum)
      const taken = given[first] ?? 0
      given[first] = taken + 1
      order[first + taken] = place
      if (place % placesTogether === 0) await nextTurn()
    }
    return order
  }

  async #find({ words, year, money, ...groups }: Filter): Promise<Found> {
    const lists = groupKinds.flatMap((kind) => {
      const key = groups[kind]
      return key === undefined ? [] : [this.groups[kind].get(key)?.places ?? []]
    })
    const [first = this.all.places, ...others] = lists.sort((a, b) => a.length - b.length)
    let places = others.reduce(inBoth, first)
    if (year !== undefined && money !== undefined) {
      const sums = await this.yearSums()
      places = places.filter((place) => sums.has(this.#rows[place] ?? -1, money, String(year)))
    } else if (year !== undefined) places = places.filter((place) => this.#isInYear(place, year))
    return words === undefined ? { places } : await this.#findWords(words, places)
  }

  /** The places that have all terms of a search, and the one whose number or identifier it is. */
  async #findWords(words: string, places: readonly number[]): Promise<Found> {
    const own = this.#placeNamed(words.trim())
    const terms = termsOf(words)
    const points = new Uint8Array(this.all.places.length)
    const fields = new Uint8Array(this.all.places.length)
    let left = places
    for (const term of terms) {
      if (left.length === 0) break
      const bits = await (await this.#texts).find(term, nextTurn)
      const isGrouped = new Uint8Array(this.all.places.length)
      for (const { name, places: named } of this.#named) {
        if (hasTerm(name, term)) for (const place of named) isGrouped[place] = 1
      }
      await nextTurn()
      left = left.filter((place) => {
        const found = (bits[this.#rows[place] ?? -1] ?? 0) | (isGrouped[place] === 1 ? bitOf('group') : 0)
        if (found === 0) return false
        const best = bestField(found)
        points[place] = (points[place] ?? 0) + pointsOf(best)
        fields[place] = (fields[place] ?? 0) | bitOf(best)
        return true
      })
      await nextTurn()
    }
    if (terms.length === 0) left = []
    const isOwn = own !== undefined && places.includes(own)
    const all = isOwn && !left.includes(own) ? [...left, own].sort((a, b) => a - b) : left
    if (isOwn) points[own] = mostPoints
    return {
      places: all,
      points: Uint8Array.from(all, (one) => points[one] ?? 0),
      fields: Uint8Array.from(all, (one) => fields[one] ?? 0),
    }
  }

  /** The place of the project whose number or IATI identifier a text is. */
  #placeNamed(text: string): number | undefined {
    const row = /^\d{1,15}$/.test(text) ? this.#index.rowOfProject(Number(text)) : this.#index.rowOf(text)
    return row === undefined ? undefined : this.#places[row]
  }

  /** A project without a stated end goes on. */
  #isInYear(place: number, year: number): boolean {
    const [first = 0, last = 0] = [this.#years[2 * place], this.#years[2 * place + 1]]
    return first !== 0 && first <= year && (last === 0 || year <= last)
  }

  #add(entry: ActivityEntry, place: number): void {
    const { countries, sectors, themes, statuses, organisations } = this.groups
    this.#projects[place] = entry.project
    this.#changed[place] = Date.parse(entry.changed)
    this.#years.set([yearOf(entry.start), yearOf(entry.end)], 2 * place)
    const whole = [this.all, groupOf(statuses, entry.status)]
    const { shares = {} } = entry
    const split = [
      { groups: entry.countries.map((code) => groupOf(countries, code)), weights: weightsOf(shares.countries) },
      { groups: entry.sectors.map((code) => groupOf(sectors, code)), weights: weightsOf(shares.sectors) },
      {
        groups: Object.entries(entry.themes).map(([id, name]) => groupOf(themes, id, name)),
        weights: weightsOf(shares.themes),
      },
    ]
    if (entry.page !== undefined && URL.canParse(entry.page)) {
      const { pathname } = new URL(entry.page)
      if (pathname.startsWith(`${demoPath}/`)) this.placeOfPage.set(pathname, place)
    }
    if (entry.partner) whole.push(groupOf(organisations, organisationId(entry.partner), entry.partner.name))
    for (const group of whole) addTo(group, place)
    for (const { groups } of split) for (const group of groups) addTo(group, place)
    for (const [currency, money] of Object.entries(entry.money)) {
      const amounts = { ...money, partners: paidToPartners(money), expenditure: money.expenditure ?? ('0' as Decimal) }
      let stored = this.#money.get(currency)
      if (!stored) {
        stored = new BigInt64Array(sumKinds.length * this.#index.count)
        this.#money.set(currency, stored)
      }
      for (const [at, kind] of sumKinds.entries()) {
        const units = toUnits(amounts[kind])
        stored[place * sumKinds.length + at] = BigInt.asIntN(64, units)
        for (const group of whole) sumsOf(group, currency)[kind] += units
        for (const { groups, weights } of split) {
          const parts = weights ? splitByWeights(units, weights) : groups.map(() => units)
          for (const [at, group] of groups.entries()) sumsOf(group, currency)[kind] += parts[at] ?? 0n
        }
      }
    }
  }
}

function addTo({ places }: Group, place: number): void {
  if (places.at(-1) !== place) places.push(place)
}

function yearOf(day = ''): number {
  return Number(day.slice(0, 4)) || 0
}

function moneyOf(amount: (kind: SumKind, at: number) => bigint): Sums {
  return Object.fromEntries(sumKinds.map((kind, at) => [kind, amount(kind, at)])) as Sums
}

function sumsOf({ sums }: Group, currency: string): Sums {
  const known = sums.get(currency) ?? moneyOf(() => 0n)
  sums.set(currency, known)
  return known
}

/** The name of an organisation in addresses: its identifier, else a hash of its name. */
export function organisationId({ ref, name }: { readonly ref?: string; readonly name: string }): string {
  if (ref !== undefined) return ref
  // These are addresses: they stay when searching learns to read more.
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .trim()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${words}-${hash('sha256', name).slice(0, 8)}`
}

/** The currencies of sums, that with most money first. */
export function currenciesOf(sums: ReadonlyMap<string, Sums>): string[] {
  const weight = (currency: string) => {
    const { budget, in: received } = sums.get(currency) ?? { budget: 0n, in: 0n }
    return budget + received
  }
  return [...sums.keys()].sort((a, b) => (weight(b) > weight(a) ? 1 : weight(b) < weight(a) ? -1 : compare(a, b)))
}

export function amountOf(sums: Sums, kind: SumKind): Decimal {
  return toAmount(sums[kind])
}

function emptyGroup(key: string, name: string): Group {
  return { key, name, places: [], sums: new Map() }
}

function groupOf(groups: Map<string, Group>, key: string, name = ''): Group {
  const group = groups.get(key) ?? emptyGroup(key, name)
  groups.set(key, group)
  return group
}

const mostPoints = 255

function bestField(bits: number) {
  return searchedFields.find((field) => (bits & bitOf(field)) !== 0) ?? 'text'
}

/** Places by their points, most first, those with as many in their order. */
function mostFirst(places: readonly number[], points: Uint8Array): number[] {
  const byPoints = new Map<number, number[]>()
  for (const [at, place] of places.entries()) {
    const same = byPoints.get(points[at] ?? 0)
    if (same) same.push(place)
    else byPoints.set(points[at] ?? 0, [place])
  }
  return [...byPoints].sort(([a], [b]) => b - a).flatMap(([, same]) => same)
}

/** Where the first of equal values stands in a sorted list that has it. */
function firstAt(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** What is searched in, of each activity in the order of the index; their money is added to `years` on the way. */
async function* textsOf(release: ReadableRelease, years: YearSums): AsyncGenerator<SearchedTexts[]> {
  let row = 0
  for await (const activities of indexedActivities(release)) {
    for (const activity of activities) {
      years.add(row++, activity)
      if (row % splitTogether === 0) await nextTurn()
    }
    // An index before format 4 has no texts.
    yield activities.map(({ title, partner, texts = {} }) => ({
      title: [title, ...(texts.titles ?? [])],
      partner: partner ? [partner.name] : [],
      place: texts.places ?? [],
      text: texts.descriptions ?? [],
    }))
  }
}

function inBoth(one: readonly number[], other: readonly number[]): number[] {
  const both: number[] = []
  for (let a = 0, b = 0; a < one.length && b < other.length; ) {
    const difference = (one[a] ?? 0) - (other[b] ?? 0)
    if (difference === 0) both.push(one[a] ?? 0)
    if (difference <= 0) a++
    if (difference >= 0) b++
  }
  return both
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0
}
