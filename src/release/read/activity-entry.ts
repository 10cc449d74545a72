import { lookupTable } from '../../kernel/lookup-table.js'
import { type Decimal, fromMinorUnits, parseXsdDecimal, toMinorUnits } from '../../kernel/money.js'
import { languageOfTag } from '../../kernel/texts.js'
import type { Element } from '../../kernel/xml/element.js'
import { legalText } from '../../kernel/xml/writer.js'

/** Raise it with every change of what the index says about the same activity: stored entries of another format are made again. */
export const indexFormat = 8

/**
 * Sums of transactions: of type 1, of types 3 and 4, and of type 4 alone, which an index before format 3 does not have;
 * `opening` is the part of `in` that is totals until a day, absent where there is none.
 */
type Flows = {
  readonly in: Decimal
  readonly out: Decimal
  readonly expenditure?: Decimal
  readonly opening?: Decimal
}

/** Sums of one currency: the budget (of each period the revised, else the original) and the transactions. */
type MoneySums = { readonly budget: Decimal } & Omit<Flows, 'opening'>

/** What the index says about one activity (iati.md 1.5). */
export type ActivityEntry = {
  readonly identifier: string
  readonly project: number
  /** The place of the record in its file, in bytes. */
  readonly offset: number
  readonly length: number
  /** SHA-256 of the record without `last-updated-datetime`. */
  readonly hash: string
  readonly changed: string
  readonly title: string
  /** Code of ActivityStatus. */
  readonly status: string
  /** The actual start, else the planned one; the same for the end. */
  readonly start?: string
  readonly end?: string
  readonly countries: readonly string[]
  /** DAC purpose codes (vocabulary 1). */
  readonly sectors: readonly string[]
  /** The platform's own themes (vocabulary 99) with their names. */
  readonly themes: Readonly<Record<string, string>>
  /** Percentages of the countries, sectors and themes, in their order, where there are several. */
  readonly shares?: { readonly [Kind in SharedKind]?: readonly Decimal[] }
  /** The first implementing organisation. */
  readonly partner?: { readonly ref?: string; readonly name: string }
  /** Address of the project's own page on the platform. */
  readonly page?: string
  /** Address of the first picture. */
  readonly picture?: string
  readonly money: Readonly<Record<string, MoneySums>>
  /** Years that a budget covers. */
  readonly budgetYears: readonly number[]
  /** Bit n is set where the activity has `indexedElements[n]`. */
  readonly has: number
  /** Absent: all names are in English alone. */
  readonly languages?: EntryLanguages
}

/** A name in other languages than its own, by these. */
export type OtherNames = Readonly<Record<string, string>>

/** The languages of what an activity names, each where that is not English, and its names in other ones. */
type EntryLanguages = {
  readonly title?: string | undefined
  readonly titles?: OtherNames | undefined
  readonly partner?: string | undefined
  readonly partners?: OtherNames | undefined
  /** By the codes of the themes. */
  readonly themes?: Readonly<Record<string, string>>
}

/** Texts of an activity that people search in, each in all of its languages, cut off where they are very long. */
type ActivityTexts = {
  /** The title in other languages. */
  readonly titles?: readonly string[]
  /** Names and descriptions of locations. */
  readonly places?: readonly string[]
  readonly descriptions?: readonly string[]
}

/** An entry as the file has it; in memory it is without its texts and years. An index before format 6 has no years. */
export type IndexedActivity = ActivityEntry & { readonly texts: ActivityTexts; readonly years?: Years }

/** What the money of an activity is split by. */
type SharedKind = 'countries' | 'sectors' | 'themes'

/** Received and paid out by currency and month. */
export type Months = Readonly<Record<string, Readonly<Record<string, Flows>>>>

/**
 * Money of one activity by currency and year: its transactions, and its budgets (revised, else original), each in the year
 * in which its period begins. What is zero is absent.
 */
type Years = Readonly<Record<string, Readonly<Record<string, YearFlows>>>>
export type YearFlows = { readonly [Kind in 'budget' | Side]?: Decimal }

/** The part of `out` that partners received: transactions of type 3. */
export function paidToPartners({ out, expenditure = zero }: Flows): Decimal {
  return toAmount(toUnits(out) - toUnits(expenditure))
}

/** Children of `iati-activity` in the order of the schema; new ones go to the end. */
export const indexedElements: readonly string[] = `iati-identifier reporting-org title description participating-org
  other-identifier activity-status activity-date contact-info activity-scope recipient-country recipient-region location
  sector tag country-budget-items humanitarian-scope policy-marker collaboration-type default-flow-type default-finance-type
  default-aid-type default-tied-status budget planned-disbursement capital-spend transaction document-link related-activity
  legacy-data conditions result crs-add fss`.split(/\s+/)

const bits = new Map(indexedElements.map((name, index) => [name, 2 ** index]))
// The highest number of decimal places of any currency (ISO 4217).
const places = 4
const zero = '0' as Decimal
const whole = '100' as Decimal
// Characters of the texts of each kind.
const mostCharacters = 10_000

/** What the children of an activity said so far. */
type Found = Record<'currency' | 'identifier' | 'title' | 'status' | 'language', string> & {
  readonly languages: { -readonly [Name in keyof EntryLanguages]: EntryLanguages[Name] } & {
    themes: Record<string, string>
  }
  readonly dates: Map<string | undefined, string>
  readonly codes: Record<'countries' | 'sectors', string[]>
  readonly themes: Record<string, string>
  // An object has numbers among its keys in another order than they came, so shares have the same keys.
  readonly themeShares: Record<string, Decimal>
  readonly shares: Record<Exclude<SharedKind, 'themes'>, Decimal[]>
  readonly texts: Record<'titles' | 'places' | 'descriptions', string[]>
  partner: { readonly ref: string | undefined; readonly name: string } | undefined
  page: string | undefined
  picture: string | undefined
  readonly budgetYears: Set<number>
  readonly budgets: (Readonly<Record<'start' | 'end', string>> & {
    readonly isRevised: boolean
    readonly value: Value
  })[]
  /** Units by month, side and currency. */
  readonly transactions: Map<string, bigint>
}

// One function per element: V8 compiles one large function slowly, and again for each shape of an object.
const readers = lookupTable<(found: Found, child: Element) => void>({
  'iati-identifier': (found, { text }) => {
    found.identifier = legalText(text).replace(/\s+/g, ' ').trim()
  },
  title: (found, child) => {
    const names = namesIn(child, found.language)
    found.title = names.text
    found.languages.title = names.language
    found.languages.titles = names.others
    found.texts.titles.push(...narrativesOf(child).filter((text) => /\S/.test(text) && text !== names.text))
  },
  description: ({ texts }, child) => texts.descriptions.push(...narrativesOf(child)),
  location: ({ texts }, child) => texts.places.push(...narrativesOf(child)),
  'activity-status': (found, child) => {
    found.status = attributeOf(child, 'code') ?? ''
  },
  'activity-date': ({ dates }, child) => dates.set(attributeOf(child, 'type'), dateOf(child)),
  'recipient-country': ({ codes, shares }, child) => {
    codes.countries.push(attributeOf(child, 'code') ?? '')
    shares.countries.push(shareOf(child))
  },
  sector: ({ codes, themes, themeShares, shares, language, languages }, child) => {
    const code = attributeOf(child, 'code') ?? ''
    const vocabulary = attributeOf(child, 'vocabulary') ?? '1'
    if (vocabulary === '99') {
      const { text, language: own } = namesIn(child, language)
      themes[code] = text
      if (own !== undefined) languages.themes[code] = own
      themeShares[code] = shareOf(child)
    } else if (vocabulary === '1') {
      codes.sectors.push(code)
      shares.sectors.push(shareOf(child))
    }
  },
  'participating-org': (found, child) => {
    if (attributeOf(child, 'role') !== '4') return
    if (found.partner) return
    const names = namesIn(child, found.language)
    const ref = attributeOf(child, 'ref')
    const name = names.text || ref
    if (!name) return
    found.partner = { ref, name }
    found.languages.partner = names.language
    found.languages.partners = names.others
  },
  'document-link': (found, child) => {
    const url = attributeOf(child, 'url') ?? ''
    // Other publishers write addresses that lead nowhere.
    if (!/^https?:\/\//i.test(url)) return
    if (attributeOf(child, 'format')?.startsWith('image/')) found.picture ??= url
    else if (child.children.some(({ name, attributes }) => name === 'category' && attributes.code === 'A12'))
      found.page ??= url
  },
  budget: (found, child) => {
    const { budgets, budgetYears } = found
    const [start, end] = [dayOf(child, 'period-start'), dayOf(child, 'period-end')]
    for (let covered = +start.slice(0, 4); covered <= +end.slice(0, 4); covered++) budgetYears.add(covered)
    const isRevised = attributeOf(child, 'type') === '2'
    budgets.push({ isRevised, start, end, value: amountOf(child, found.currency) })
  },
  transaction: ({ transactions, currency: defaultCurrency }, child) => {
    const { currency, units } = amountOf(child, defaultCurrency)
    const month = dayOf(child, 'transaction-date').slice(0, 7)
    const type = attributeOf(childOf(child, 'transaction-type'), 'code')
    for (const side of sidesOf(type, attributeOf(child, 'ref'))) {
      const key = `${month} ${side} ${currency}`
      transactions.set(key, (transactions.get(key) ?? 0n) + units)
    }
  },
})

/** An entry as it is stored, and its money by currency and kind, of which releases have the sums. */
type StoredEntry = { readonly entry: Buffer; readonly flows: Record<string, Record<string, Decimal>> }

/**
 * The entry of an activity as it is stored, in UTF-8: the line of the index without the place in a file, then a line for each
 * sum of transactions (`readFlow`). `contentHash` is the SHA-256 of the record without `last-updated-datetime`, in hex.
 */
export function toEntry(activity: Element, projectId: number, contentHash: string): StoredEntry {
  // Without spreads, which are slow and make objects of several shapes.
  const found: Found = {
    currency: activity.attributes['default-currency'] ?? '',
    language: languageOfTag(attributeOf(activity, 'xml:lang') || english),
    languages: { themes: Object.create(null) },
    identifier: '',
    title: '',
    status: '',
    dates: new Map(),
    codes: { countries: [], sectors: [] },
    themes: Object.create(null),
    themeShares: Object.create(null),
    shares: { countries: [], sectors: [] },
    texts: { titles: [], places: [], descriptions: [] },
    partner: undefined,
    page: undefined,
    picture: undefined,
    budgetYears: new Set(),
    budgets: [],
    transactions: new Map(),
  }
  const names = new Set<string>()
  for (const child of activity.children) {
    names.add(child.name)
    readers[child.name]?.(found, child)
  }
  const { dates, codes, shares, texts } = found
  const { money, years, flows } = sumsOf(found)
  // What is undefined is not written.
  const entry = {
    identifier: found.identifier,
    project: projectId,
    hash: Buffer.from(contentHash, 'hex').toString('base64url'),
    changed: activity.attributes['last-updated-datetime'] ?? '',
    title: found.title,
    status: found.status,
    start: dates.get('2') ?? dates.get('1'),
    end: dates.get('4') ?? dates.get('3'),
    countries: codes.countries,
    sectors: codes.sectors,
    themes: found.themes,
    shares: severalOf({ ...shares, themes: Object.values(found.themeShares) }),
    partner: found.partner,
    page: found.page,
    picture: found.picture,
    money,
    budgetYears: [...found.budgetYears].sort(),
    has: [...names].reduce((sum, name) => sum + (bits.get(name) ?? 0), 0),
    languages: languagesOf(found.languages),
    texts: { titles: cutOff(texts.titles), places: cutOff(texts.places), descriptions: cutOff(texts.descriptions) },
    years,
  } satisfies Record<keyof Omit<IndexedActivity, 'offset' | 'length'>, unknown>
  let stored = JSON.stringify(entry)
  for (const [key, units] of found.transactions) stored += `\n${key} ${units}`
  return { entry: Buffer.from(stored), flows }
}

const english = 'en'

/** What an element is called: in the activity's language, else first; its language where that is not English, and the others. */
function namesIn(
  { children }: Element,
  outer: string,
): { readonly text: string; readonly language: string | undefined; readonly others: OtherNames | undefined } {
  const all = children.flatMap((one) => {
    const text = one.name === 'narrative' ? legalText(one.text) : ''
    return /\S/.test(text) ? [{ text, language: languageOfTag(attributeOf(one, 'xml:lang') || outer) }] : []
  })
  const own = all.find(({ language }) => language === outer) ?? all[0]
  if (!own) return { text: '', language: undefined, others: undefined }
  const others = all.filter(({ language }) => language !== own.language)
  return {
    text: own.text,
    language: own.language === english ? undefined : own.language,
    others: others.length === 0 ? undefined : Object.fromEntries(others.map(({ language, text }) => [language, text])),
  }
}

/** Undefined where everything is in English alone. */
function languagesOf({ title, titles, partner, partners, themes }: Found['languages']): EntryLanguages | undefined {
  const hasThemes = Object.keys(themes).length > 0
  const isSaid = title !== undefined || titles || partner !== undefined || partners || hasThemes
  return isSaid ? { title, titles, partner, partners, ...(hasThemes && { themes }) } : undefined
}

/** The money of an activity by currency, and by currency and year. */
function sumsOf({ transactions, budgets }: Found) {
  const sides = sumsOfSides()
  const years = new YearSums()
  for (const [key, units] of transactions) {
    const { month, side, currency } = readFlow(key)
    sides[side].add({ currency, units })
    years.add(month.slice(0, 4), side, { currency, units })
  }
  const budget = new Sums()
  const revised = budgets.filter(({ isRevised }) => isRevised)
  for (const { isRevised, start, end, value } of budgets) {
    if (!isRevised && revised.some((other) => other.start <= end && other.end >= start)) continue
    budget.add(value)
    years.add(start.slice(0, 4), 'budget', value)
  }
  const money: Record<string, MoneySums> = {}
  const flows: StoredEntry['flows'] = {}
  for (const currency of [...new Set([...budget.keys(), ...sides.in.keys(), ...sides.out.keys()])].sort()) {
    const sums = {
      budget: budget.of(currency),
      in: sides.in.of(currency),
      out: sides.out.of(currency),
      expenditure: sides.expenditure.of(currency),
    }
    money[currency] = sums
    flows[currency] = {
      in: sums.in,
      budget: sums.budget,
      expenditure: sums.expenditure,
      partners: paidToPartners(sums),
    }
  }
  return { money, years, flows }
}

/** The month, side and currency of a sum of transactions: `2026-09 in USD`. */
function readFlow(key: string): { month: string; side: Side; currency: string } {
  const [month = '', side, currency = ''] = key.split(' ')
  return { month, side: side as Side, currency }
}

const placeBefore = Buffer.from(',"hash":"')

/** The line of the index for a stored entry at a place in its file, in parts; its sums are added to `months`. */
export function placedEntry(stored: Buffer, offset: number, length: number, months: MonthSums): Buffer[] {
  const found = stored.indexOf(10)
  const end = found < 0 ? stored.length : found
  if (end < stored.length) for (const line of stored.toString('latin1', end + 1).split('\n')) months.addFlow(line)
  const at = stored.indexOf(placeBefore)
  return [stored.subarray(0, at), Buffer.from(`,"offset":${offset},"length":${length}`), stored.subarray(at, end)]
}

function cutOff(texts: readonly string[]): string[] | undefined {
  if (texts.length === 0) return undefined
  let left = mostCharacters
  return texts.flatMap((text) => {
    const shown = text.slice(0, left)
    left -= shown.length
    return shown === '' ? [] : [shown]
  })
}

function shareOf(element: Element): Decimal {
  return parseXsdDecimal(element.attributes.percentage ?? '') ?? whole
}

function severalOf(shares: Record<SharedKind, readonly Decimal[]>) {
  const several = (list: readonly Decimal[]) => (list.length > 1 ? list : undefined)
  const { countries, sectors, themes } = shares
  if (countries.length < 2 && sectors.length < 2 && themes.length < 2) return undefined
  return { countries: several(countries), sectors: several(sectors), themes: several(themes) }
}

const sides = ['in', 'out', 'expenditure', 'opening'] as const
type Side = (typeof sides)[number]

/** The sums that a transaction of a type and reference is part of. */
export function sidesOf(type: string | undefined, ref: string | undefined): readonly Side[] {
  if (type === '1') return isOpening(ref) ? ['in', 'opening'] : ['in']
  if (type === '3') return ['out']
  return type === '4' ? ['out', 'expenditure'] : []
}

/** Whether a reference is that of a total until a day (iati.md 9.2), whose months are not known. */
export function isOpening(ref: string | undefined): boolean {
  return ref !== undefined && /^open-\d+-\d{4}-\d\d-\d\d-/.test(ref)
}

function sumsOfSides(): Record<Side, Sums> {
  return { in: new Sums(), out: new Sums(), expenditure: new Sums(), opening: new Sums() }
}

function flowsOf(flows: Readonly<Record<Side, Sums>>, currency: string) {
  const opening = flows.opening.of(currency)
  return {
    ...{ in: flows.in.of(currency), out: flows.out.of(currency), expenditure: flows.expenditure.of(currency) },
    ...(opening !== zero && { opening }),
  }
}

type Value = { readonly currency: string; readonly units: bigint }

class Sums extends Map<string, bigint> {
  add({ currency, units }: Value): void {
    this.set(currency, (this.get(currency) ?? 0n) + units)
  }

  of(currency: string): Decimal {
    return toAmount(this.get(currency) ?? 0n)
  }
}

/** Sums of one activity by year. */
class YearSums {
  readonly #sums = new Map<string, bigint>()

  add(year: string, kind: keyof YearFlows, { currency, units }: Value): void {
    const key = `${currency} ${year} ${kind}`
    this.#sums.set(key, (this.#sums.get(key) ?? 0n) + units)
  }

  toJSON(): Years {
    const years: Record<string, Record<string, Record<string, Decimal>>> = {}
    for (const [key, units] of [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [currency = '', year = '', kind = ''] = key.split(' ')
      if (units === 0n) continue
      years[currency] ??= {}
      years[currency][year] ??= {}
      years[currency][year][kind] = toAmount(units)
    }
    return years
  }
}

/** Sums of transactions by month. */
export class MonthSums {
  readonly #months = new Map<string, Readonly<Record<Side, Sums>>>()
  /** By month, side and currency, what is not in `#months` yet. */
  readonly #flows = new Map<string, bigint>()

  /** Adds a sum of an entry as it is stored: `2026-09 in USD 12500`. There are so many that each is looked up once only. */
  addFlow(line: string): void {
    const end = line.lastIndexOf(' ')
    const key = line.slice(0, end)
    this.#flows.set(key, (this.#flows.get(key) ?? 0n) + BigInt(line.slice(end + 1)))
  }

  add(month: string, side: Side, value: Value): void {
    let sums = this.#months.get(month)
    if (!sums) {
      sums = sumsOfSides()
      this.#months.set(month, sums)
    }
    sums[side].add(value)
  }

  addAll(months: Months): void {
    for (const [currency, sums] of Object.entries(months)) {
      for (const [month, flows] of Object.entries(sums)) {
        for (const side of sides) this.add(month, side, { currency, units: toUnits(flows[side] ?? zero) })
      }
    }
  }

  toJSON(): Months {
    for (const [key, units] of this.#flows) {
      const { month, side, currency } = readFlow(key)
      this.add(month, side, { currency, units })
    }
    this.#flows.clear()
    const months: Record<string, Record<string, Flows>> = {}
    for (const [month, sums] of [...this.#months].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const currency of new Set([...sums.in.keys(), ...sums.out.keys()])) {
        months[currency] ??= {}
        months[currency][month] = flowsOf(sums, currency)
      }
    }
    return months
  }
}

/** An amount in the units that sums of any currency are made in. */
export function toUnits(amount: Decimal): bigint {
  return toMinorUnits(amount, places)
}

/** The amount of such units, without zeros at its end. */
export function toAmount(units: bigint): Decimal {
  return fromMinorUnits(units, places).replace(/\.?0+$/, '') as Decimal
}

function amountOf(element: Element, defaultCurrency: string): Value {
  const value = childOf(element, 'value')
  const currency = value?.attributes.currency || defaultCurrency
  return { currency, units: toUnits(parseXsdDecimal(value?.text ?? '') ?? zero) }
}

function dayOf(element: Element, name: string): string {
  return dateOf(childOf(element, name))
}

/** The day without the time zone that a date of the schema may have. */
function dateOf(element: Element | undefined): string {
  return (attributeOf(element, 'iso-date') ?? '').trim().slice(0, 10)
}

function childOf({ children }: Element, name: string): Element | undefined {
  for (const child of children) if (child.name === name) return child
  return undefined
}

function attributeOf(element: Element | undefined, name: string): string | undefined {
  const value = element?.attributes[name]
  return value === undefined ? undefined : legalText(value)
}

function narrativesOf({ name, text, children }: Element): string[] {
  return name === 'narrative' ? [legalText(text)] : children.flatMap(narrativesOf)
}
