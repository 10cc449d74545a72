import path from 'node:path'
import { codeList, isActiveCode } from '../../../iati/standard/index.js'
import { ServiceError } from '../../../kernel/errors.js'
import { type CurrencyCode, foldedMark, marksOf, parseCurrencyCode } from '../../../kernel/money.js'
import { knownThemeId } from '../../../kernel/theme-sectors.js'
import { shownValue } from '../../../kernel/values.js'
import { createYielder } from '../../../kernel/yielder.js'
import type { Recipe } from '../../sql/reading.js'
import { cleanName } from '../column-names.js'
import { type CsvHeader, csvHeadBytes, encodingOf, readCsvHeader } from '../csv-rows.js'
import { CsvText, isBlank } from '../csv-text.js'
import { fieldNamed, missingFields } from '../fields.js'
import type { Kind } from '../kind.js'
import { findKind, kinds } from '../kinds.js'
import { dayPatternsOf, isoDayOf, isReadBy, type NumberNotation, orderOfPattern } from '../number-notation.js'
import { headOf, openBytes } from '../record-files.js'
import { isHeaderAgain, isTelling } from '../row-reading.js'
import type { Sheet } from '../workbook.js'
import { countryCodes, countryNamed, foldedName, type HeaderWords, headerWords } from './header-words.js'

/** A recipe that a file's header and rows suggest. A person confirms it: nothing uses a guess by itself. */
export type RecipeGuess = {
  readonly recipe: Recipe
  /** What was guessed, and why. */
  readonly reasons: readonly { readonly member: string; readonly why: string }[]
  /** What only a person can say. */
  readonly open: readonly string[]
}

type Guessing = {
  /** Absent: the header and the name of the file tell. */
  readonly kind?: string | undefined
  /** What amounts are in where the file does not say it. */
  readonly currency: CurrencyCode
  /** What a person has said already: which sheet. */
  readonly reading?: Pick<Recipe, 'sheet'> | undefined
  readonly signal?: AbortSignal | undefined
}

// A column with more different values than this has no list of values.
const mostValues = 400
// So many characters of values are kept of all columns together.
const mostKept = 4_000_000
const mostShown = 5
const mostBelow = 20

/** A column, and what its cells have. */
type Column = {
  readonly name: string
  /** What its name may mean, folded. */
  readonly words: readonly string[]
  readonly values: Map<string, number>
  filled: number
  blank: number
  isBlankAtTop: boolean
}

/** The columns of a CSV file with what their cells have, and how it is written. */
export type CsvTable = {
  /** The file's name, of an archive that of the file in it. */
  readonly name: string
  readonly encoding: Encoding
  readonly header: CsvHeader
  /** Of a workbook: the sheet that it is. */
  readonly sheet?: Sheet
} & Awaited<ReturnType<typeof readColumns>>

/** Guesses how a CSV file is read. Throws `input-unusable` for other files. */
export async function guessRecipe(file: string, guessing: Guessing): Promise<RecipeGuess> {
  return guessOf(await readTable(file, guessing.signal, guessing.reading), guessing)
}

/** Reads the columns of a CSV file, or of a sheet. Throws `input-unusable` for other files. */
export async function readTable(file: string, signal?: AbortSignal, reading?: Guessing['reading']): Promise<CsvTable> {
  const { name, chunks, sheet } = await openBytes(file, reading)
  const head = await headOf(chunks(signal))
  if (/^[\s\0\uFEFF]*[<{[]/.test(new TextDecoder(encodingOf(head)).decode(head.subarray(0, 200)))) {
    throw new ServiceError('input-unusable', 'no table: CSV needs a recipe, XML and JSON are imported as they are')
  }
  const words = headerWords()
  const encoding = await guessEncoding(head, chunks(signal))
  const header = readCsvHeader(
    head.subarray(0, csvHeadBytes),
    { encoding: encoding.name, isSheet: sheet !== undefined },
    (columns) => isHeader(columns, words),
  )
  return { name, encoding, header, ...(sheet && { sheet }), ...(await readColumns(chunks(signal), header, words)) }
}

/** Guesses how a table is read. Throws `input-unusable` where its columns are those of no kind. */
export function guessOf(table: CsvTable, { kind: asked, currency, reading }: Omit<Guessing, 'signal'>): RecipeGuess {
  const { encoding, header, sheet, columns, rows, totals, footers } = table
  const name = sheet ? `${table.name} ${sheet.name}` : table.name
  const words = headerWords()
  const reasons: { member: string; why: string }[] = []
  const open: string[] = []
  const say = (member: string, why: string) => void reasons.push({ member, why })

  if (encoding.why) say('encoding', encoding.why)
  say('header', `line ${header.line}, cells parted by ${header.delimiter === '\t' ? 'tabs' : header.delimiter}`)
  if (sheet && sheet.others.length > 0)
    say('sheet', `${sheet.name}, the first of ${listed([sheet.name, ...sheet.others])}`)
  if (rows === 0) open.push('the file has no rows: what its cells hold cannot be seen')

  const kind = guessKind(asked, name, columns, words)
  say('kind', kind.why)
  const { fields } = kind.kind
  const candidates = candidatesOf(columns, kind.kind, words, currency)
  const notation = guessNotation(candidates, kind.kind, sheet !== undefined, say, open)
  const assigned = assign(columns, candidates, kind.kind, notation, words, currency)

  const map: Record<string, string> = {}
  const values: Record<string, Record<string, string>> = {}
  const only: Record<string, string[]> = {}
  const ignore: string[] = []
  const [fillDown, attachments, plain]: [string[], string[], string[]] = [[], [], []]
  for (const column of columns) {
    const field = assigned.get(column)
    if (column.name === '') continue
    map[column.name] = field ?? ''
    if (field === undefined) {
      leaveOut(column)
      continue
    }
    const type = fields[field]?.type
    const known = type && valuesOf(column, field, type, words)
    if (known && Object.keys(known.values).length > 0) {
      values[column.name] = known.values
      say(`values of ${column.name}`, listed(Object.entries(known.values).map(([one, meant]) => `${one} is ${meant}`)))
    }
    if (known && known.unknown.length > 0)
      open.push(
        `values of "${column.name}" that are no ${field} ` +
          `(${field === 'themes' ? 'add them with giving import --kind themes, or name others in values' : type.expected}): ${listed(known.unknown)}`,
      )
    const isMerged =
      sheet?.merged.has(columns.indexOf(column)) === true &&
      !/amount|count/.test(type?.name ?? '') &&
      field !== 'reference'
    if ((field === 'project' || isMerged) && column.blank > 0 && !column.isBlankAtTop) {
      fillDown.push(column.name)
      say(
        'fillDown',
        `${column.blank} rows have an empty "${column.name}" below a filled one, as merged cells leave them`,
      )
    }
    const texts = [...column.values.keys()]
    if (field === 'images' && texts.some(hasAddressInBrackets)) {
      attachments.push(column.name)
      say('attachments', `"${column.name}" has addresses in brackets behind names of files`)
    }
    if (
      field === 'html' &&
      !texts.some((text) => /<\/?(?:p|br|div|b|i|strong|em|[uo]l|li|h[1-6]|a|span|img)\b[^>]*>/i.test(text))
    ) {
      plain.push(column.name)
      say('plain', `"${column.name}" has plain text, no HTML`)
    }
  }

  /** Of a column that is no field: whether its values say which rows count. */
  function leaveOut(column: Column): void {
    const isOf = (list: readonly string[]) => [...column.values.keys()].filter((one) => list.includes(foldedName(one)))
    const [moved, notMoved, alike] = [isOf(words.moved), isOf(words.notMoved), isOf(words.alike)]
    const count = column.values.size
    const isMoney = 'amount' in fields && 'date' in fields
    if (
      isMoney &&
      count > 0 &&
      moved.length > 0 &&
      moved.length + notMoved.length === count &&
      isTelling(column.name)
    ) {
      only[column.name] = moved
      const rest = notMoved.map((one) => `${one} (${column.values.get(one)})`)
      say('only', `rows whose "${column.name}" is ${listed(moved)}${rest.length > 0 ? `, not ${listed(rest)}` : ''}`)
    } else if (isTelling(column.name) && count > 1) {
      if (alike.length === count) {
        ignore.push(column.name)
        say('ignore', `"${column.name}" is ${listed(alike)}: all of these rows count`)
      } else
        open.push(
          `"${column.name}" has ${listed([...column.values.keys()])}: name the rows that count with only or without, or the column with ignore`,
        )
    }
    if (column.name in only || ignore.includes(column.name)) return
    say(`map of ${column.name}`, `left out: ${whyLeftOut(column)}`)
  }

  function whyLeftOut(column: Column): string {
    const isOf = (names: ReadonlySet<string> | readonly string[]) => {
      const all = new Set(names)
      return column.words.some((word) => all.has(word))
    }
    if (isOf(words.donors)) return 'it is about a donor'
    if (isScaled(column.name)) return 'its unit is none that amounts are in'
    if ('settledAmount' in fields && isOf(words.fields.get('settledAmount') ?? []))
      return `what is not in ${currency} is no amount of the books`
    return 'no field has such a name'
  }

  for (const [column, found] of totals) say('without', `rows with ${listed([...found])} in "${column}" are totals`)
  for (const [column, found] of footers) say('without', `${listed([...found])} in "${column}" stands below the table`)
  const without = Object.fromEntries(
    [...new Set([...totals.keys(), ...footers.keys()])].map((column) => [
      column,
      [...(totals.get(column) ?? []), ...(footers.get(column) ?? [])],
    ]),
  )
  const constants: Record<string, string> = {}
  const given = new Set(assigned.values())
  for (const field of missingFields(fields, (one) => given.has(one))) {
    if (field === 'currency') {
      const marked = markedCurrency(columns, assigned)
      constants.currency = marked ?? currency
      say(
        'constants',
        `currency ${constants.currency}, ${marked ? 'which stands beside amounts or above them' : 'the DEFAULT_CURRENCY: no column names one'}`,
      )
    } else open.push(`no column is ${field}, which ${kind.kind.name} need: name one in map, or its value in constants`)
  }
  const guessed: Recipe = {
    kind: kind.kind.name,
    map,
    ...filled({ values, only, without, constants }),
    ...Object.fromEntries(
      Object.entries({ fillDown, attachments, plain, ignore }).filter(([, list]) => list.length > 0),
    ),
    ...notation,
    ...(encoding.isTold && { encoding: encoding.name }),
    ...(sheet && (sheet.others.length > 0 || reading?.sheet !== undefined) && { sheet: sheet.name }),
  }
  return { recipe: guessed, reasons, open }
}

function filled(members: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => Object.keys(value).length > 0))
}

function listed(words: readonly string[]): string {
  const shown = words.slice(0, mostShown).map((word) => shownValue(word))
  return shown.join(', ') + (words.length > mostShown ? ` and ${words.length - mostShown} more` : '')
}

/** Whether a row of cells may be a header: at least two of its names are those of fields, and all differ from numbers. */
function isHeader(columns: readonly string[], words: HeaderWords): boolean {
  const known = columns.filter((column) => wordsOf(column).some((word) => words.all.has(word)))
  return known.length >= 2 && !columns.some((column) => /^[-\d.,]+$/.test(column))
}

/** What the name of a column may mean: as it is, without what is in brackets, without the currency at its end. */
function wordsOf(column: string): string[] {
  const bare = column.replace(/\s*[([][^()[\]]*[)\]]$/, '')
  const whole = [foldedName(column), foldedName(bare)]
  const without = whole.map((word) =>
    word.replace(/ (?:(?:in|en|em) )?([a-z]{3})$/, (end, code: string) =>
      parseCurrencyCode(code.toUpperCase()) ? '' : end,
    ),
  )
  return [...new Set([...whole, ...without])].filter((word) => word !== '')
}

/** Whether the numbers of a column are parts or multiples of what they seem: `Amount (cents)`, `Betrag (TEUR)`. */
function isScaled(name: string): boolean {
  const [, unit = ''] = /[([]([^()[\]]*)[)\]](?:#\d+)?$/.exec(name) ?? []
  return /cent|pence|penn|rappen|centavo|minor|thousand|tausend|tsd|mill|mio\b|^t[a-z]{3}$|^k\W|000/i.test(unit)
}

/** The code or sign of a currency at the end of a column's name: `Amount in USD`, `Betrag (€)`. */
function markOfName(name: string): string | undefined {
  const [, code, sign] = /(?:^|[\s([])(?:([A-Z]{3})|([A-Z]{0,2}\p{Sc}))[)\]]?(?:#\d+)?$/u.exec(name) ?? []
  return sign ?? (code !== undefined && parseCurrencyCode(code) ? code : undefined)
}

/** Reads all cells: the columns with their values, and the rows that are totals. */
async function readColumns(chunks: AsyncIterable<Buffer>, header: CsvHeader, words: HeaderWords) {
  const counted = new Map<string, number>()
  for (const name of header.columns) counted.set(name, (counted.get(name) ?? 0) + 1)
  const seen = new Map<string, number>()
  const columns = header.columns.map((name): Column => {
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    const isDoubled = (counted.get(name) ?? 0) > 1 && name !== ''
    return {
      name: isDoubled ? `${name}#${number}` : name,
      words: wordsOf(name),
      ...{ values: new Map(), filled: 0, blank: 0, isBlankAtTop: false },
    }
  })
  const totals = new Map<string, Set<string>>()
  const footers = new Map<string, Set<string>>()
  const leave = (of: Map<string, Set<string>>, column: Column, words: string) =>
    of.set(column.name, (of.get(column.name) ?? new Set()).add(words))
  const yieldIfDue = createYielder()
  const csv = new CsvText(header.delimiter, header.isSheet)
  const decoder = new TextDecoder(header.encoding)
  let [rows, kept] = [0, 0]
  // Rows with one cell are what stands below a table, unless rows follow them.
  const alone: (readonly string[])[] = []
  const count = (cells: readonly string[]) => {
    rows++
    for (const [index, one] of columns.entries()) {
      const cell = cells[index] ?? ''
      if (isBlank(cell)) {
        if (one.filled === 0) one.isBlankAtTop = true
        one.blank++
        continue
      }
      one.filled++
      const value = cleanName(cell.slice(0, 500)).trim()
      const times = one.values.get(value) ?? 0
      if (times === 0 && (one.values.size === mostValues || kept > mostKept)) continue
      if (times === 0) kept += value.length
      one.values.set(value, times + 1)
    }
  }
  const take = (piece: string, isLast: boolean) => {
    for (const { line, cells, damaged } of csv.push(piece, isLast)) {
      if (line <= header.line || damaged !== undefined || cells.every(isBlank)) continue
      if (isHeaderAgain(cells, header.columns)) continue
      const at = cells.findIndex((cell) => !isBlank(cell))
      const [first = '', column] = [cells[at], columns[at]]
      const filled = cells.filter((cell) => !isBlank(cell)).length
      const total = column && totalIn(first, filled * 2 < columns.length, words)
      if (total !== undefined) {
        leave(totals, column as Column, total)
        continue
      }
      if (filled === 1 && columns.length > 2 && alone.length < mostBelow) {
        alone.push(cells)
        continue
      }
      for (const earlier of alone.splice(0)) count(earlier)
      count(cells)
    }
  }
  for await (const chunk of chunks) {
    take(decoder.decode(chunk, { stream: true }), false)
    await yieldIfDue()
  }
  take(decoder.decode(), true)
  // A table of such rows alone is one.
  for (const cells of alone) {
    const at = cells.findIndex((cell) => !isBlank(cell))
    const column = columns[at]
    if (rows === 0 || !column) count(cells)
    else leave(footers, column, withoutEnding((cells[at] ?? '').trim()))
  }
  return { columns, rows, totals, footers }
}

/** What says that a row is a total: its first cell, or how that begins where hardly a cell beside it is filled. */
function totalIn(first: string, isSparse: boolean, words: HeaderWords): string | undefined {
  const name = foldedName(first)
  if (words.totals.includes(name)) return first.trim()
  const [begin = ''] = words.totals.filter((word) => name.startsWith(`${word} `)).sort((a, b) => b.length - a.length)
  if (!isSparse || begin === '') return undefined
  // Up to where the words for a total end, with its own letter case and signs.
  let start = ''
  for (const word of first.trim().match(/[^\p{L}\p{N}]*[\p{L}\p{N}]+/gu) ?? []) {
    if (foldedName(start) === begin) break
    start += word
  }
  return start === '' ? undefined : `${start}*`
}

/** A line below a table, up to where another day may have another number. */
function withoutEnding(text: string): string {
  const [start = ''] = /^\D*/.exec(text) ?? []
  return start.length < text.length && start.trim().length > 3 ? `${start.trim()}*` : text
}

/** The kind of which the columns have most fields, where neither a person nor the name of the file says it. */
function guessKind(
  asked: string | undefined,
  file: string,
  columns: readonly Column[],
  words: HeaderWords,
): { readonly kind: Kind; readonly why: string } {
  const known = asked === undefined ? undefined : findKind(asked)
  if (known) return { kind: known, why: `${known.name}, as --kind says` }
  const name = ` ${foldedName(path.basename(file))} `
  const scored = kinds.map((kind: Kind) => {
    const found = new Set([...candidatesOf(columns, kind, words).values()].flat())
    const missing = missingFields(kind.fields, (field) => found.has(field) || field === 'currency')
    const isNamed = (words.kinds.get(kind.name) ?? []).some((word) => name.includes(` ${word} `))
    return { kind, isNamed, score: found.size - 3 * missing.length + (isNamed ? 3 : 0) }
  })
  const [best, second] = scored.sort((a, b) => b.score - a.score)
  if (!best || best.score <= 0) {
    const names = columns.map((column) => column.name).slice(0, 20)
    throw new ServiceError('input-unusable', `columns of no kind (${names.join(', ')}): name one with --kind`)
  }
  const also = second && second.score === best.score ? `; they may be ${second.kind.name} as well: --kind` : ''
  return {
    kind: best.kind,
    why: `${best.kind.name}, by ${best.isNamed ? "the file's name and " : ''}its columns${also}`,
  }
}

/** The fields that each column may be, by its name. */
function candidatesOf(
  columns: readonly Column[],
  { fields }: Kind,
  words: HeaderWords,
  currency?: CurrencyCode,
): Map<Column, string[]> {
  const names = Object.keys(fields)
  const isAmount = (word = '') => words.fields.get('amount')?.has(word) ?? false
  const hasPlainAmount = columns.some((column) => isAmount(column.words[0]) && markOfName(column.name) === undefined)
  return new Map(
    columns.flatMap((column): [Column, string[]][] => {
      const mark = markOfName(column.name)
      const isOurs = mark === undefined || currency === undefined || marksOf(currency).has(mark)
      const isNamed = (field: string) => {
        const isOf = (name: string) => column.words.some((word) => words.fields.get(name)?.has(word))
        // Whoever counts projects calls the number what others call a name of their own.
        const hasName = isOf(field) || (field === 'id' && 'externalId' in fields && isOf('externalId'))
        // Cents, or thousands, are for a person to turn into amounts.
        if (/amount/.test(fields[field]?.type.name ?? '') && isScaled(column.name)) return false
        if (field !== 'settledAmount') return hasName
        // What was settled in another currency is no amount of the books.
        return isOurs && (hasName || (hasPlainAmount && mark !== undefined && column.words.some(isAmount)))
      }
      // Of an organisation its country is where it is, its countries where it works.
      const fitting = names.filter(
        (field) => isNamed(field) && !(field === 'countries' && 'country' in fields && isNamed('country')),
      )
      return fitting.length > 0 ? [[column, fitting]] : []
    }),
  )
}

function hasAddressInBrackets(text: string): boolean {
  return /\(https?:\/\/[^\s()]+\)/.test(text)
}

type Say = (member: string, why: string) => void

const isDated = (name: string) => name === 'day' || name === 'instant'
const isNumeric = (name: string) => /amount|latitude|longitude/.test(name)

/** The notation of numbers and of days that reads most of the cells which may be such. */
function guessNotation(
  candidates: ReadonlyMap<Column, readonly string[]>,
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
    .map(withoutMark)
    .filter((text) => /^[-(\u2212\u2013]?\d/.test(text))
    // Numbers of a sheet are written as the recipe has them.
    .filter((text) => !(isSheet && /^-?\d+(?:\.\d+)?$/.test(text)))
  const days = cellsOf(isDated)
  const readings = (['point', 'comma'] as const).map((decimal) => ({
    decimal,
    count: numbers.filter((text) => patternOfNumber[decimal].test(text)).length,
  }))
  const isPlain = numbers.every((text) => /^[-(\u2212\u2013]?\d+(?:\.\d{1,2})?\)?-?$/.test(text))
  const [first, second] = readings.sort((a, b) => b.count - a.count)
  let decimal: Recipe['decimal']
  if (!isPlain && first && second) {
    const telling = numbers.find(
      (text) => patternOfNumber[first.decimal].test(text) && !patternOfNumber[second.decimal].test(text),
    )
    if (first.count > second.count && telling !== undefined) {
      decimal = first.decimal
      say('decimal', `${decimal}: "${telling}"`)
    } else if (!numbers.some((text) => /[.,]/.test(text))) {
      // Where spaces part thousands, decimals have a comma; where apostrophes do, a point.
      const parted = numbers.find((text) => /\d[ '\u2019]\d/.test(text)) ?? ''
      decimal = /\d \d/.test(parted) ? 'comma' : 'point'
      say('decimal', `${decimal}: "${parted}"`)
    } else open.push(`decimal: ${listed(numbers.slice(0, 2))} may be read in two ways; say comma or point`)
  }
  return { ...(decimal && { decimal }), ...guessDays(days, decimal, say, open) }
}

// Whole numbers of thousands are read both ways.
const patternOfNumber = {
  point: /^[-(\u2212\u2013]?(?:\d+|[1-9]\d{0,2}(?:[, '\u2019]\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d+)?\)?-?$/,
  comma: /^[-(\u2212\u2013]?(?:\d+|[1-9]\d{0,2}(?:[. '\u2019]\d{3})+)(?:,\d+)?\)?-?$/,
}

function withoutMark(text: string): string {
  return text
    .replace(/\p{Sc}|\p{L}+\.?|[\u00A0\u202F]/gu, ' ')
    .replace(/^\+|[.,:][-\u2013\u2014]{1,2}$/, '')
    .trim()
    .replace(/^([-(\u2013]) +/, '$1')
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
    open.push(`date: ${listed(days.slice(0, 2))} is in no order of day, month and year that is known`)
    return {}
  }
  // Who writes 1.234,50, or parts days by points, has the day first.
  const chosen =
    best.length === 1
      ? first
      : best.find(({ pattern }) => /^dd/.test(pattern) && (decimal === 'comma' || pattern.includes('.')))
  if (!chosen) {
    open.push(`date: ${listed(days.slice(0, 2))} may be ${best.map(({ pattern }) => pattern).join(' or ')}`)
    return {}
  }
  const read = days.find((text) => isReadBy(text, chosen.pattern)) ?? example
  say('date', `${chosen.pattern}: "${read}" is ${isoDayOf(read, chosen.pattern)}`)
  return { date: chosen.pattern }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)))
}

/** Which column each field is: of several that have its name, the one whose cells fit best. */
function assign(
  columns: readonly Column[],
  candidates: ReadonlyMap<Column, readonly string[]>,
  { fields }: Kind,
  { decimal, date }: Pick<Recipe, 'decimal' | 'date'>,
  words: HeaderWords,
  currency: CurrencyCode,
): Map<Column, string> {
  const notation: NumberNotation = { decimal, date, hasThreeDecimals: false, zone: 'UTC', currency }
  const plain: NumberNotation = { ...notation, decimal: undefined }
  const isWhole = (column: Column) => [...column.values.keys()].every((text) => /^[1-9]\d{0,15}$/.test(text))
  const fitOf = (column: Column, field: string): number => {
    const type = fields[field]?.type
    if (!type) return 0
    const numberless = !isWhole(column)
    if (field === 'id' && 'externalId' in fields && numberless) return 0
    if (field === 'externalId' && 'id' in fields && !numberless) return 0
    const cells = [...column.values.keys()]
    if (cells.length === 0) return 0.4
    const share = (is: (text: string) => boolean) => cells.filter(is).length / cells.length
    const isRead = (text: string) => {
      const told = isNumeric(type.name) ? withoutMark(text) : type.name === 'currency' ? text.toUpperCase() : text
      return (type.parse(told, notation) ?? type.parse(told, plain)) !== undefined
    }
    if (field === 'images' && cells.some(hasAddressInBrackets)) return 1
    if (isDated(type.name) && dayPatternsOf(cells[0] ?? '').length > 1) return 0.5 + share(isRead) / 2
    if (type.refersTo) return 0.5 + share((text) => /^[\w.:/-]{1,80}$/.test(text)) / 2
    const known = valuesOf(column, field, type, words)
    if (known)
      return (
        (share(isRead) + (0.9 * Object.keys(known.values).length) / cells.length) *
        (known.unknown.length < cells.length ? 1 : 0)
      )
    // A date or an amount of which a few cells are wrong is one.
    return share(isRead)
  }
  const pairs = [...candidates]
    .flatMap(([column, names]) =>
      names.map((field) => {
        const isWhole = words.fields.get(field)?.has(column.words[0] ?? '') ?? false
        return { column, field, isWhole, fit: fitOf(column, field) }
      }),
    )
    .filter(({ fit }) => fit > 0.3)
    .sort(
      (a, b) =>
        Number(fields[b.field]?.required ?? false) - Number(fields[a.field]?.required ?? false) ||
        b.fit - a.fit ||
        Number(b.isWhole) - Number(a.isWhole) ||
        columns.indexOf(a.column) - columns.indexOf(b.column),
    )
  const assigned = new Map<Column, string>()
  for (const column of columns) {
    const inLanguage = fieldNamed(fields, column.name)
    if (inLanguage !== undefined) assigned.set(column, inLanguage)
  }
  for (const { column, field } of pairs) {
    if (!assigned.has(column) && ![...assigned.values()].includes(field)) assigned.set(column, field)
  }
  return assigned
}

type TypeOfField = Kind['fields'][string]['type']

function isOfCountries({ name }: TypeOfField): boolean {
  return /^(?:country|list of country)/.test(name)
}

/** The values of a field that has a few, or the codes of countries; undefined for others. */
export function choicesOf(type: TypeOfField): readonly string[] | undefined {
  if (isOfCountries(type)) return countryCodes()
  return type.name === 'yes or no' ? ['yes', 'no'] : (type.schema.enum as string[] | undefined)
}

/** Of a field with a few words: what the values of a column stand for, and those that stand for none. */
function valuesOf(
  { values }: Column,
  field: string,
  type: TypeOfField,
  words: HeaderWords,
): { readonly values: Record<string, string>; readonly unknown: readonly string[] } | undefined {
  if (type.name === 'currency') return currenciesOf([...values.keys()], type)
  if (field === 'themes') return themesOf([...values.keys()], words)
  const isCountry = isOfCountries(type)
  const choices = choicesOf(type)
  if (!choices) return undefined
  const meant = (text: string): string | undefined =>
    isCountry ? countryNamed(text) : choices.find((choice) => words.values.get(choice)?.includes(foldedName(text)))
  const found: Record<string, string> = {}
  const unknown: string[] = []
  for (const text of values.keys()) {
    if (type.parse(text) !== undefined) continue
    const value = meant(text)
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
function namedCurrency(text: string): string | undefined {
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
function markedCurrency(columns: readonly Column[], assigned: ReadonlyMap<Column, string>): string | undefined {
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

type Encoding = { readonly name: string; readonly isTold: boolean; readonly why?: string }

// Encodings of one byte that offices of Europe use, the likeliest first.
const oneByte = ['windows-1252', 'macintosh', 'windows-1250', 'windows-1251'] as const
const mostSampled = 50_000

/** The encoding of a text, with its reason where it is not plainly UTF-8. */
async function guessEncoding(head: Buffer, chunks: AsyncIterable<Buffer>): Promise<Encoding> {
  const known = encodingOf(head)
  // A mark counts before all else.
  if (head[0] === 0xef && head[1] === 0xbb) return { name: known, isTold: false }
  if (known !== 'utf-8') {
    const isMarked = head[0] === 0xff || head[0] === 0xfe
    const why = `${known}, ${isMarked ? 'as its byte order mark says' : 'as its zeros tell'}`
    return { name: known, isTold: !isMarked, why }
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const odd: Buffer[] = []
  let [sampled, isUtf8] = [0, true]
  for await (const chunk of chunks) {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: true })
    } catch {
      isUtf8 = false
    }
    if (sampled < mostSampled && chunk.some((byte) => byte >= 0x80)) {
      for (let at = 0; at < chunk.length && sampled < mostSampled; at++) {
        if ((chunk[at] ?? 0) < 0x80) continue
        // Enough around it to show the word.
        const piece = Buffer.concat([chunk.subarray(Math.max(0, at - 12), at + 13), Buffer.from('\n')])
        odd.push(piece)
        sampled += piece.length
        at += 12
      }
    }
  }
  if (isUtf8) return { name: 'utf-8', isTold: false }
  const sample = Buffer.concat(odd)
  const scored = oneByte.map((name) => {
    const text = new TextDecoder(name).decode(sample)
    const usual = text.match(/[äöüÄÖÜßéèêëàâçîïôùûœáíóúñãõÉÈÀÇ¿¡€„“”‘’–—…°§]/g)?.length ?? 0
    const cyrillic = name === 'windows-1251' ? (text.match(/[а-яё]{3,}/gi)?.join('').length ?? 0) : 0
    const strange = text.match(/[\u0080-\u009F\uFFFD]/g)?.length ?? 0
    return { name, text, score: (name === 'windows-1251' ? cyrillic : usual) - 2 * strange }
  })
  const [best] = scored.sort((a, b) => b.score - a.score)
  const [word = ''] = /[\p{L}]*[^\p{ASCII}][\p{L}]*/u.exec(best?.text ?? '') ?? []
  const name = best?.name ?? 'windows-1252'
  return { name, isTold: true, why: `${name}: the file is not UTF-8, and so it has words such as "${word}"` }
}
