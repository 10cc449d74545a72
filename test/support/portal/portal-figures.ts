import type { FastifyInstance } from 'fastify'
import { DomUtils, parseDocument } from 'htmlparser2'
import { en as words } from '../../../src/http/pages/words/words.js'
import { codeName } from '../../../src/iati/standard/index.js'
import { type Decimal, fromMinorUnits, splitByLargestRemainder, toMinorUnits } from '../../../src/kernel/money.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { indexedElements } from '../../../src/release/read/activity-entry.js'
import type { ReadableRelease } from '../../../src/release/read/release-reader.js'
import { type CountedActivity, countActivities } from '../release/recount.js'

/** The figures of `/`, `/quality`, pages of projects and of a country, as their readers see them. */
export type PortalFigures = {
  readonly home: {
    readonly money: readonly string[]
    readonly countries: readonly string[]
    readonly months: readonly string[]
    readonly sectors: readonly string[]
    readonly themes: readonly string[]
    readonly newest: readonly string[]
  }
  readonly quality: {
    readonly activities: string
    readonly tables: Readonly<Record<string, readonly string[]>>
  }
  readonly country: {
    readonly money: readonly string[]
    readonly sectors: readonly string[]
    readonly partners: readonly string[]
  }
  /** Each amount of `/years.csv`, after all that it is asked for, the code of the group and the column. */
  readonly years: readonly string[]
  readonly projects: Readonly<Record<string, ProjectFigures>>
}

type ProjectFigures = {
  readonly money: readonly string[]
  readonly months: Readonly<Record<string, readonly string[]>>
  readonly facts: Readonly<Record<string, string>>
  readonly reports: number
  readonly photos: number
  readonly documents: number
}

const shownMonths = 12
const counts = new RegExp(`^(?:${words.nav.projects}|${words.groups.countries}|${words.groups.organisations}): `)
const kinds = ['budget', 'in', 'partners', 'expenditure'] as const
const figuresOfYears = { received: 'in', paid: 'partners', expenditure: 'expenditure', budget: 'budget' } as const
const groupPaths = {
  country: 'recipient-country',
  sector: 'sector[@vocabulary="1"]',
  theme: 'sector[@vocabulary="99"]',
}
const shownNewest = 6
const mostReports = 20
const shownBars = 12

/** Pages whose figures are compared. */
export type ChosenPages = {
  readonly projects: readonly string[]
  readonly country: string
  /** All of the release. */
  readonly currencies: readonly string[]
}

/** Ten projects of a release, from its first to its last, and a country that has most of them. */
export async function choosePages(release: ReadableRelease): Promise<ChosenPages> {
  const projects: string[] = []
  const countries = new Counts()
  const currencies = new Set<string>()
  await countActivities(release, ({ find }) => {
    projects.push(projectOf(find))
    for (const currency of find('(budget | transaction)/value/@currency')) currencies.add(currency)
    countries.add(...find('recipient-country[1]/@code'))
  })
  const [[country] = ['']] = [...countries].sort(([, a], [, b]) => b - a)
  return {
    projects: Array.from({ length: 10 }, (_, at) => projects[Math.floor((at * (projects.length - 1)) / 9)] ?? ''),
    country,
    currencies: [...currencies].sort(),
  }
}

/** What the pages show. */
export async function shownFigures(app: FastifyInstance, chosen: ChosenPages): Promise<PortalFigures> {
  const open = async (address: string) => parseDocument((await app.inject(address)).body)
  const home = await open('/en')
  const quality = await open('/en/quality')
  const homeTables = tablesOf(home)
  const shown: Record<string, ProjectFigures> = {}
  for (const id of chosen.projects) {
    const page = await open(`/en/projects/${id}`)
    const facts = all(page, 'dl', 'facts')[0]
    const names = all(facts, 'dt').map(textOf)
    const values = all(facts, 'dd').map(textOf)
    shown[id] = {
      money: storyOf(page).sort(),
      months: Object.fromEntries(
        Object.entries(tablesOf(page)).filter(([caption]) => caption.startsWith(words.home.byMonth)),
      ),
      facts: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])),
      reports: all(page, 'article', 'report').length,
      photos: all(all(page, 'ul', 'photos')[0], 'li').length,
      documents: all(all(page, 'ul', 'documents')[0], 'li').length,
    }
  }
  const country = await open(`/en/countries/${chosen.country}`)
  const circles = all(all(home, 'svg', 'map')[0], 'title').map((title) => textOf(title).replace(/:.*/, ''))
  const countries = homeTables[words.groups.countries] ?? []
  const unlisted = circles.filter((name) => !countries.some((row) => row.startsWith(`${name} | `)))
  return {
    home: {
      money: [
        ...storyOf(home),
        ...all(home, 'a')
          .map(textOf)
          .filter((text) => counts.test(text)),
      ].sort(),
      countries: [...countries, ...unlisted.map((name) => `${name} is on the map only`)].sort(),
      months: homeTables[words.home.byMonth] ?? [],
      sectors: figuresOf(barsOf(home, words.groups.sectors)),
      themes: barsOf(home, words.groups.themes),
      newest: all(all(home, 'ul', 'cards')[0], 'h3').map(textOf),
    },
    quality: {
      activities: /^[\d,]+/.exec(textOf(all(quality, 'p', 'lead')[0]))?.[0] ?? '',
      tables: Object.fromEntries(
        // Other releases are in their own files.
        Object.entries(tablesOf(quality)).filter(
          ([caption]) => caption !== words.quality.findings && caption !== words.quality.overTime,
        ),
      ),
    },
    country: {
      money: [
        ...storyOf(country),
        textOf(all(country, 'p', 'lead')[0]).replace(/.* ([\d,]+ projects?) \(release .*/, '$1.'),
      ].sort(),
      sectors: figuresOf(barsOf(country, words.groups.sectors)),
      partners: figuresOf(barsOf(country, words.groups.organisations)),
    },
    years: await shownYears(app, chosen.currencies),
    projects: shown,
  }
}

/** The same, counted by XPath over the files of the release. */
export async function countedFigures(
  release: ReadableRelease,
  { projects, country: code }: ChosenPages,
): Promise<PortalFigures> {
  const { generated } = release.manifest
  const year = Number(generated.slice(0, 4))
  const yearAgo = `${year - 1}${generated.slice(4, 10)}`
  const money = new Sums()
  const months = new Sums()
  const counted = {
    countries: new Counts(),
    sectors: new Counts(),
    themes: new Counts(),
    partners: new Counts(),
    having: new Counts(),
    currentHaving: new Counts(),
    forward: new Counts(),
    changedIn: new Counts(),
  }
  const newest: { readonly start: string; readonly title: string }[] = []
  const country = new CountryCounts()
  const years = new YearCounts()
  const pages: Record<string, ProjectFigures> = {}
  const documents = new Map<string, readonly string[]>()
  let current = 0
  const activities = await countActivities(release, (activity) => {
    const { find } = activity
    const own = moneyOf(activity)
    for (const [key, units] of own) {
      const [currency = '', kind = '', month] = key.split(' ')
      if (month === undefined) money.add(`${currency} ${kind}`, units)
      else months.add(key, units)
    }
    counted.countries.add(...new Set(find('recipient-country/@code')))
    counted.sectors.add(...new Set(find('sector[not(@vocabulary) or @vocabulary="1"]/@code')))
    counted.themes.add(...new Set(find('sector[@vocabulary="99"]/narrative[1]')))
    years.add(activity)
    counted.partners.add(...partnersOf(find))
    if (find('recipient-country/@code').includes(code)) country.add(find, own, code)
    const end = dateOf(find, '4') ?? dateOf(find, '3') ?? ''
    const isCurrent = find('activity-status/@code')[0] === '2' || end >= yearAgo
    const has = indexedElements.filter((name) => find(name).length > 0)
    counted.having.add(...has)
    if (isCurrent) {
      current += 1
      counted.currentHaving.add(...has)
      for (const one of [year, year + 1, year + 2]) {
        const covering = `budget[substring(period-start/@iso-date, 1, 4) <= ${one}][substring(period-end/@iso-date, 1, 4) >= ${one}]`
        if (find(covering).length > 0) counted.forward.add(String(one))
      }
    }
    counted.changedIn.add((find('@last-updated-datetime')[0] ?? '').slice(0, 7))
    newest.push({ start: dateOf(find, '2') ?? dateOf(find, '1') ?? '', title: find('title/narrative')[0] ?? '' })
    const id = projectOf(find)
    if (!projects.includes(id)) return
    pages[id] = projectFigures(activity, own)
    documents.set(id, find('document-link[not(starts-with(@format, "image/"))]/@url'))
  })
  for (const id of projects) {
    const feed = await release.find(`/feeds/projects/${id}/reports.atom`)
    if (!feed || !pages[id]) continue
    const entries = parseElement(await feed.identity.bytes(), recordLimits).children
    const reports = entries.flatMap(({ name, children }) =>
      name === 'entry' ? (children.find((child) => child.name === 'id')?.text ?? '') : [],
    )
    // The page has the reports themselves.
    const others = documents.get(id)?.filter((url) => !reports.includes(url) && !url.endsWith('/reports.atom'))
    pages[id] = { ...pages[id], reports: Math.min(mostReports, reports.length), documents: others?.length ?? 0 }
  }
  const shares = (names: readonly string[], of: Counts, whole: number) =>
    names.map((name) => `${name} | ${count(of.get(name) ?? 0)} | ${percent(of.get(name) ?? 0, whole)}`)
  const { quality } = words
  return {
    home: {
      money: [
        `${words.nav.projects}: ${count(activities)}`,
        `${words.groups.countries}: ${count(counted.countries.size)}`,
        `${words.groups.organisations}: ${count(counted.partners.size)}`,
        ...storyTexts(money, { maximumFractionDigits: 0 }),
      ].sort(),
      countries: [...counted.countries].map(([code, found]) => `${countryName(code)} | ${count(found)}`).sort(),
      months: currenciesIn(months).flatMap((currency) => monthRows(months, currency, shownMonths)),
      sectors: mostOf(counted.sectors).slice(0, 8),
      themes: [...counted.themes].map(([name, found]) => `${name}: ${count(found)}`).sort(),
      newest: newest
        .reverse()
        .sort((a, b) => (a.start < b.start ? 1 : a.start > b.start ? -1 : 0))
        .slice(0, shownNewest)
        .map(({ title }) => title),
    },
    quality: {
      activities: count(activities),
      tables: {
        [quality.core]: shares(
          [
            ...['reporting-org', 'iati-identifier', 'participating-org', 'title', 'description', 'activity-status'],
            ...['activity-date', 'sector', 'recipient-country'],
          ],
          counted.currentHaving,
          current,
        ),
        [quality.financial]: shares(['budget', 'transaction'], counted.currentHaving, current),
        [quality.added]: shares(
          ['contact-info', 'location', 'default-aid-type', 'document-link', 'result'],
          counted.currentHaving,
          current,
        ),
        [quality.forwardNote]: shares([year, year + 1, year + 2].map(String), counted.forward, current),
        [quality.timelinessNote]: [...counted.changedIn]
          .sort(([a], [b]) => (a < b ? 1 : -1))
          .slice(0, 12)
          .map(([name, found]) => `${monthName(name)} | ${count(found)} | ${percent(found, activities)}`),
        [quality.coverageNote]: shares(
          indexedElements.filter((name) => counted.having.has(name)),
          counted.having,
          activities,
        ),
      },
    },
    country: {
      money: [
        `${words.projects(count(country.projects), country.projects === 1 ? 'one' : 'other')}.`,
        ...storyTexts(country.money, { maximumFractionDigits: 0 }),
      ].sort(),
      sectors: mostOf(country.sectors),
      partners: mostOf(country.partners),
    },
    years: years.lines(),
    projects: pages,
  }
}

/** What is counted of the activities of one country. */
class CountryCounts {
  projects = 0
  readonly money = new Sums()
  readonly sectors = new Counts()
  readonly partners = new Counts()

  add(find: CountedActivity['find'], money: Sums, code: string): void {
    this.projects += 1
    const shares = find('recipient-country/@percentage').map((percentage) => toMinorUnits(percentage as Decimal, 2))
    const at = find('recipient-country/@code').indexOf(code)
    for (const [key, units] of money) {
      if (key.split(' ').length !== 2) continue
      this.money.add(key, shares.length === 0 ? units : (splitByLargestRemainder(units, shares)[at] ?? 0n))
    }
    this.sectors.add(...new Set(find('sector[not(@vocabulary) or @vocabulary="1"]/@code')))
    this.partners.add(...partnersOf(find))
  }
}

async function shownYears(app: FastifyInstance, currencies: readonly string[]): Promise<string[]> {
  const shown: string[] = []
  for (const by of Object.keys(groupPaths)) {
    for (const figure of Object.keys(figuresOfYears)) {
      for (const currency of currencies) {
        const { body } = await app.inject(`/years.csv?by=${by}&figure=${figure}&currency=${currency}`)
        const [head = [], ...rows] = body
          .trimEnd()
          .split('\r\n')
          .map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
        for (const [code, , of, ...amounts] of rows) {
          for (const [at, one] of amounts.entries()) {
            if (one !== '') shown.push([by, figure, of, code, head[at + 3], one].join(' '))
          }
        }
      }
    }
  }
  return shown.sort()
}

/** What groups have of each kind of money in each year. */
class YearCounts {
  readonly #cells = new Sums()

  add(activity: CountedActivity): void {
    const byYear = [...yearsOf(activity)].sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [by, path] of Object.entries(groupPaths)) {
      const shares = activity.find(`${path}/@percentage`).map((share) => toMinorUnits(share as Decimal, 4))
      const codes = activity.find(`${path}/@code`)
      // A part of all money up to a year, without the part of all money before it.
      const upTo = new Sums()
      for (const [key, units] of byYear) {
        const [currency = '', figure = '', year = ''] = key.split(' ')
        const before = upTo.get(`${currency} ${figure}`) ?? 0n
        upTo.add(`${currency} ${figure}`, units)
        const partsOf = (sum: bigint) => (shares.length < 2 ? [sum] : splitByLargestRemainder(sum, shares))
        const [now, then] = [partsOf(before + units), partsOf(before)]
        for (const [at, code] of (codes.length === 0 ? [''] : codes).entries()) {
          const part = (now[at] ?? 0n) - (then[at] ?? 0n)
          this.#cells.add([by, figure, currency, code, year || 'until_a_day'].join(' '), part)
          this.#cells.add([by, figure, currency, code, 'total'].join(' '), part)
        }
      }
    }
  }

  lines(): string[] {
    const told = [...this.#cells].filter(([, units]) => units !== 0n)
    return told.map(([key, units]) => `${key} ${fromMinorUnits(units, 4).replace(/\.?0+$/, '')}`).sort()
  }
}

/** Units by currency, figure and year; totals until a day have no year. */
function yearsOf(activity: CountedActivity): Sums {
  const { find } = activity
  const sums = new Sums()
  for (const [key, units] of moneyOf(activity)) {
    const [currency, kind, month] = key.split(' ')
    const figure = Object.entries(figuresOfYears).find(([, one]) => one === kind)?.[0] ?? 'received'
    if (month) sums.add([currency, figure, kind === 'opening' ? '' : month.slice(0, 4)].join(' '), units)
  }
  const budget = find('budget[@type="2"]').length > 0 ? 'budget[@type="2"]' : 'budget[@type="1"]'
  const [currencies, starts] = [find(`${budget}/value/@currency`), find(`${budget}/period-start/@iso-date`)]
  for (const [at, amount] of find(`${budget}/value`).entries()) {
    sums.add([currencies[at], 'budget', starts[at]?.slice(0, 4)].join(' '), toMinorUnits(amount as Decimal, 4))
  }
  return sums
}

/** The largest counts; which of equal ones are shown is not said. */
function mostOf(counts: Counts): string[] {
  return [...counts.values()]
    .sort((a, b) => b - a)
    .slice(0, shownBars)
    .map(count)
}

function figuresOf(bars: readonly string[]): string[] {
  const figures = bars.map((bar) => bar.replace(/.*: /, ''))
  return figures.sort((a, b) => Number(b.replaceAll(',', '')) - Number(a.replaceAll(',', '')))
}

/** What one activity says about money: units by currency and kind, and by month for transactions. */
function moneyOf({ find }: CountedActivity): Sums {
  const sums = new Sums()
  const add = (path: string, kind: (typeof kinds)[number]) => {
    const currencies = find(`${path}/value/@currency`)
    const dates = kind === 'budget' ? [] : find(`${path}/transaction-date/@iso-date`)
    const openings = find(`${path}[starts-with(@ref, 'open-')]/transaction-date/@iso-date`)
    const refs = kind === 'budget' ? [] : find(`${path}/@ref`)
    // Each has a reference, or it is not told which are totals until a day.
    if (openings.length > 0 && refs.length !== dates.length) throw new Error('expected a reference on each transaction')
    find(`${path}/value`).forEach((amount, at) => {
      const units = toMinorUnits(amount as Decimal, 4)
      sums.add(`${currencies[at]} ${kind}`, units)
      const told = refs[at]?.startsWith('open-') ? 'opening' : kind
      if (dates[at]) sums.add(`${currencies[at]} ${told} ${dates[at].slice(0, 7)}`, units)
    })
  }
  add(find('budget[@type="2"]').length > 0 ? 'budget[@type="2"]' : 'budget[@type="1"]', 'budget')
  add('transaction[transaction-type/@code="1"]', 'in')
  add('transaction[transaction-type/@code="3"]', 'partners')
  add('transaction[transaction-type/@code="4"]', 'expenditure')
  return sums
}

function projectFigures({ find }: CountedActivity, money: Sums): ProjectFigures {
  const currencies = currenciesIn(money)
  const dated = (actual: string, planned: string) => {
    const [done, hoped] = [dateOf(find, actual), dateOf(find, planned)]
    return done ? dayName(done) : hoped ? `${dayName(hoped)} (${words.statuses['1']})` : undefined
  }
  const shared = (names: readonly (string | undefined)[], shares: readonly string[]) =>
    names.map((name, at) => (shares[at] === undefined ? name : `${name} ${shares[at]}%`)).join(' ')
  const countries = shared(find('recipient-country/@code').map(countryName), find('recipient-country/@percentage'))
  const facts = {
    [words.project.status]: words.statuses[find('activity-status/@code')[0] ?? ''],
    [words.project.start]: dated('2', '1'),
    [words.project.end]: dated('4', '3'),
    [words.groups.countries]: countries || undefined,
    [words.project.regions]:
      shared(
        find('recipient-region/@code').map((code) => codeName('Region', code)),
        find('recipient-region/@percentage'),
      ) || undefined,
    [words.project.place]:
      [...find('location[1]/name/narrative[1]'), ...find('location[1]/point/pos')].join(' ') || undefined,
    [words.project.partner]: find('participating-org[@role="4"][1]/narrative[1]')[0],
    [words.project.funders]: find('participating-org[@role="1"]/narrative[1]').join(' ') || undefined,
    [words.groups.sectors]: shared(
      find('sector[@vocabulary="1"]/@code').map((code) => codeName('Sector', code)),
      find('sector[@vocabulary="1"]/@percentage'),
    ),
    [words.project.goals]:
      find('tag[@vocabulary="2" or @vocabulary="3"]/@code')
        .map((code) => `${code} ${codeName(code.includes('.') ? 'UNSDG-Targets' : 'UNSDG-Goals', code)}`)
        .join(' ') || undefined,
    [words.project.identifier]: find('iati-identifier')[0],
    [words.project.changed]: dayName((find('@last-updated-datetime')[0] ?? '').slice(0, 10)),
  }
  return {
    money: storyTexts(money, {}).sort(),
    months: Object.fromEntries(
      currencies
        .map((currency) => [`${words.home.byMonth} (${currency})`, monthRows(money, currency)] as const)
        .filter(([, rows]) => rows.length > 0),
    ),
    facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    reports: 0,
    photos: find('document-link[starts-with(@format, "image/")]').length,
    documents: find('document-link[not(starts-with(@format, "image/"))]').length,
  }
}

function projectOf(find: CountedActivity['find']): string {
  return find('other-identifier[@type="A1"]/@ref')[0] ?? ''
}

/** The first implementing organisation: its identifier, else its name. */
function partnersOf(find: CountedActivity['find']): string[] {
  const partner = 'participating-org[@role="4"][1]'
  return [...find(`${partner}/@ref`), ...find(`${partner}/narrative[1]`)].slice(0, 1)
}

function dateOf(find: CountedActivity['find'], type: string): string | undefined {
  return find(`activity-date[@type="${type}"]/@iso-date`)[0]
}

/** Units of money by `USD in` or `USD in 2026-11`. */
class Sums extends Map<string, bigint> {
  add(key: string, units: bigint): void {
    this.set(key, (this.get(key) ?? 0n) + units)
  }
}

class Counts extends Map<string, number> {
  add(...keys: readonly string[]): void {
    for (const key of keys) this.set(key, (this.get(key) ?? 0) + 1)
  }
}

function currenciesIn(sums: Sums): string[] {
  return [...new Set([...sums.keys()].map((key) => key.slice(0, 3)))].sort()
}

/** Of each currency what became of what was received; all sums where the parts are no whole. */
function storyTexts(sums: Sums, options: Intl.NumberFormatOptions): string[] {
  return currenciesIn(sums).flatMap((currency) => {
    const of = (kind: string) => sums.get(`${currency} ${kind}`) ?? 0n
    const told = (units: bigint) => (units === 0n ? words.money.none : amount(units, currency, options))
    const named = (kind: (typeof kinds)[number]) => `${words.money[kind]}: ${told(of(kind))}`
    const [received, partners, own] = [of('in'), of('partners'), of('expenditure')]
    const left = received - partners - own
    if (received <= 0n || partners < 0n || own < 0n || left < 0n) return kinds.map(named)
    return [
      partners === 0n
        ? words.money.unspent(told(received))
        : words.money.spent(told(received), told(partners), percent(Number(partners), Number(received))),
      named('partners'),
      ...(own > 0n ? [named('expenditure')] : []),
      ...(left > 0n ? [`${words.money.left}: ${told(left)}`] : []),
      ...(of('budget') === 0n ? [] : [named('budget')]),
    ]
  })
}

/** Of each month received, paid to partners and expenditure, then the totals until a day of it, newest first. */
function monthRows(sums: Sums, currency: string, most = Number.POSITIVE_INFINITY): string[] {
  const months = [...sums.keys()].filter((key) => key.startsWith(currency)).flatMap((key) => key.split(' ')[2] ?? [])
  return [...new Set(months)]
    .sort()
    .reverse()
    .slice(0, most)
    .flatMap((month) => {
      const [opening, ...units] = ['opening', ...kinds.slice(1)].map(
        (kind) => sums.get(`${currency} ${kind} ${month}`) ?? 0n,
      )
      const until = `Until ${monthName(month)}, in total | ${amount(opening, currency)} |  | `
      const row = [
        monthName(month),
        ...units.map((one) => (one === 0n ? words.money.none : amount(one, currency))),
      ].join(' | ')
      return [...(units.some((one) => one !== 0n) ? [row] : []), ...(opening === 0n ? [] : [until])]
    })
}

function amount(units = 0n, currency: string, options: Intl.NumberFormatOptions = {}): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, ...options })
  return format.format(fromMinorUnits(units, 4) as `${number}`)
}

const count = (value: number) => new Intl.NumberFormat('en').format(value)

function percent(part: number, whole: number): string {
  return new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).format(
    whole === 0 ? 0 : part / whole,
  )
}

function monthName(month: string): string {
  const options = { year: 'numeric', month: 'short', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat('en', options).format(new Date(`${month}-01`))
}

function dayName(date: string): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date))
}

function countryName(code: string): string {
  return new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code
}

type Node = Parameters<typeof DomUtils.textContent>[0]

/** Elements by name and class, in the order of the page. */
function all(within: Node | undefined, name: string, className?: string) {
  const found = within === undefined ? [] : DomUtils.getElementsByTagName(name, within)
  return className === undefined ? found : found.filter(({ attribs }) => attribs.class?.split(' ').includes(className))
}

function textOf(node: Node | undefined): string {
  return node === undefined ? '' : DomUtils.textContent(node).replace(/\s+/g, ' ').trim()
}

/** What a page says of its money. */
function storyOf(page: Node): string[] {
  const story = all(page, 'div', 'money')[0]
  return [...all(story, 'p'), ...all(story, 'li')].map(textOf)
}

/** The rows of each table by its caption, the cells of a row joined by ` | `. */
function tablesOf(page: Node): Record<string, string[]> {
  return Object.fromEntries(
    all(page, 'table').map((table) => [
      textOf(all(table, 'caption')[0]),
      all(all(table, 'tbody')[0], 'tr').map((row) => all(row, 'th').concat(all(row, 'td')).map(textOf).join(' | ')),
    ]),
  )
}

/** `Name: figure` of each bar below a heading. */
function barsOf(page: Node, heading: string): string[] {
  const section = all(page, 'section').find((one) => textOf(all(one, 'h2')[0]) === heading)
  return all(section, 'ul', 'bars')
    .flatMap((list) => all(list, 'li'))
    .map((bar) => `${textOf(all(bar, 'a')[0])}: ${textOf(all(bar, 'span', 'number')[0])}`)
    .sort()
}
