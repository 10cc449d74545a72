import { withFrenchSpaces } from '../../kernel/french-spacing.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import { type Html, html } from './html.js'
import type { Licence } from './linked-data.js'
import { languages, type Words } from './words/words.js'

export type Language = keyof typeof languages

/** A file of pages at an address that changes with its bytes. */
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

/** What the frame of a page needs; a page that is drawn without a release has none to name. */
export type Framed = {
  readonly language: Language
  readonly words: Words
  /** What addresses of pages begin with: the language when the reader chose one. */
  readonly prefix: string
  /** The page's address without the prefix, with its query. */
  readonly address: string
  readonly baseUrl: string
  readonly publisherName: string
  readonly brand: Brand
  readonly release?: ReadableRelease | undefined
  readonly licence?: Licence | undefined
  readonly contact?: Contact | undefined
  /** Whether the other pages are served too. */
  readonly hasPortal?: boolean
}

/** Who reads, as far as texts depend on it. */
export type Reader = Pick<Framed, 'language'>

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
export function kept<Options, Format>(make: (language: Language, options: Options) => Format) {
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
export const dateFormat = kept(
  (language, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(localeOf(language), options),
)

export function localeOf(language: Language): string {
  return languages[language].code
}

const pluralRules = kept(
  (language, options: Intl.PluralRulesOptions) => new Intl.PluralRules(localeOf(language), options),
)

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

/** A measure in a unit of the runtime, such as `second`. */
export function unitText({ language }: Reader, value: number, unit: string, digits: number): string {
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  // The short form has no plural in English and Portuguese: "74 byte".
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  return numberFormat(language, { style: 'unit', unit, unitDisplay, ...places }).format(value)
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

/** The address of a page, in the reader's language where one was chosen. */
export function to(view: Pick<Framed, 'prefix'>, ...parts: readonly string[]): string {
  return `${view.prefix}/${parts.map(encodeURIComponent).join('/')}`
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

export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  const start = text.slice(0, characters)
  const words = start.slice(0, start.lastIndexOf(' '))
  // Scripts without spaces are cut where there is no more room.
  return `${(words.length > characters / 2 ? words : start.slice(0, -1)).trimEnd()}…`
}
