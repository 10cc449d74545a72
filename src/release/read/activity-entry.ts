import { type Decimal, fromMinorUnits, toMinorUnits } from '../../kernel/money.js'
import { activityChildren, unescapeText } from './activity-text.js'
import type { PublishedActivity } from './release-contents.js'

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

/** Sums of one currency: the budget (revised, else original) and the transactions. */
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
// Characters of the texts of each kind.
const mostCharacters = 10_000

/** The entry of an activity, and its transactions added to `months`. */
export function toEntry(activity: PublishedActivity, months: MonthSums): IndexedActivity {
  const { text } = activity
  const names = new Set<string>()
  const dates = new Map<string | undefined, string>()
  const countries: string[] = []
  const sectors: string[] = []
  const themes: Record<string, string> = {}
  const shares: Record<SharedKind, Decimal[]> = { countries: [], sectors: [], themes: [] }
  const texts = { titles: [] as string[], places: [] as string[], descriptions: [] as string[] }
  const budgetYears = new Set<number>()
  const budgets: Record<'1' | '2', { readonly year: string; readonly value: Value }[]> = { '1': [], '2': [] }
  const flows = sumsOfSides()
  const years = new YearSums()
  let title = ''
  let status = ''
  let partner: ActivityEntry['partner']
  let page: string | undefined
  let picture: string | undefined
  for (const { name, attribute, content } of activityChildren(text)) {
    names.add(name)
    if (name === 'title') {
      title = narrativeOf(content)
      texts.titles.push(...narrativesOf(content).slice(1))
    } else if (name === 'description') texts.descriptions.push(...narrativesOf(content))
    else if (name === 'location') texts.places.push(...narrativesOf(content))
    else if (name === 'activity-status') status = attribute('code') ?? ''
    else if (name === 'activity-date') dates.set(attribute('type'), attribute('iso-date') ?? '')
    else if (name === 'recipient-country') {
      countries.push(attribute('code') ?? '')
      shares.countries.push(shareOf(attribute))
    } else if (name === 'sector') {
      const code = attribute('code') ?? ''
      const isTheme = attribute('vocabulary') === '99'
      if (isTheme) themes[code] = narrativeOf(content)
      else sectors.push(code)
      shares[isTheme ? 'themes' : 'sectors'].push(shareOf(attribute))
    } else if (name === 'participating-org' && attribute('role') === '4') {
      const ref = attribute('ref')
      partner ??= { ...(ref !== undefined && { ref }), name: narrativeOf(content) }
    } else if (name === 'document-link') {
      if (attribute('format')?.startsWith('image/')) picture ??= attribute('url')
      else if (content.includes('<category code="A12"/>')) page ??= attribute('url')
    } else if (name === 'budget') {
      const [from = '', to = ''] = [...content.matchAll(/<period-(?:start|end) iso-date="(\d{4})/g)].map(
        ([, year = '']) => year,
      )
      for (let year = +from; year <= +to; year++) budgetYears.add(year)
      budgets[attribute('type') === '2' ? '2' : '1'].push({ year: from, value: amountOf(content) })
    } else if (name === 'transaction') {
      addTransaction(content, attribute('ref'), { flows, months, years })
    }
  }
  const start = dates.get('2') ?? dates.get('1')
  const end = dates.get('4') ?? dates.get('3')
  const budget = new Sums()
  for (const { year, value } of budgets[budgets['2'].length > 0 ? '2' : '1']) {
    budget.add(value)
    years.add(year, 'budget', value)
  }
  const currencies = [...new Set([budget, flows.in, flows.out].flatMap((sums) => [...sums.keys()]))].sort()
  return {
    identifier: activity.identifier,
    project: activity.projectId,
    offset: activity.offset,
    length: activity.length,
    hash: activity.hash,
    changed: / last-updated-datetime="([^"]*)"/.exec(text)?.[1] ?? '',
    title,
    status,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    countries,
    sectors,
    themes,
    ...severalOf(shares),
    ...(partner && { partner }),
    ...(page !== undefined && { page }),
    ...(picture !== undefined && { picture }),
    money: Object.fromEntries(
      currencies.map((currency) => {
        const { opening: _, ...sums } = flowsOf(flows, currency)
        return [currency, { budget: budget.of(currency), ...sums }]
      }),
    ),
    budgetYears: [...budgetYears].sort(),
    has: [...names].reduce((sum, name) => sum + (bits.get(name) ?? 0), 0),
    texts: Object.fromEntries(
      Object.entries(texts).flatMap(([kind, all]) => (all.length === 0 ? [] : [[kind, cutOff(all)]])),
    ),
    years: years.toJSON(),
  }
}

type TransactionSums = {
  readonly flows: ReturnType<typeof sumsOfSides>
  readonly months: MonthSums
  readonly years: YearSums
}

// Not a part of `toEntry`, which V8 takes several times as long to compile with it.
function addTransaction(content: string, ref: string | undefined, { flows, months, years }: TransactionSums): void {
  const type = /<transaction-type code="(\d+)"/.exec(content)?.[1]
  const value = amountOf(content)
  const month = /<transaction-date iso-date="(\d{4}-\d\d)/.exec(content)?.[1] ?? ''
  for (const side of sidesOf(type, ref)) {
    flows[side].add(value)
    months.add(month, side, value)
    years.add(month.slice(0, 4), side, value)
  }
}

function cutOff(texts: readonly string[]): string[] {
  let left = mostCharacters
  return texts.flatMap((text) => {
    const shown = text.slice(0, left)
    left -= shown.length
    return shown === '' ? [] : [shown]
  })
}

function shareOf(attribute: (name: string) => string | undefined): Decimal {
  return (attribute('percentage') ?? '100') as Decimal
}

function severalOf(shares: Readonly<Record<SharedKind, readonly Decimal[]>>): Pick<ActivityEntry, 'shares'> {
  const several = Object.entries(shares).filter(([, list]) => list.length > 1)
  return several.length === 0 ? {} : { shares: Object.fromEntries(several) }
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

function amountOf(content: string): Value {
  const [, currency = '', amount = '0'] = /<value currency="([A-Z]{3})"[^>]*>([^<]*)</.exec(content) ?? []
  return { currency, units: toUnits(amount as Decimal) }
}

function narrativeOf(content: string): string {
  return narrativesOf(content)[0] ?? ''
}

function narrativesOf(content: string): string[] {
  return [...content.matchAll(/<narrative[^>]*>([^<]*)</g)].map(([, text = '']) => unescapeText(text))
}
