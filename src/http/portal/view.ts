import { codeName, translatedCodeName } from '../../iati/standard/index.js'
import { withFrenchSpaces } from '../../kernel/french-spacing.js'
import type { Decimal } from '../../kernel/money.js'
import type { DonationOption } from '../../kernel/project.js'
import type { ActivityIndex } from '../../release/read/activity-index.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import type { ExplainedProject } from './explained.js'
import { type Html, html } from './html.js'
import type { Licence } from './linked-data.js'
import type { NamesOf, ProjectIndex } from './project-index.js'
import { type SumKind, sumKinds } from './sum-kinds.js'
import { languages, type Words } from './words/words.js'

export type Language = keyof typeof languages

/** A file of the portal at an address that changes with its bytes. */
export type Asset = { readonly address: string; readonly mediaType: string; readonly bytes: string | Buffer }

/** What a platform's pages look and read like. */
export type Brand = {
  readonly style: Asset
  /** An address with the picture itself. */
  readonly icon: string
  readonly logo: Asset | undefined
  readonly words: Readonly<Record<Language, Words>>
}

/** Where people reach the publisher. */
export type Contact = { readonly email?: string | undefined; readonly page?: string | undefined }

/** What every page is made from. */
export type View = {
  readonly language: Language
  readonly words: Words
  /** What addresses of pages begin with: the language when the reader chose one. */
  readonly prefix: string
  /** The page's address without the prefix, with its query. */
  readonly address: string
  readonly baseUrl: string
  readonly publisherName: string
  readonly brand: Brand
  readonly release: ReadableRelease
  readonly index: ActivityIndex
  readonly projectIndex: ProjectIndex
  readonly licence?: Licence | undefined
  /** Where people give to a project, with `{id}` for its number. */
  readonly projectLinkTemplate?: string | undefined
  /** Whether readers may get the reports of a project by mail. */
  readonly takesSubscriptions?: boolean
  /** Where people reach the publisher. */
  readonly contact?: Contact | undefined
  /** Asks the store why the activity of a project says what it says. */
  readonly explain?: ((project: number) => Promise<ExplainedProject | undefined>) | undefined
  /** What certain gifts to a project do, in the currency of the platform. */
  readonly gifts?: Gifts | undefined
}

export type Gifts = {
  readonly currency: string
  readonly optionsOf: (project: number) => Promise<readonly DonationOption[]>
}

/** Who reads, as far as texts depend on it. */
export type Reader = Pick<View, 'language'>

/** A page before its frame. */
export type PageBody = {
  readonly title: string
  readonly description: string
  readonly main: Html
  /** More elements of the head. */
  readonly head?: Html
  /** The navigation entry that the page belongs to. */
  readonly section?: 'projects' | 'data' | 'quality' | 'changes' | 'status' | 'developers'
  /** Pages that change with each click, which search engines should not list. */
  readonly isUnlisted?: boolean
}

/** Formats of the runtime, kept: making one takes longer than a page, and memory outside of the heap. */
function kept<Options, Format>(make: (language: Language, options: Options) => Format) {
  const formats = new Map<string, Format>()
  return (language: Language, options: Options): Format => {
    const key = `${language} ${JSON.stringify(options)}`
    const format = formats.get(key) ?? make(language, options)
    formats.set(key, format)
    return format
  }
}

export const numberFormat = kept(
  (language, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(localeOf(language), options),
)
const dateFormat = kept(
  (language, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(localeOf(language), options),
)
const regionNames = kept((language, options: { type: 'region' }) => new Intl.DisplayNames(localeOf(language), options))

const pluralRules = kept(
  (language, options: Intl.PluralRulesOptions) => new Intl.PluralRules(localeOf(language), options),
)

function localeOf(language: Language): string {
  return languages[language].code
}

/** The form of words beside a count, by the rules of the language (CLDR). */
export function pluralOf(view: Reader, count: number): Intl.LDMLPluralRule {
  return pluralRules(view.language, {}).select(count)
}

/** A label before what it is of. */
export function withColon({ language }: Reader, label: string): string {
  return withFrenchSpaces(language === 'fr' ? `${label} :` : `${label}:`, language)
}

export function countText(view: Reader, value: number): string {
  return numberFormat(view.language, {}).format(value)
}

export function percent(view: Reader, part: number, whole: number): string {
  const options = { style: 'percent', maximumFractionDigits: 1 } as const
  return numberFormat(view.language, options).format(whole === 0 ? 0 : part / whole)
}

/** A measure in a unit of the runtime, such as `second`. */
export function unitText({ language }: Reader, value: number, unit: string, digits: number): string {
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  // The short form has no plural in English and Portuguese: "74 byte".
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  return numberFormat(language, { style: 'unit', unit, unitDisplay, ...places }).format(value)
}

/** An exact amount; `whole` leaves out what is below one. */
export function moneyText(view: Reader, amount: Decimal, currency: string, { whole = false } = {}): string {
  const options = { style: 'currency', currency, ...(whole && { maximumFractionDigits: 0 }) } as const
  return numberFormat(view.language, options).format(amount as `${number}`)
}

export function dayText(view: Reader, date: string): Html {
  const name = dayName(view, date)
  return name === date ? html`${date}` : html`<time datetime="${date}">${name}</time>`
}

/** The day of a date or an instant; what is neither stays as it is. */
export function dayName(view: Reader, date: string): string {
  const at = new Date(`${date.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return date
  return dateFormat(view.language, { dateStyle: 'long', timeZone: 'UTC' }).format(at)
}

/** A day with its time. */
export function timeText(view: Reader, instant: string): Html {
  const options = { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' } as const
  return html`<time datetime="${instant}">${dateFormat(view.language, options).format(new Date(instant))} UTC</time>`
}

export function month(view: Reader, text: string): string {
  const options = { year: 'numeric', month: 'short', timeZone: 'UTC' } as const
  return dateFormat(view.language, options).format(new Date(`${text}-01T00:00:00Z`))
}

/** The address of a page, in the reader's language where one was chosen. */
export function to(view: Pick<View, 'prefix'>, ...parts: readonly string[]): string {
  return `${view.prefix}/${parts.map(encodeURIComponent).join('/')}`
}

// Asking the runtime for a name takes longer than the rest of its row.
const countryNames = new Map<string, string>()

export function countryName({ language }: Reader, code: string): string {
  // Readers may write any code in an address.
  if (!/^[A-Z]{2}$/.test(code)) return code
  const key = language + code
  const name = countryNames.get(key) ?? regionNames(language, { type: 'region' }).of(code) ?? code
  countryNames.set(key, name)
  return name
}

const codeNames: Partial<Record<Language, typeof codeName>> = {
  en: codeName,
  fr: (list, code) => translatedCodeName('fr', list, code),
  de: (list, code) => translatedCodeName('de', list, code),
}

/** The name of a code in the reader's language, else in English. */
function codeText({ language }: Reader, list: string, code: string): string {
  return codeNames[language]?.(list, code) ?? codeName(list, code) ?? code
}

/** The same for the text of a page, where a name that is in English alone says so. */
export function codeHtml(view: Reader, list: string, code: string): Html {
  const isForeign = view.language !== 'en' && codeNames[view.language]?.(list, code) === undefined
  return html`<span${isForeign ? html` lang="en"` : undefined}>${codeText(view, list, code)}</span>`
}

export function sectorName(view: Reader, code: string): string {
  return codeText(view, 'Sector', code)
}

/** The names of a country or sector in all languages; themes are searched for by their own. */
export const namesOf: NamesOf = (kind, code) => {
  if (kind !== 'countries' && kind !== 'sectors') return []
  const name = kind === 'countries' ? countryName : sectorName
  return (Object.keys(languages) as Language[]).map((language) => name({ language }, code))
}

export function statusName(view: Pick<View, 'words'>, code: string): string {
  // A reader may write any name in the address of a list.
  const { statuses } = view.words
  return (Object.hasOwn(statuses, code) ? statuses[code] : codeName('ActivityStatus', code)) ?? code
}

/** The kinds of money that a release tells apart. */
export function toldKinds({ index }: Pick<View, 'index'>): readonly SumKind[] {
  return index.tellsExpenditure ? sumKinds : ['budget', 'in', 'partners']
}

/** The name of a kind; payments to partners are not told from expenditure in a release before that. */
export function moneyName({ words, index }: Pick<View, 'words' | 'index'>, kind: SumKind): string {
  return words.money[kind === 'partners' && !index.tellsExpenditure ? 'out' : kind]
}

/** A sum; nothing is stated by no element, not by zero. */
export function sumText(view: View, amount: Decimal, currency: string, options: { whole?: boolean } = {}): string {
  return amount === '0' ? view.words.money.none : moneyText(view, amount, currency, options)
}

export function tile(label: string | Html, value: string | Html): Html {
  return html`<div class="tile"><dt>${label}</dt><dd>${value}</dd></div>`
}

/** What a table shows; one that a heading shows is read out only, and one of a record may be in another language. */
export type Caption = string | { readonly shown: string } | { readonly text: string; readonly attributes: Html }

/** A link to a file, whose path may be broken after its slashes. */
export function pathLink(path: string): Html {
  return html`<a href="${path}">${path.split('/').map((part, at) => html`${at > 0 ? html`/<wbr>` : undefined}${part}`)}</a>`
}

/** A table that scrolls within itself where it is too wide; nothing without a row. */
export function table(
  caption: Caption,
  head: readonly (string | Html)[],
  rows: readonly Html[],
  numbers = 1,
  foot: Html | undefined = undefined,
): Html {
  if (rows.length === 0) return html``
  const isShown = typeof caption === 'object' && 'shown' in caption
  const text = typeof caption === 'string' ? caption : 'shown' in caption ? caption.shown : caption.text
  const spoken = typeof caption === 'object' && 'attributes' in caption ? caption.attributes : undefined
  const cells = head.map(
    (name, at) => html`<th scope="col"${at >= numbers ? html` class="number"` : undefined}>${name}</th>`,
  )
  return html`<div class="scroll" role="region" aria-label="${text}" tabindex="0"><table><caption${isShown ? html` class="hidden"` : undefined}${spoken}>${text}</caption>
<thead><tr>${cells}</tr></thead><tbody>
${rows}</tbody>${foot}</table></div>`
}

/** A row of a table: what it is of, and its figures. */
export function row(name: string | Html, cells: readonly (string | Html | undefined)[], attributes?: Html): Html {
  return html`<tr><th scope="row"${attributes}>${name}</th>${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>\n`
}

/** The figures of a chart, for those who cannot see it. */
export function figures(view: Pick<View, 'words'>, content: Html): Html {
  return html`<details><summary>${view.words.table}</summary>${content}</details>`
}

export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  const start = text.slice(0, characters)
  const words = start.slice(0, start.lastIndexOf(' '))
  // Scripts without spaces are cut where there is no more room.
  return `${(words.length > characters / 2 ? words : start.slice(0, -1)).trimEnd()}…`
}
