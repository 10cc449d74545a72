import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { demoPath } from '../../iati/addresses.js'
import { type IsoInstant, isoInstantOf } from '../../kernel/dates.js'
import { type Decimal, splitByLargestRemainder } from '../../kernel/money.js'
import { type ActivityEntry, paidToPartners, toAmount, toUnits } from '../../release/read/activity-entry.js'
import type { ActivityIndex, Row } from '../../release/read/activity-index.js'
import { WordIndex } from './word-index.js'

/** What is summed, each of its own elements: `partners` of transactions of type 3, `expenditure` of type 4. */
export const sumKinds = ['budget', 'in', 'partners', 'expenditure'] as const
export type SumKind = (typeof sumKinds)[number]

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

/** What a list of projects is filtered by. */
export type Filter = { readonly words?: string; readonly year?: number } & { readonly [Kind in GroupKind]?: string }

/** Orders of a list, each from the largest: by the start, or by the sum of the currency with most money. */
export const listOrders = ['newest', ...sumKinds] as const
export type ListOrder = (typeof listOrders)[number]

// Entries read before other work gets a turn.
const entriesTogether = 500
// Lists that are kept, since readers turn pages: how many, and their bytes with their keys.
const mostKept = 500
const keptBytes = 8 * 1_048_576
// Words of a search that count, each at least so long; a letter of a script without spaces is a word.
const mostWords = 8
const wordPattern = /^(?:.{2,}|\P{ASCII})$/u

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
  /** Titles and partners in small letters. */
  readonly #words = new WordIndex()
  /** Names of countries, sectors and themes in small letters, with their projects. */
  #named: readonly { readonly name: string; readonly places: readonly number[] }[] = []
  #projects = new Float64Array()
  /** When each project changed, in milliseconds. */
  #changed = new Float64Array()
  /** The money of each project by currency, `sumKinds.length` sums for each place. */
  readonly #money = new Map<string, BigInt64Array>()
  /** The first and the last year of each project; 0 where none is stated. */
  #years = new Int16Array()
  readonly #found = new LRUCache<string, readonly number[]>({
    max: mostKept,
    maxSize: keptBytes,
    sizeCalculation: ({ length }, key) => 8 * length + 2 * key.length + 200,
  })

  private constructor(index: ActivityIndex) {
    this.#index = index
    this.groups = {
      countries: new Map(),
      sectors: new Map(),
      themes: new Map(),
      statuses: new Map(),
      organisations: new Map(),
    }
  }

  static async of(index: ActivityIndex, namesOf: NamesOf): Promise<ProjectIndex> {
    const projectIndex = new ProjectIndex(index)
    const starts: string[] = []
    for (let row = 0; row < index.count; row++) {
      starts.push(index.entry(row).start ?? '')
      if (row % entriesTogether === 0) await nextTurn()
    }
    projectIndex.#rows = starts.map((_, row) => row).sort((a, b) => compare(starts[b], starts[a]) || b - a)
    projectIndex.#projects = new Float64Array(index.count)
    projectIndex.#changed = new Float64Array(index.count)
    projectIndex.#years = new Int16Array(2 * index.count)
    for (const [place, row] of projectIndex.#rows.entries()) {
      const entry = index.entry(row)
      projectIndex.#add(entry, place)
      projectIndex.#words.add(searchable(`${entry.title} ${entry.partner?.name ?? ''}`))
      if (place % entriesTogether === 0) await nextTurn()
    }
    projectIndex.#named = (['countries', 'sectors', 'themes'] as const).flatMap((kind) =>
      [...projectIndex.groups[kind].values()].map(({ key, name, places }) => ({
        ...{ name: searchable([name, ...namesOf(kind, key)].join(' ')), places },
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

  /** The places that match the whole filter, newest first. Yields to other work between the words of a search. */
  async find(filter: Filter): Promise<readonly number[]> {
    const key = JSON.stringify(['words', 'year', ...groupKinds].map((name) => filter[name as keyof Filter]))
    const known = this.#found.get(key)
    if (known) return known
    const found = await this.#find(filter)
    if (found.length > 0) this.#found.set(key, found)
    return found
  }

  /** The sums of projects, by currency. */
  sumsOf(places: readonly number[]): Map<string, Sums> {
    const sums = new Map<string, Sums>()
    for (const [currency, money] of this.#money) {
      const sum = sumKinds.map((_, at) => {
        let units = 0n
        for (const place of places) units += money[place * sumKinds.length + at] ?? 0n
        return units
      })
      if (sum.some((units) => units !== 0n))
        sums.set(
          currency,
          moneyOf((_, at) => sum[at] ?? 0n),
        )
    }
    return sums
  }

  /** The places in an order, which is the given one where projects are equal. */
  ordered(places: readonly number[], order: ListOrder): readonly number[] {
    const [currency = ''] = currenciesOf(this.all.sums)
    const money = this.#money.get(currency)
    const at = sumKinds.indexOf(order as SumKind)
    if (!money || at < 0) return places
    const units = (place: number) => money[place * sumKinds.length + at] ?? 0n
    return [...places].sort((a, b) => (units(a) < units(b) ? 1 : units(a) > units(b) ? -1 : 0))
  }

  async #find({ words, year, ...groups }: Filter): Promise<readonly number[]> {
    const lists = groupKinds.flatMap((kind) => {
      const key = groups[kind]
      return key === undefined ? [] : [this.groups[kind].get(key)?.places ?? []]
    })
    const [first = this.all.places, ...others] = lists.sort((a, b) => a.length - b.length)
    let found = others.reduce(inBoth, first)
    if (year !== undefined) found = found.filter((place) => this.#isInYear(place, year))
    if (words === undefined) return found
    const own = this.#placeNamed(words.trim())
    const exact = own !== undefined && found.includes(own) ? [own] : []
    const wanted = searchedWords(words)
    if (wanted.length === 0) return exact
    for (const word of wanted) {
      if (found.length === 0) break
      const groups = this.#named.filter(({ name }) => name.includes(word)).map(({ places }) => places)
      found = inBoth(found, this.#words.find(word, groups))
      await nextTurn()
    }
    return [...exact, ...found.filter((place) => place !== own)]
  }

  /** The place of the project whose number or IATI identifier a text is. */
  #placeNamed(text: string): number | undefined {
    const row = /^\d{1,15}$/.test(text) ? this.#index.rowOfProject(Number(text)) : this.#index.rowOf(text)
    return row === undefined ? undefined : this.#rows.indexOf(row)
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
      { groups: entry.countries.map((code) => groupOf(countries, code)), shares: shares.countries },
      { groups: entry.sectors.map((code) => groupOf(sectors, code)), shares: shares.sectors },
      { groups: Object.entries(entry.themes).map(([id, name]) => groupOf(themes, id, name)), shares: shares.themes },
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
        for (const { groups, shares: weights } of split) {
          const parts = weights ? splitByShares(units, weights) : groups.map(() => units)
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

/** Parts of an amount by percentages, which are exactly the amount together. */
function splitByShares(units: bigint, shares: readonly Decimal[]): bigint[] {
  const parts = splitByLargestRemainder(units < 0n ? -units : units, shares.map(toUnits))
  return units < 0n ? parts.map((part) => -part) : parts
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

const unaccented: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' }

/** Small letters without accents, words separated by one blank, without quotes and punctuation. */
export function searchable(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđı]/g, (letter) => unaccented[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The words of a search that count, long ones first, since they are rare. */
export function searchedWords(text: string): string[] {
  const words = new Set(searchable(text).split(' '))
  return [...words]
    .filter((word) => wordPattern.test(word))
    .sort((a, b) => b.length - a.length)
    .slice(0, mostWords)
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
