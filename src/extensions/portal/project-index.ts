import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { demoPath } from '../../iati/addresses.js'
import { type IsoInstant, isoInstantOf } from '../../kernel/dates.js'
import { InFlight } from '../../kernel/in-flight.js'
import { createYielder, type Pause } from '../../kernel/yielder.js'
import { type ActivityEntry, type OtherNames, toUnits } from '../../release/read/activity-entry.js'
import { type ActivityIndex, indexedActivities } from '../../release/read/activity-index.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import { AskedKeys } from './asked-keys.js'
import { firstAt, having, isAmong, keepCommon, markedIn, marksFor, mostFirst, mostPoints, withPlace } from './places.js'
import {
  amountsOf,
  byKind,
  type SplitKind,
  Splits,
  type SumKind,
  splitByWeights,
  splitKinds,
  splitsOf,
  sumKinds,
} from './sum-kinds.js'
import {
  bitOf,
  pointsOf,
  type SearchedField,
  type SearchedTexts,
  searchable,
  searchedFields,
  type Term,
  TextIndex,
  termsOf,
  testOf,
} from './text-index.js'
import { Units } from './units.js'
import { type PartOf, YearSums } from './year-sums.js'

/** Sums of one currency. */
export type Sums = Record<SumKind, bigint>

/** Projects that have a country, sector, theme, status or partner in common. */
export type Group = {
  readonly key: string
  /** As published; empty where the portal names codes itself. */
  readonly name: string
  /** The language of the name where that is not English, and the name in others. */
  readonly language?: string | undefined
  readonly names?: OtherNames | undefined
  /** Places in the order of the index, which is newest first. */
  readonly places: number[]
  readonly sums: Map<string, Sums>
}

/** A group, and how many of some projects are in it. */
export type Share = { readonly group: Group; readonly count: number }

/** Kinds of groups, with the parameter of `/projects` that lists the projects of one. */
export const parameters = {
  ...({ countries: 'country', themes: 'theme', sectors: 'sector' } as const),
  ...({ statuses: 'status', organisations: 'organisation' } as const),
}
export type GroupKind = keyof typeof parameters
export const groupKinds = Object.keys(parameters) as GroupKind[]

/** What a list of projects is filtered by: a year in which they ran, or in which they have money of a kind. */
export type Filter = { readonly words?: string; readonly year?: number; readonly money?: SumKind } & {
  readonly [Kind in GroupKind]?: string
}

/** What the money of a list is of: a year, and the parts of a country, sector and theme; nothing: whole projects. */
export type ListScope = { readonly year?: number } & { readonly [Kind in SplitKind]?: string }

/** Orders of a list: by how well words fit, by the start, or by the sum of the currency with most money; largest first. */
export const listOrders = ['best', 'newest', ...sumKinds] as const
export type ListOrder = (typeof listOrders)[number]

// Entries read before other work gets a turn.
const entriesTogether = 25
// Lists that are kept, since readers turn pages: how many, and their bytes with their keys.
const mostKept = 500
const keptBytes = 8 * 1_048_576
// Words of a search that are compared with those of the projects.
const mostMeantWords = 8
// Places that are counted, summed or ordered before other work gets a turn.
const placesTogether = 20_000
// Terms are looked up for so long before other work gets a turn.
const searchedMs = 1

/** What a filter finds. */
export type Found = {
  /** Newest first. */
  readonly places: Uint32Array
  /** Of a search for words, in the order of `places`, sums of `bestScores`: how well they fit, and the fields that they are in. */
  readonly scores?: Uint32Array
}

/** The names of a code in all languages that readers search in. */
export type NamesOf = (kind: GroupKind, code: string) => readonly string[]

/**
 * The projects of a release as lists show them: newest first, by group, with sums. It holds numbers and words of titles, and
 * reads an entry when it is shown.
 */
export class ProjectIndex {
  readonly all: Group = emptyGroup('', '')
  readonly groups = Object.fromEntries(groupKinds.map((kind) => [kind, new Map()])) as Readonly<
    Record<GroupKind, Map<string, Group>>
  >
  /** The project of each of the platform's own pages about projects that this service shows. */
  readonly placeOfPage = new Map<string, number>()
  readonly #index: ActivityIndex
  /** Rows by place, and places by row. */
  readonly #rows: Uint32Array
  readonly #places: Uint32Array
  /** By place. Searches alone wait for it. */
  readonly #texts: Promise<TextIndex>
  /** By row, whole when the texts are. */
  readonly #yearSums: YearSums
  /** Names of countries, sectors and themes as they are searched for, with their projects. */
  readonly #named = new Map<string, { readonly name: string; readonly places: readonly number[] }>()
  #projects = new Float64Array()
  /** When each project changed, in milliseconds. */
  #changed = new Float64Array()
  /** The money of each project by currency and kind. */
  readonly #money = new Map<string, Record<SumKind, Units>>()
  readonly #splits: Readonly<Record<SplitKind, Splits>>
  /** The first and the last year of each project; 0 where none is stated. */
  #years = new Int16Array()
  readonly #found = new LRUCache<string, Found>({
    max: mostKept,
    maxSize: keptBytes,
    sizeCalculation: ({ places }, key) => 8 * places.length + 2 * key.length + 600,
  })
  readonly #asked = new AskedKeys()
  /** Arrays that `#borrow` lends. */
  readonly #spare: Uint8Array[] = []
  /** Requests that come while a list is being found share it. */
  readonly #finding = new InFlight<Found>()
  readonly #sums = new WeakMap<Found, Promise<Map<string, Sums>>>()
  /** The bits of fields by place, of terms that were looked for. */
  readonly #terms = keptTerms(keptBytes / 2)
  /** Kept apart, for they take many times as long to find. */
  readonly #phrases = keptTerms(keptBytes / 2)
  /** A bit for each place, of the bits of a term: what several terms have in common is found in hundreds of instructions. */
  readonly #marks = new WeakMap<Uint8Array, Uint32Array>()
  /** All places by the money of a kind, and those of lists of a scope; largest first. */
  readonly #byMoney = new Map<SumKind, Promise<Uint32Array>>()
  readonly #byPartOfMoney = new WeakMap<Found, Map<SumKind, Promise<Uint32Array>>>()

  private constructor(release: ReadableRelease, index: ActivityIndex, rows: Uint32Array, pause: Pause) {
    this.#index = index
    this.#rows = rows
    this.#places = new Uint32Array(index.count)
    for (const [place, row] of rows.entries()) this.#places[row] = place
    this.#yearSums = new YearSums()
    const splitsOfKind = () => new Splits(index.count)
    this.#splits = { countries: splitsOfKind(), sectors: splitsOfKind(), themes: splitsOfKind() }
    const texts = TextIndex.of(textsOf(release, this.#yearSums, pause), rows, pause)
    this.#texts = texts
    // A failure is that of the search that waits for it.
    texts.catch(() => undefined)
  }

  /** Reads a release, other work having its turns in each `pause`. */
  static async of(
    release: ReadableRelease,
    index: ActivityIndex,
    namesOf: NamesOf,
    pause: Pause = nextTurn,
  ): Promise<ProjectIndex> {
    // A number for each, since those are sorted many times faster: its day, then its row.
    const starts = new Float64Array(index.count)
    for (let row = 0; row < index.count; row++) {
      const [year, month, day] = (index.entry(row).start ?? '').slice(0, 10).split('-')
      starts[row] = (Number(`${year}${month}${day}`) || 0) * index.count + row
      if (row % entriesTogether === 0) await pause()
    }
    const rows = Uint32Array.from(starts.sort().reverse(), (start) => start % index.count)
    const projectIndex = new ProjectIndex(release, index, rows, pause)
    projectIndex.#projects = new Float64Array(index.count)
    projectIndex.#changed = new Float64Array(index.count)
    projectIndex.#years = new Int16Array(2 * index.count)
    for (const [place, row] of rows.entries()) {
      const entry = index.entry(row)
      projectIndex.#add(entry, place)
      if (place % entriesTogether === 0) await pause()
    }
    for (const kind of splitKinds) {
      for (const { key, name, places } of projectIndex.groups[kind].values()) {
        // A sign that no search has keeps phrases within one name.
        const names = [name, ...namesOf(kind, key)].map(searchable).join(' | ')
        projectIndex.#named.set(`${kind} ${key}`, { name: names, places })
      }
    }
    return projectIndex
  }

  /** Resolves when projects can be searched for too. */
  async whole(): Promise<void> {
    await this.#texts
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

  /** The groups of a kind that have projects of a group, those with most of them first. */
  sharedWith(group: Group, kind: GroupKind): Share[] {
    const isIn = new Uint8Array(this.all.places.length)
    for (const place of group.places) isIn[place] = 1
    return [...this.groups[kind].values()]
      .map((other) => ({ group: other, count: other.places.reduce((sum, place) => sum + (isIn[place] ?? 0), 0) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || compare(a.group.key, b.group.key))
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
    // Other filters choose among few names.
    const isKept = filter.words === undefined || this.#asked.isAskedAgain(key)
    const found = await this.#finding.get(key, () => this.#find(filter))
    if (isKept && found.places.length > 0) this.#found.set(key, found)
    return found
  }

  /** The bits of the fields in which words were found in the project at a place. */
  fieldsOf({ places, scores }: Found, place: number): number {
    const score = scores?.[firstAt(places, place)] ?? 0
    const isIn = (_: SearchedField, at: number) => ((score >>> shiftOf(at)) & termBits) !== 0
    return searchedFields.filter(isIn).reduce((bits, field) => bits | bitOf(field), 0)
  }

  /** Whether a country, sector or theme has a name with one of these terms. */
  isNamed(kind: GroupKind, key: string, terms: readonly Term[]): boolean {
    const name = this.#named.get(`${kind} ${key}`)?.name
    return name !== undefined && terms.some((term) => testOf(term)(name))
  }

  /** What the money of a list with a filter is of. An index before format 6 tells no years. */
  scopeOf({ year, ...groups }: Filter): ListScope {
    const parts = splitKinds.filter((kind) => groups[kind] !== undefined).map((kind) => [kind, groups[kind]])
    return { ...(year !== undefined && this.#index.tellsYears && { year }), ...Object.fromEntries(parts) }
  }

  /** The sums of what was found with a filter, by currency: of its scope alone. */
  async sumsOf(found: Found, filter: Filter): Promise<Map<string, Sums>> {
    const scope = this.scopeOf(filter)
    const sums =
      this.#sums.get(found) ?? (isUnscoped(scope) ? this.#wholeSums(found.places) : this.#scopedSums(found, scope))
    this.#sums.set(found, sums)
    return await sums
  }

  /** The sums of whole projects. */
  async #wholeSums(places: Uint32Array): Promise<Map<string, Sums>> {
    const sums = new Map<string, Sums>()
    let summed = 0
    for (const [currency, money] of this.#money) {
      const sum = byKind(() => 0n)
      for (const kind of sumKinds) {
        sum[kind] = money[kind].sumOf(places)
        summed += places.length
        if (summed < placesTogether) continue
        summed = 0
        await nextTurn()
      }
      if (sumKinds.some((kind) => sum[kind] !== 0n)) sums.set(currency, sum)
    }
    return sums
  }

  async #scopedSums({ places }: Found, scope: ListScope): Promise<Map<string, Sums>> {
    // Most have all of their money in a group: numbers are summed faster than parts of them.
    const kinds = splitKinds.filter((kind) => scope[kind] !== undefined)
    const [whole, parts]: [number[], number[]] = [[], []]
    for (const [at, place] of places.entries()) {
      ;(kinds.some((kind) => this.#splits[kind].has(place)) ? parts : whole).push(place)
      if (at % placesTogether === 0) await nextTurn()
    }
    const { year } = scope
    const sums = await (year === undefined ? this.#wholeSums(Uint32Array.from(whole)) : this.#sumsInYear(whole, year))
    const moneyOf = await this.moneyIn(scope)
    const yieldIfDue = createYielder(searchedMs)
    for (const place of parts) {
      for (const [currency, money] of moneyOf(place)) {
        const sum = sums.get(currency) ?? byKind(() => 0n)
        sums.set(currency, sum)
        for (const kind of sumKinds) sum[kind] += money[kind]
      }
      await yieldIfDue()
    }
    return sums
  }

  /** The sums that whole projects have in a year. */
  async #sumsInYear(places: readonly number[], year: number): Promise<Map<string, Sums>> {
    const years = await this.yearSums()
    return await this.#borrow(async (isIn) => {
      for (const place of places) isIn[this.#rows[place] ?? 0] = 1
      const sums = new Map<string, Sums>()
      for (const currency of this.#money.keys()) {
        const sum = byKind((kind) => years.sumInYear(currency, kind, String(year), isIn))
        if (sumKinds.some((kind) => sum[kind] !== 0n)) sums.set(currency, sum)
        await nextTurn()
      }
      return sums
    })
  }

  /**
   * Tells the money of a scope that the project at a place has, by currency. Its parts of a country, sector and theme are by the
   * percentages of its record; with several of them, a part of a part.
   */
  async moneyIn(scope: ListScope): Promise<(place: number) => Map<string, Sums>> {
    const { year } = scope
    const years = year === undefined ? undefined : await this.yearSums()
    const money = [...this.#money].map(([currency, units]) => ({
      currency,
      amounts: byKind((kind) => {
        const inYear = years?.inYear(currency, kind, String(year))
        if (inYear) return (place: number, partOf?: PartOf) => inYear(this.#rows[place] ?? -1, partOf)
        return (place: number, partOf: PartOf = (whole) => whole) => partOf(units[kind].at(place))
      }),
    }))
    return (place) => {
      const partOf = this.#partOf(place, scope)
      const told = money.map(({ currency, amounts }) => {
        return [currency, byKind((kind) => amounts[kind](place, partOf))] as const
      })
      return new Map(told.filter(([, sums]) => sumKinds.some((kind) => sums[kind] !== 0n)))
    }
  }

  /** Gives the part of a project's money that its percentages say; undefined: all of it. */
  #partOf(place: number, scope: ListScope): PartOf | undefined {
    let partOf: PartOf | undefined
    for (const kind of splitKinds) {
      const group = scope[kind]
      const next = group === undefined ? undefined : this.#splits[kind].partOf(place, group)
      const before = partOf
      if (next) partOf = before ? (units) => next(before(units)) : next
    }
    return partOf
  }

  /** A part of the places in an order, that of money by the scope of the filter; newest first where projects are equal. */
  async ordered(
    found: Found,
    filter: Filter,
    order: ListOrder,
    from = 0,
    to = found.places.length,
  ): Promise<Uint32Array> {
    const { places, scores } = found
    if (order === 'newest' || (order === 'best' && !scores)) return places.subarray(from, to)
    if (order === 'best') return mostFirst(places, scores ?? new Uint32Array(), from, to)
    const scope = this.scopeOf(filter)
    const [orders, all] = isUnscoped(scope) ? [this.#byMoney, this.all.places] : [this.#ordersOf(found), places]
    const known = orders.get(order) ?? this.#orderByMoney(Uint32Array.from(all), scope, order)
    orders.set(order, known)
    const ordered = await known
    if (places.length === ordered.length) return ordered.subarray(from, to)
    return await this.#borrow((marks) => {
      for (let at = 0; at < places.length; at++) marks[places[at] ?? 0] = 1
      return having(ordered, marks, to).subarray(from)
    })
  }

  #ordersOf(found: Found): Map<SumKind, Promise<Uint32Array>> {
    const orders = this.#byPartOfMoney.get(found) ?? new Map<SumKind, Promise<Uint32Array>>()
    this.#byPartOfMoney.set(found, orders)
    return orders
  }

  /** Lends an array of zeros by place: making one for each search would keep the garbage collector busy. */
  async #borrow<T>(work: (array: Uint8Array) => T | Promise<T>): Promise<T> {
    const array = this.#spare.pop() ?? new Uint8Array(this.#index.count)
    try {
      return await work(array.fill(0))
    } finally {
      this.#spare.push(array)
    }
  }

  async #orderByMoney(places: Uint32Array, scope: ListScope, kind: SumKind): Promise<Uint32Array> {
    const [currency = ''] = currenciesOf(this.all.sums)
    const units = this.#money.get(currency)?.[kind]
    const moneyOf = isUnscoped(scope) ? undefined : await this.moneyIn(scope)
    const sums = new Float64Array(places.length)
    const yieldIfDue = createYielder(searchedMs)
    for (const [at, place] of places.entries()) {
      sums[at] = moneyOf ? Number(moneyOf(place).get(currency)?.[kind] ?? 0n) : (units?.near(place) ?? 0)
      if (moneyOf) await yieldIfDue()
    }
    return (await largestFirst(sums)).map((at) => places[at] ?? 0)
  }

  async #find({ words, year, money, ...groups }: Filter): Promise<Found> {
    const passed = await this.#borrow((marks) => this.#inGroups(groups, marks))
    const isInYear = year === undefined ? undefined : await this.#yearTest(year, money)
    if (words !== undefined) return await this.#findWords(words, passed, isInYear)
    const places = passed ?? new Uint32Array(this.all.places)
    return { places: isInYear ? places.filter(isInYear) : places }
  }

  /** The places that are in all groups; undefined: none is asked for. Uses up `marks`. */
  #inGroups(keys: Pick<Filter, GroupKind>, marks: Uint8Array): Uint32Array<ArrayBuffer> | undefined {
    const lists = groupKinds.flatMap((kind) => {
      const key = keys[kind]
      return key === undefined ? [] : [this.groups[kind].get(key)?.places ?? []]
    })
    const [fewest, ...others] = lists.sort((a, b) => a.length - b.length)
    let places = fewest && new Uint32Array(fewest)
    for (const list of others) {
      for (const place of list) marks[place] = 1
      places = having(places ?? new Uint32Array(), marks)
      marks.fill(0)
    }
    return places
  }

  /** Whether a place ran in a year, or has money of a kind in it. */
  async #yearTest(year: number, money: SumKind | undefined): Promise<(place: number) => boolean> {
    if (money) return (await this.yearSums()).having(money, String(year), this.#rows)
    // A project without a stated end goes on.
    return (place) => {
      const [first = 0, last = 0] = [this.#years[2 * place], this.#years[2 * place + 1]]
      return first !== 0 && first <= year && (last === 0 || year <= last)
    }
  }

  /** Keeps projects with all terms, plus the one whose number or identifier was typed, of those that passed the filters. */
  async #findWords(
    words: string,
    passed: Uint32Array<ArrayBuffer> | undefined,
    isInYear: ((place: number) => boolean) | undefined,
  ): Promise<Found> {
    const terms: Uint8Array[] = []
    let left = passed
    let common: Uint32Array | undefined
    const yieldIfDue = createYielder(searchedMs)
    for (const term of termsOf(words)) {
      if (left?.length === 0) break
      const bits = await this.#bitsOf(term)
      terms.push(bits)
      if (passed) left = having(left ?? passed, bits)
      else if (bits.length === 0 || (common && !keepCommon(common, this.#marksOf(bits)))) left = new Uint32Array()
      else common ??= this.#marksOf(bits).slice()
      await yieldIfDue()
    }
    if (common) left ??= markedIn(common)
    // Words of which none counts find nothing.
    let places = left && terms.length > 0 ? left : new Uint32Array()
    if (isInYear) places = places.filter(isInYear)
    const own = this.#placeNamed(words.trim())
    const isOwn = own !== undefined && (passed === undefined || isAmong(passed, own)) && (isInYear?.(own) ?? true)
    if (isOwn && !isAmong(places, own)) places = withPlace(places, own)
    const scores = new Uint32Array(places.length)
    for (const bits of terms) {
      for (let at = 0; at < places.length; at++) {
        scores[at] = (scores[at] ?? 0) + (bestScores[bits[places[at] ?? -1] ?? 0] ?? 0)
      }
    }
    if (isOwn) {
      const at = firstAt(places, own)
      scores[at] = (scores[at] ?? 0) | mostPoints
    }
    return { places, scores }
  }

  /** A search with the nearest word of the projects in place of each word that none has; undefined where that changes nothing. */
  async meant(text: string): Promise<string | undefined> {
    const texts = await this.#texts
    const names = () => [...this.#named.values()].flatMap(({ name }) => name.split(' '))
    const words = searchable(text)
      .split(' ')
      .filter((word) => word !== '')
      .slice(0, mostMeantWords)
    const meant: string[] = []
    const yieldIfDue = createYielder(searchedMs)
    for (const word of words) {
      const term = { words: [word], isPhrase: false }
      // The search itself has found most of those that are nowhere.
      const isNowhere = this.#terms.get(JSON.stringify(term))?.length === 0
      const isKnown = !isNowhere && (texts.has(word) || (await this.#bitsOf(term)).length > 0)
      meant.push(isKnown ? word : ((await texts.nearest(word, names, nextTurn)) ?? word))
      await yieldIfDue()
    }
    return meant.every((word, at) => word === words[at]) ? undefined : meant.join(' ')
  }

  /** The bits of the fields in which each place has a term; empty where none has it. */
  async #bitsOf(term: Term): Promise<Uint8Array> {
    const key = JSON.stringify(term)
    const terms = term.isPhrase ? this.#phrases : this.#terms
    const known = terms.get(key)
    if (known) return known
    const texts = await this.#texts
    return await this.#borrow(async (found) => {
      let isFound = await texts.find(term, found, nextTurn)
      const hasTerm = testOf(term)
      for (const { name, places } of this.#named.values()) {
        if (!hasTerm(name)) continue
        isFound ||= places.length > 0
        for (let at = 0; at < places.length; at++) {
          const place = places[at] ?? 0
          found[place] = (found[place] ?? 0) | groupBit
        }
      }
      const bits = isFound ? found.slice() : new Uint8Array()
      if (bits.length === 0 || this.#asked.isAskedAgain(key)) terms.set(key, bits)
      return bits
    })
  }

  #marksOf(bits: Uint8Array): Uint32Array {
    const marks = this.#marks.get(bits) ?? marksFor(bits)
    this.#marks.set(bits, marks)
    return marks
  }

  /** The place of the project whose number or IATI identifier a text is. */
  #placeNamed(text: string): number | undefined {
    const row = /^\d{1,15}$/.test(text) ? this.#index.rowOfProject(Number(text)) : this.#index.rowOf(text)
    return row === undefined ? undefined : this.#places[row]
  }

  #add(entry: ActivityEntry, place: number): void {
    const { statuses, organisations } = this.groups
    this.#projects[place] = entry.project
    this.#changed[place] = Date.parse(entry.changed)
    this.#years.set([yearOf(entry.start), yearOf(entry.end)], 2 * place)
    const whole = [this.all, groupOf(statuses, entry.status)]
    const splits = splitsOf(entry)
    const named = { names: entry.themes, languages: entry.languages?.themes }
    const split = splitKinds.map((kind) => {
      const { names = {}, languages = {} }: Partial<typeof named> = kind === 'themes' ? named : {}
      const { keys, weights } = splits[kind]
      return { groups: keys.map((key) => groupOf(this.groups[kind], key, names[key], languages[key])), weights }
    })
    for (const kind of splitKinds) this.#splits[kind].set(place, splits[kind])
    if (entry.page !== undefined && URL.canParse(entry.page)) {
      const { pathname } = new URL(entry.page)
      if (pathname.startsWith(`${demoPath}/`)) this.placeOfPage.set(pathname, place)
    }
    if (entry.partner) {
      const { partner: language, partners } = entry.languages ?? {}
      whole.push(groupOf(organisations, organisationId(entry.partner), entry.partner.name, language, partners))
    }
    for (const group of whole) addTo(group, place)
    for (const { groups } of split) for (const group of groups) addTo(group, place)
    for (const [currency, money] of Object.entries(entry.money)) {
      const amounts = amountsOf(money)
      const stored = this.#money.get(currency) ?? byKind(() => new Units(this.#index.count))
      this.#money.set(currency, stored)
      for (const kind of sumKinds) {
        const units = toUnits(amounts[kind])
        stored[kind].set(place, units)
        for (const group of whole) sumsOf(group, currency)[kind] += units
        for (const { groups, weights } of split) {
          const parts = weights ? splitByWeights(units, weights) : groups.map(() => units)
          for (const [at, group] of groups.entries()) sumsOf(group, currency)[kind] += parts[at] ?? 0n
        }
      }
    }
  }
}

function keptTerms(maxSize: number) {
  return new LRUCache<string, Uint8Array>({
    maxSize,
    sizeCalculation: (bits, key) => bits.length + 2 * key.length + 200,
  })
}

function addTo({ places }: Group, place: number): void {
  if (places.at(-1) !== place) places.push(place)
}

function yearOf(day = ''): number {
  return Number(day.slice(0, 4)) || 0
}

/** Whether money is of whole projects. */
export function isUnscoped(scope: ListScope): boolean {
  return Object.keys(scope).length === 0
}

/** Where the sums stand from the largest down. Sorts them alone, which takes milliseconds, and gives each the next rank of its sum. */
async function largestFirst(sums: Float64Array): Promise<Uint32Array> {
  const smallest = sums.map((sum) => -sum)
  await nextTurn()
  const sorted = smallest.slice().sort()
  const given = new Uint32Array(sums.length)
  const order = new Uint32Array(sums.length)
  for (const [at, sum] of smallest.entries()) {
    const first = firstAt(sorted, sum)
    const taken = given[first] ?? 0
    given[first] = taken + 1
    order[first + taken] = at
    if (at % placesTogether === 0) await nextTurn()
  }
  return order
}

function sumsOf({ sums }: Group, currency: string): Sums {
  const known = sums.get(currency) ?? byKind(() => 0n)
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

function emptyGroup(key: string, name: string, language?: string, names?: OtherNames): Group {
  return { key, name, language, names, places: [], sums: new Map() }
}

function groupOf(groups: Map<string, Group>, key: string, name = '', language?: string, names?: OtherNames): Group {
  const group = groups.get(key) ?? emptyGroup(key, name, language, names)
  groups.set(key, group)
  return group
}

const groupBit = bitOf('group')

// The lowest eight bits of a score are points, then come four for each field, which count the terms in it.
const shiftOf = (field: number) => 8 + 4 * field
const termBits = 15

// By the bits of all fields that have a term, the score of the one that says most; none for 0.
const bestScores = Uint32Array.from({ length: 2 * bitOf(searchedFields[0]) }, (_, bits) => {
  const best = searchedFields.findIndex((field) => (bits & bitOf(field)) !== 0)
  const field = searchedFields[best]
  return field === undefined ? 0 : pointsOf(field) + (1 << shiftOf(best))
})

/** What is searched in, of each activity in the order of the index; their money is added to `years` on the way. */
async function* textsOf(release: ReadableRelease, years: YearSums, pause: Pause): AsyncGenerator<SearchedTexts[]> {
  let row = 0
  for await (const activities of indexedActivities(release, pause)) {
    for (const activity of activities) years.add(row++, activity)
    // An index before format 4 has no texts.
    yield activities.map(({ title, partner, languages, texts = {} }) => ({
      title: [title, ...(texts.titles ?? [])],
      partner: partner ? [partner.name, ...Object.values(languages?.partners ?? {})] : [],
      place: texts.places ?? [],
      text: texts.descriptions ?? [],
    }))
  }
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0
}
