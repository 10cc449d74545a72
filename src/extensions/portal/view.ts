import type { ExplainedProject } from '../../http/pages/explained.js'
import { type Html, html } from '../../http/pages/html.js'
import {
  dateFormat,
  type Framed,
  kept,
  type Language,
  localeOf,
  numberFormat,
  type Reader,
} from '../../http/pages/page.js'
import { languages } from '../../http/pages/words/words.js'
import { codeName, translatedCodeName } from '../../iati/standard/index.js'
import type { Decimal } from '../../kernel/money.js'
import type { DonationOption } from '../../kernel/project.js'
import type { ActivityIndex } from '../../release/read/activity-index.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import type { NamesOf, ProjectIndex } from './project-index.js'
import { type SumKind, sumKinds } from './sum-kinds.js'

/** What every page of the portal is made from. */
export type View = Framed & {
  readonly release: ReadableRelease
  readonly index: ActivityIndex
  readonly projectIndex: ProjectIndex
  /** Where people give to a project, with `{id}` for its number. */
  readonly projectLinkTemplate?: string | undefined
  /** Whether readers may get the reports of a project by mail. */
  readonly takesSubscriptions?: boolean
  /** Asks the store why the activity of a project says what it says. */
  readonly explain?: ((project: number) => Promise<ExplainedProject | undefined>) | undefined
  /** What certain gifts to a project do, in the currency of the platform. */
  readonly gifts?: Gifts | undefined
}

export type Gifts = {
  readonly currency: string
  readonly optionsOf: (project: number) => Promise<readonly DonationOption[]>
}

export function percent(view: Reader, part: number, whole: number): string {
  const options = { style: 'percent', maximumFractionDigits: 1 } as const
  return numberFormat(view.language, options).format(whole === 0 ? 0 : part / whole)
}

/** An exact amount; `whole` leaves out what is below one. */
export function moneyText(view: Reader, amount: Decimal, currency: string, { whole = false } = {}): string {
  const options = { style: 'currency', currency, ...(whole && { maximumFractionDigits: 0 }) } as const
  return numberFormat(view.language, options).format(amount as `${number}`)
}

export function month(view: Reader, text: string): string {
  const options = { year: 'numeric', month: 'short', timeZone: 'UTC' } as const
  return dateFormat(view.language, options).format(new Date(`${text}-01T00:00:00Z`))
}

const regionNames = kept((language, options: { type: 'region' }) => new Intl.DisplayNames(localeOf(language), options))

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

/** The figures of a chart, for those who cannot see it. */
export function figures(view: Pick<View, 'words'>, content: Html): Html {
  return html`<details><summary>${view.words.table}</summary>${content}</details>`
}
