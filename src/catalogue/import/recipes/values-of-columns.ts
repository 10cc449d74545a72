import { codeList, isActiveCode } from '../../../iati/standard/index.js'
import { type CurrencyCode, foldedMark, marksOf, parseCurrencyCode } from '../../../kernel/money.js'
import { knownThemeId } from '../../../kernel/theme-sectors.js'
import { shownValue } from '../../../kernel/values.js'
import type { Recipe } from '../../sql/reading.js'
import type { Kind } from '../kind.js'
import { bareNumber, dayPatternsOf, isoDayOf, isReadBy, numberIn, orderOfPattern } from '../number-notation.js'
import { countryCodes, countryNamed, foldedName, type HeaderWords } from './header-words.js'
import { isInCents, markOfName, type TableColumn } from './table-of-file.js'

const mostShown = 5

/** Some of these values, for a sentence. */
export function shownValues(words: readonly string[]): string {
  const shown = words.slice(0, mostShown).map((word) => shownValue(word))
  return shown.join(', ') + (words.length > mostShown ? ` and ${words.length - mostShown} more` : '')
}

export type Say = (member: string, why: string) => void

export const isDated = (name: string) => name === 'day' || name === 'instant'
export const isNumeric = (name: string) => /amount|latitude|longitude/.test(name)

/** The notation of numbers and of days that reads most of the cells which may be such. */
export function guessNotation(
  candidates: ReadonlyMap<TableColumn, readonly string[]>,
  { fields }: Kind,
  isSheet: boolean,
  say: Say,
  open: string[],
): Pick<Recipe, 'decimal' | 'date'> {
  const cellsOf = (is: (name: string) => boolean) =>
    [...candidates].flatMap(([column, names]) =>
      names.some((name) => is(fields[name]?.type.name ?? '')) ? [...column.values.keys()] : [],
    )
  const numbers = cellsOf(isNumeric)
    .map((text) => bareNumber(text).number)
    .filter((text) => /^-?\d/.test(text))
    // Numbers of a sheet are written as the recipe has them.
    .filter((text) => !(isSheet && /^-?\d+(?:\.\d+)?$/.test(text)))
  const days = cellsOf(isDated)
  const readings = (['point', 'comma'] as const).map((decimal) => ({
    decimal,
    count: numbers.filter((text) => numberIn(decimal, text) !== undefined).length,
  }))
  const isPlain = numbers.every((text) => /^-?\d+(?:\.\d{1,2})?$/.test(text))
  const [first, second] = readings.sort((a, b) => b.count - a.count)
  const inCents = [...candidates.keys()].find(isInCents)
  if (inCents) say('decimal', `cents: "${inCents.name}" has whole numbers`)
  let decimal: Recipe['decimal'] = inCents && 'cents'
  if (!inCents && !isPlain && first && second) {
    const telling = numbers.find(
      (text) => numberIn(first.decimal, text) !== undefined && numberIn(second.decimal, text) === undefined,
    )
    if (first.count > second.count && telling !== undefined) {
      decimal = first.decimal
      say('decimal', `${decimal}: "${telling}"`)
    } else if (!numbers.some((text) => /[.,]/.test(text))) {
      // Where spaces part thousands, decimals have a comma; where apostrophes do, a point.
      const parted = numbers.find((text) => /\d[ '\u2019]\d/.test(text)) ?? ''
      decimal = /\d \d/.test(parted) ? 'comma' : 'point'
      say('decimal', `${decimal}: "${parted}"`)
    } else open.push(`decimal: ${shownValues(numbers.slice(0, 2))} may be read in two ways; say comma or point`)
  }
  return { ...(decimal && { decimal }), ...guessDays(days, decimal, say, open) }
}

function guessDays(
  days: readonly string[],
  decimal: Recipe['decimal'],
  say: Say,
  open: string[],
): Pick<Recipe, 'date'> {
  const [example] = days
  if (example === undefined) return {}
  const count = (pattern: string) => days.filter((text) => isReadBy(text, pattern)).length
  const found = [...new Set(days.slice(0, 50).flatMap(dayPatternsOf))]
    .filter((pattern) => pattern !== 'yyyy-mm-dd')
    .map((pattern) => ({ pattern, count: count(pattern) }))
    .sort((a, b) => b.count - a.count)
  // Days of ISO 8601 are read beside others.
  if (!found[0] && days.some((text) => isDay(isoDayOf(text, 'yyyy-mm-dd')))) return {}
  const likely = found.filter((one) => one.count > 0 && one.count === found[0]?.count)
  const best = likely.every(({ pattern }) => orderOfPattern(pattern) === orderOfPattern(likely[0]?.pattern ?? ''))
    ? likely.slice(0, 1)
    : likely
  const [first] = best
  if (!first) {
    open.push(`date: ${shownValues(days.slice(0, 2))} is in no order of day, month and year that is known`)
    return {}
  }
  // Who writes 1.234,50, or parts days by points, has the day first.
  const chosen =
    best.length === 1
      ? first
      : best.find(({ pattern }) => /^dd/.test(pattern) && (decimal === 'comma' || pattern.includes('.')))
  if (!chosen) {
    open.push(`date: ${shownValues(days.slice(0, 2))} may be ${best.map(({ pattern }) => pattern).join(' or ')}`)
    return {}
  }
  const read = days.find((text) => isReadBy(text, chosen.pattern)) ?? example
  say('date', `${chosen.pattern}: "${read}" is ${isoDayOf(read, chosen.pattern)}`)
  return { date: chosen.pattern }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)))
}

export type TypeOfField = Kind['fields'][string]['type']

function isOfCountries({ name }: TypeOfField): boolean {
  return /^(?:country|list of country)/.test(name)
}

/** The values of a field that has a few, or the codes of countries; undefined for others. */
export function choicesOf(type: TypeOfField): readonly string[] | undefined {
  if (isOfCountries(type)) return countryCodes()
  return type.name === 'yes or no' ? ['yes', 'no'] : (type.schema.enum as string[] | undefined)
}

/** Of a field with a few words: what the values of a column stand for, and those that stand for none. */
export function valuesOf(
  { values }: TableColumn,
  field: string,
  type: TypeOfField,
  words: HeaderWords,
): { readonly values: Record<string, string>; readonly unknown: readonly string[] } | undefined {
  if (type.name === 'currency') return currenciesOf([...values.keys()], type)
  if (field === 'themes') return themesOf([...values.keys()], words)
  const isCountry = isOfCountries(type)
  const choices = choicesOf(type)
  if (!choices) return undefined
  const isList = type.name.startsWith('list')
  const meant = (text: string): string | undefined =>
    (isCountry ? countryNamed(text) : undefined) ??
    choices.find((choice) => choice === text.trim() || words.values.get(choice)?.includes(foldedName(text)))
  const partsOf = (text: string) => {
    const parts = text.split(/[|,;/\n]/).map(meant)
    return parts.includes(undefined) ? undefined : [...new Set(parts)].join('|')
  }
  const found: Record<string, string> = {}
  const unknown: string[] = []
  for (const text of values.keys()) {
    if (type.parse(text) !== undefined) continue
    const value = meant(text) ?? (isList ? partsOf(text) : undefined)
    if (value !== undefined) found[text] = value
    else unknown.push(text)
  }
  return { values: found, unknown: field === 'countries' && unknown.length === values.size ? [] : unknown }
}

/** What signs and names of currencies stand for; `$` is what the DEFAULT_CURRENCY or nobody says. */
function currenciesOf(cells: readonly string[], type: TypeOfField) {
  const values: Record<string, string> = {}
  const unknown: string[] = []
  for (const cell of cells) {
    if (type.parse(cell) !== undefined || type.parse(cell.toUpperCase()) !== undefined) continue
    const code = namedCurrency(cell)
    if (code === undefined) unknown.push(cell)
    else values[cell] = code
  }
  return { values, unknown }
}

/** The currency with this sign or name, where it is one. */
export function namedCurrency(text: string): string | undefined {
  const codes = [...codeList('Currency').codes.keys()].flatMap((code) =>
    isActiveCode('Currency', code) ? [parseCurrencyCode(code)] : [],
  )
  const found = codes.filter((code) => code && (marksOf(code).has(text) || marksOf(code).has(foldedMark(text))))
  const usual = found.find((code) => ['EUR', 'GBP', 'USD', 'CHF'].includes(code ?? ''))
  return usual ?? (found.length === 1 ? found[0] : undefined)
}

/** What names of themes stand for, alone or in lists; a theme of the platform's own is for a person to say. */
function themesOf(cells: readonly string[], words: HeaderWords) {
  const meant = (name: string): string | undefined =>
    knownThemeId(name) ?? [...words.themes].find(([id, names]) => id === name || names.includes(foldedName(name)))?.[0]
  const values: Record<string, string> = {}
  const unknown: string[] = []
  for (const cell of cells) {
    const whole = meant(cell)
    const ids = whole === undefined ? cell.split(/[|,;/]/).map((part) => meant(part.trim())) : [whole]
    if (ids.includes(undefined)) unknown.push(cell)
    else if (ids.join('|') !== cell) values[cell] = ids.join('|')
  }
  return { values, unknown }
}

/** The currency whose sign or code stands beside the amounts or in the name of their column, where it is one. */
export function markedCurrency(
  columns: readonly TableColumn[],
  assigned: ReadonlyMap<TableColumn, string>,
): string | undefined {
  const amounts = columns.find((column) => assigned.get(column) === 'amount')
  const named = amounts && markOfName(amounts.name)
  const marks = new Set(
    [...(named === undefined ? (amounts?.values.keys() ?? []) : [named])].flatMap(
      (text) => /[A-Z]{3}|[A-Z]{0,2}\p{Sc}/u.exec(text)?.[0] ?? [],
    ),
  )
  const known = ['EUR', 'GBP', 'USD', 'CHF', ...[...marks].filter((mark) => parseCurrencyCode(mark))]
  const fitting = known.filter(
    (code) => marks.size > 0 && [...marks].every((mark) => marksOf(code as CurrencyCode).has(mark)),
  )
  return fitting[0]
}
