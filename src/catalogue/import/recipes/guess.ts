import path from 'node:path'
import { ServiceError } from '../../../kernel/errors.js'
import { type CurrencyCode, marksOf } from '../../../kernel/money.js'
import { shownValue } from '../../../kernel/values.js'
import type { Recipe } from '../../sql/reading.js'
import { fieldNamed, missingFields } from '../fields.js'
import type { Kind } from '../kind.js'
import { findKind, kinds } from '../kinds.js'
import { bareNumber, dayPatternsOf, type NumberNotation, numberIn } from '../number-notation.js'
import { ofNoKind } from '../recognise-file.js'
import { tellingOf } from '../row-reading.js'
import { foldedName, type HeaderWords, headerWords } from './header-words.js'
import { type CsvTable, isInCents, isScaled, markOfName, readTable, type TableColumn } from './table-of-file.js'
import {
  guessNotation,
  isDated,
  isNumeric,
  markedCurrency,
  namedCurrency,
  shownValues,
  valuesOf,
} from './values-of-columns.js'

/** A recipe that a file's header and rows suggest. A person confirms it: nothing uses a guess by itself. */
export type RecipeGuess = {
  readonly recipe: Recipe
  /** What was guessed, and why. */
  readonly reasons: readonly { readonly member: string; readonly why: string }[]
  /** What only a person can say. */
  readonly open: readonly string[]
  /** Fields that the kind needs, and that no column is. */
  readonly missing?: readonly string[]
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

/** Guesses how a CSV file is read. Throws `input-unusable` for other files. */
export async function guessRecipe(file: string, guessing: Guessing): Promise<RecipeGuess> {
  return guessOf(await readTable(file, guessing.signal, guessing.reading), guessing)
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
    say('sheet', `${sheet.name}, the first of ${shownValues([sheet.name, ...sheet.others])}`)
  if (rows === 0) open.push('the file has no rows: what its cells hold cannot be seen')

  const kind = guessKind(asked, name, columns, words, sheet?.others)
  say('kind', kind.why)
  const { fields } = kind.kind
  const only: Record<string, string[]> = {}
  const candidates = candidatesOf(columns, kind.kind, words, currency)
  for (const [field, column] of namelessOf(columns, kind.kind, candidates)) {
    candidates.set(column, [field])
    say(
      `map of ${column.name}`,
      `${field}: the only column whose cells all are ${isDated(fields[field]?.type.name ?? '') ? 'days' : 'amounts'}`,
    )
  }
  const sides =
    'amount' in fields &&
    'date' in fields &&
    ![...candidates.values()].flat().includes('amount') &&
    sidesOf(columns, words)
  if (sides) {
    const [own, other] = kind.kind.name === 'gifts' ? sides : sides.toReversed()
    candidates.set(own, ['amount'])
    only[other.name] = ['', ...[...other.values.keys()].filter((text) => !/[1-9]/.test(text))]
    say('only', `rows without an amount in "${other.name}"`)
  }
  const notation = guessNotation(candidates, kind.kind, sheet !== undefined, say, open)
  if (notation.date === 'unix' && notation.decimal === undefined) {
    for (const [column, names] of candidates) {
      if (!names.includes('amount') || [...column.values.keys()].some((text) => /\D/.test(text))) continue
      candidates.delete(column)
      open.push(
        `"${column.name}" may be in cents, as programs have them beside Unix times: say decimal cents, or point`,
      )
    }
  }
  const assigned = assign(columns, candidates, kind.kind, notation, words, currency)

  const map: Record<string, string> = {}
  const values: Record<string, Record<string, string>> = {}
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
      say(
        `values of ${column.name}`,
        shownValues(Object.entries(known.values).map(([one, meant]) => `${one} is ${meant}`)),
      )
    }
    if (known && known.unknown.length > 0)
      open.push(
        `values of "${column.name}" that are no ${field} ` +
          `(${field === 'themes' ? 'add them with giving import --kind themes, or name others in values' : type.expected}): ${shownValues(known.unknown)}`,
      )
    const isMerged =
      sheet?.merged.has(columns.indexOf(column)) === true &&
      !/amount|count\b/.test(type?.name ?? '') &&
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
  function leaveOut(column: TableColumn): void {
    const isOf = (list: readonly string[]) => [...column.values.keys()].filter((one) => list.includes(foldedName(one)))
    const [moved, notMoved, alike] = [isOf(words.moved), isOf(words.notMoved), isOf(words.alike)]
    const count = column.values.size
    const tells = tellingOf(column.name)
    const all = [...column.values.keys(), ...(column.blank > 0 ? [''] : [])]
    const told = new Set(all.flatMap((cell) => tells?.(cell) ?? []))
    const isMoney = 'amount' in fields && 'date' in fields
    if (isMoney && count > 0 && moved.length > 0 && moved.length + notMoved.length === count && tells) {
      only[column.name] = moved
      const rest = notMoved.map((one) => `${one} (${column.values.get(one)})`)
      say(
        'only',
        `rows whose "${column.name}" is ${shownValues(moved)}${rest.length > 0 ? `, not ${shownValues(rest)}` : ''}`,
      )
    } else if (told.size > 1 || (isMoney && notMoved.length > 0 && 2 * (moved.length + notMoved.length) > all.length)) {
      if (!isMoney && /^(?:type|kind|typ|art|tipo)$/.test(foldedName(column.name))) {
        ignore.push(column.name)
        say('ignore', `"${column.name}" says what a record is, not whether it counts`)
      } else if (alike.length === count) {
        ignore.push(column.name)
        say('ignore', `"${column.name}" is ${shownValues(alike)}: all of these rows count`)
      } else {
        open.push(
          `"${column.name}" has ${shownValues(all.map((cell) => cell || 'empty cells'))}: name the rows that count with only or without, or the column with ignore`,
        )
        return
      }
    }
    if (column.name in only || ignore.includes(column.name)) return
    const lost = whyLost(column)
    if (lost !== undefined) open.push(`"${column.name}" is left out: ${lost}`)
    else say(`map of ${column.name}`, `left out: ${whyLeftOut(column)}`)
  }

  /** Of a column that is named like a field which no other column is: why it is none. */
  function whyLost(column: TableColumn): string | undefined {
    const isMoney = (field: string) => /amount/.test(fields[field]?.type.name ?? '')
    const like = Object.keys(fields).find(
      (field) => isMoney(field) && column.words.some((word) => words.fields.get(field)?.has(word)),
    )
    const foreign = like && foreignTo(currency, column, columns, fields, words)
    if (foreign) return `amounts of ${kind.kind.name} are in ${currency}, not in ${shownValue(foreign)}`
    if (like && isScaled(column.name)) return 'its unit is none that amounts are in'
    const [meant] = (candidates.get(column) ?? []).filter((field) => ![...assigned.values()].includes(field))
    const [example] = column.values.keys()
    return meant !== undefined && example !== undefined
      ? `${meant} is ${fields[meant]?.type.expected}, not ${shownValue(example)}`
      : undefined
  }

  function whyLeftOut(column: TableColumn): string {
    const isOf = (names: ReadonlySet<string> | readonly string[]) => {
      const all = new Set(names)
      return column.words.some((word) => all.has(word))
    }
    if (isOf(words.donors)) return 'it is about a donor'
    if ('settledAmount' in fields && isOf(words.fields.get('settledAmount') ?? []))
      return `what is not in ${currency} is no amount of the books`
    if ('title' in fields && isOf(words.fields.get('title') ?? [])) return 'it may be the name of a person'
    return 'no field has such a name'
  }

  for (const [column, found] of totals) say('without', `rows with ${shownValues([...found])} in "${column}" are totals`)
  for (const [column, found] of footers)
    say('without', `${shownValues([...found])} in "${column}" stands below the table`)
  const without = Object.fromEntries(
    [...new Set([...totals.keys(), ...footers.keys()])].map((column) => [
      column,
      [...(totals.get(column) ?? []), ...(footers.get(column) ?? [])],
    ]),
  )
  const constants: Record<string, string> = {}
  const missing: string[] = []
  const given = new Set(assigned.values())
  for (const field of missingFields(fields, (one) => given.has(one))) {
    if (field === 'currency') {
      const marked = markedCurrency(columns, assigned)
      constants.currency = marked ?? currency
      say(
        'constants',
        `currency ${constants.currency}, ${marked ? 'which stands beside amounts or above them' : 'the DEFAULT_CURRENCY: no column names one'}`,
      )
      continue
    }
    missing.push(field)
    open.push(lacking(field, kind.kind.name))
  }
  const named = columns.find((column) => assigned.get(column) === 'name')
  const ofPersons = named && 'orgRef' in fields && columns.find((column) => isOfPerson(column, words))
  if (ofPersons)
    open.push(
      `whether "${named.name}" has organisations: beside "${ofPersons.name}" it may have people, whom this would publish`,
    )
  if ('count' in fields && !given.has('reference') && !given.has('count'))
    open.push('no column tells gifts apart: name one as reference, or as count where a row is the sum of a month')
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
  return { recipe: guessed, reasons, open, ...(missing.length > 0 && { missing }) }
}

/** The columns of money that came, and that went, as a bank's statement has them. */
function sidesOf(columns: readonly TableColumn[], { credits, debits }: HeaderWords) {
  const [came, went] = [credits, debits].map((list) =>
    columns.find((column) => column.words.some((word) => list.includes(word))),
  )
  return came && went && ([came, went] as const)
}

/** What is asked of a person where no column is a field that the kind needs. */
export function lacking(field: string, kind = ''): string {
  const other = field.startsWith('id') ? 'add one with numbers that never change' : 'its value in constants'
  return `no column is ${field}, which ${kind} need: name one in map, or ${other}`
}

function filled(members: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => Object.keys(value).length > 0))
}

/** The kind of which the columns have most fields, where neither a person nor the name of the file says it. */
function guessKind(
  asked: string | undefined,
  file: string,
  columns: readonly TableColumn[],
  words: HeaderWords,
  sheets: readonly string[] = [],
): { readonly kind: Kind; readonly why: string } {
  const known = asked === undefined ? undefined : findKind(asked)
  if (known) return { kind: known, why: `${known.name}, as --kind says` }
  const [came, went] = sidesOf(columns, words) ?? []
  if (came && went && !columns.some((column) => column.words.some((word) => words.fields.get('amount')?.has(word))))
    throw new ServiceError(
      'input-unusable',
      `a bank statement, with money that came in "${came.name}" and money that went in "${went.name}": only you can say which rows are gifts; --kind gifts takes those of "${came.name}"`,
    )
  const name = ` ${foldedName(path.basename(file))} `
  const scored = kinds.map((kind: Kind) => {
    const candidates = candidatesOf(columns, kind, words)
    const nameless = namelessOf(columns, kind, candidates).map(([field]) => field)
    const found = new Set([...[...candidates.values()].flat(), ...nameless])
    const missing = missingFields(kind.fields, (field) => found.has(field) || field === 'currency')
    const isNamed = (words.kinds.get(kind.name) ?? []).some((word) => name.includes(` ${word} `))
    // A payout's number is no gift's, whatever else such tables have in common.
    const stems = (words.kinds.get(kind.name) ?? []).map((word) => word.replace(/(?:en|s)$/, ''))
    const isHinted = columns.some((column) => column.words.some((word) => stems.some((stem) => word.startsWith(stem))))
    // One column of many is no table of themes because it is called Nr.
    const isLikely = isNamed || found.size > 1 || columns.length === 1
    // A table with a day and an amount is one of money, whatever else it has.
    const isOfMoney = ['date', 'amount'].every((field) => field in kind.fields && found.has(field))
    return {
      kind,
      isNamed,
      score: isLikely
        ? found.size + (isOfMoney ? 3 : 0) - 2 * missing.length + (isNamed ? 3 : 0) + (isOfMoney && isHinted ? 0.5 : 0)
        : 0,
    }
  })
  const [best, second] = scored.sort((a, b) => b.score - a.score)
  if (!best || best.score <= 0)
    throw ofNoKind(
      columns.map((column) => column.name),
      sheets,
    )
  const also = second && second.score === best.score ? `; they may be ${second.kind.name} as well: --kind` : ''
  return {
    kind: best.kind,
    why: `${best.kind.name}, by ${best.isNamed ? "the file's name and " : ''}its columns${also}`,
  }
}

/** Of the fields that are needed and that no column is named after: the one column whose cells all are days, or amounts of money. */
function namelessOf(
  columns: readonly TableColumn[],
  { fields }: Kind,
  candidates: ReadonlyMap<TableColumn, readonly string[]>,
): [string, TableColumn][] {
  const named = new Set([...candidates.values()].flat())
  return missingFields(fields, (field) => named.has(field)).flatMap((field): [string, TableColumn][] => {
    const type = fields[field]?.type.name ?? ''
    const isMeant = isDated(type) ? isDay : type.includes('amount') ? isAmount : undefined
    const [one, second] = columns.filter(({ name, values }) => {
      const cells = [...values.keys()]
      // Plain numbers may count anything.
      const isMoney = isDated(type) || cells.some(isOfMoney)
      return name !== '' && isMeant && isMoney && cells.length > 0 && cells.every(isMeant)
    })
    return one && !second && !candidates.has(one) ? [[field, one]] : []
  })
}

function isDay(text: string): boolean {
  return dayPatternsOf(text).some((pattern) => /\W/.test(pattern))
}

function isOfMoney(text: string): boolean {
  const { number, marks } = bareNumber(text)
  return marks.length > 0 || /[.,]\d{2}$/.test(number)
}

function isAmount(text: string): boolean {
  const { number, marks } = bareNumber(text)
  const isKnown = (mark: string) => namedCurrency(mark) !== undefined || /\p{Sc}|^[A-Z]{3}$|^\p{L}{1,2}\.?$/u.test(mark)
  return marks.every(isKnown) && (numberIn('point', number) !== undefined || numberIn('comma', number) !== undefined)
}

/** The fields that each column may be, by its name. */
function candidatesOf(
  columns: readonly TableColumn[],
  { fields }: Kind,
  words: HeaderWords,
  currency?: CurrencyCode,
): Map<TableColumn, string[]> {
  const names = Object.keys(fields)
  const isMoney = (field: string) => /amount/.test(fields[field]?.type.name ?? '')
  const hasAmounts = columns.some(
    (column) =>
      !isScaled(column.name) &&
      names.some((field) => isMoney(field) && column.words.some((word) => words.fields.get(field)?.has(word))),
  )
  // Forms of ODK and Kobo have the times at which they were filled in beside what was asked.
  const isForm = columns.some(({ name }) => name === '_submission_time')
  const isOfPersons = columns.some((column) => isOfPerson(column, words))
  const isAmount = (word = '') => words.fields.get('amount')?.has(word) ?? false
  const hasPlainAmount = columns.some((column) => isAmount(column.words[0]) && markOfName(column.name) === undefined)
  return new Map(
    columns.flatMap((column): [TableColumn, string[]][] => {
      if (isForm && /^(?:start|end|today)$/.test(column.name)) return []
      const mark = markOfName(column.name)
      const isOurs = mark === undefined || currency === undefined || marksOf(currency).has(mark)
      const isNamed = (field: string) => {
        const isOf = (name: string) => column.words.some((word) => words.fields.get(name)?.has(word))
        // Whoever counts projects calls the number what others call a name of their own.
        const hasName =
          isOf(field) ||
          (field === 'id' && 'externalId' in fields && isOf('externalId')) ||
          (field === 'name' && 'humanitarian' in fields && isOf('themes'))
        // Beside an address of e-mail, a name may be a person's.
        if (field === 'title' && currency && isOf('name') && isOfPersons) return false
        if (isMoney(field) && currency !== undefined && foreignTo(currency, column, columns, fields, words))
          return false
        // Thousands, and cents beside amounts that are none, are for a person to turn into amounts.
        if (isMoney(field) && isScaled(column.name) && (hasAmounts || !isInCents(column))) return false
        if (field !== 'settledAmount') return hasName
        // What was settled in another currency is no amount of the books.
        return isOurs && (hasName || (hasPlainAmount && mark !== undefined && column.words.some(isAmount)))
      }
      // Of an organisation its country is where it is, its countries where it works; what belongs to a project has its title, and a partner's number is not the project's.
      const fitting = names.filter(
        (field) =>
          isNamed(field) &&
          !(field === 'countries' && 'country' in fields && isNamed('country')) &&
          !(/^(?:id|externalId)$/.test(field) && 'organization' in fields && isNamed('organization')) &&
          !(field === 'title' && 'project' in fields && isNamed('project')),
      )
      return fitting.length > 0 ? [[column, fitting]] : []
    }),
  )
}

/** What amounts of a column are in, where the kind has them in one currency and this is another: told by its name, or by a column beside it. */
function foreignTo(
  currency: CurrencyCode,
  column: TableColumn,
  columns: readonly TableColumn[],
  fields: Kind['fields'],
  words: HeaderWords,
): string | undefined {
  if ('currency' in fields) return undefined
  const isOurs = (mark: string) => marksOf(currency).has(mark) || namedCurrency(mark) === currency
  const mark = markOfName(column.name)
  if (mark !== undefined) return isOurs(mark) ? undefined : mark
  const beside = columns.filter((one) => one.words.some((word) => words.fields.get('currency')?.has(word)))
  return beside.flatMap(({ values }) => [...values.keys()]).find((cell) => !isOurs(cell))
}

/** Whether a column is about a person: by its name, or by addresses of e-mail. */
function isOfPerson({ words, values }: TableColumn, { donors }: HeaderWords): boolean {
  return words.some((word) => donors.includes(word)) || [...values.keys()].some((cell) => /^\S+@\S+\.\S+$/.test(cell))
}

function hasAddressInBrackets(text: string): boolean {
  return /\(https?:\/\/[^\s()]+\)/.test(text)
}

/** Which column each field is: of several that have its name, the one whose cells fit best. */
function assign(
  columns: readonly TableColumn[],
  candidates: ReadonlyMap<TableColumn, readonly string[]>,
  { fields }: Kind,
  { decimal, date }: Pick<Recipe, 'decimal' | 'date'>,
  words: HeaderWords,
  currency: CurrencyCode,
): Map<TableColumn, string> {
  const notation: NumberNotation = { decimal, date, hasThreeDecimals: false, zone: 'UTC', currency }
  const plain: NumberNotation = { ...notation, decimal: undefined }
  const isWhole = (column: TableColumn) => [...column.values.keys()].every((text) => /^[1-9]\d{0,15}$/.test(text))
  const texts = Object.values(fields).flatMap(({ type }) => type.inLanguages ?? [])
  const ofProjects = ['active', 'funded', 'retired'].flatMap((status) => words.values.get(status) ?? [])
  const statuses = new Set([...ofProjects, ...words.moved, ...words.notMoved])
  const fitOf = (column: TableColumn, field: string): number => {
    const type = fields[field]?.type
    if (!type) return 0
    const numberless = !isWhole(column)
    if (field === 'id' && 'externalId' in fields && numberless) return 0
    if (field === 'externalId' && 'id' in fields && !numberless) return 0
    const cells = [...column.values.keys()]
    if (cells.length === 0) return 0.4
    // What is called goal may be a text or an amount, and what is called state a place or a status.
    if (texts.includes(field) && cells.every(isAmount)) return 0
    if (field === 'locationName' && cells.every((text) => /\d\.\d\d.*\d\.\d\d/.test(text))) return 0
    // A table that has a title too may have names of persons.
    if (field === 'title' && column.words.some((word) => words.fields.get('name')?.has(word))) return 0.8
    if (field === 'state' && cells.every((text) => statuses.has(foldedName(text)))) return 0
    // A column that repeats its values names payouts, or plans, and tells no gifts apart.
    if (field === 'reference') return cells.length / [...column.values.values()].reduce((sum, times) => sum + times)
    const share = (is: (text: string) => boolean) => cells.filter(is).length / cells.length
    const isRead = (text: string) => {
      const bare = isNumeric(type.name) ? bareNumber(text).number : type.name === 'currency' ? text.toUpperCase() : text
      return (type.parse(bare, notation) ?? type.parse(bare, plain)) !== undefined
    }
    if (field === 'images' && cells.some(hasAddressInBrackets)) return 1
    if (isDated(type.name) && dayPatternsOf(cells[0] ?? '').length > 1) return 0.5 + share(isRead) / 2
    if (type.refersTo) {
      const isId = share((text) => /^[\w.:/-]{1,80}$/.test(text))
      return 0.4 + ((0.3 + 0.3 * isId) * column.filled) / (column.filled + column.blank)
    }
    const known = valuesOf(column, field, type, words)
    if (known)
      return (
        (share(isRead) + (0.9 * Object.keys(known.values).length) / cells.length) *
        (known.unknown.length < cells.length ? 1 : 0)
      )
    // A date or an amount of which a few cells are wrong is one.
    return share(isRead)
  }
  const isNeeded = (field: string) => {
    const { required = false, type } = fields[field] ?? {}
    return required && type !== undefined && (isDated(type.name) || isNumeric(type.name))
  }
  const pairs = [...candidates]
    .flatMap(([column, names]) =>
      names.map((field) => {
        const isWhole = words.fields.get(field)?.has(column.words[0] ?? '') ?? false
        return { column, field, isWhole, fit: fitOf(column, field) }
      }),
    )
    // The day or amount that the kind needs, by name, is what was meant: each cell that is none is told with its record.
    .filter(({ field, isWhole, fit }) => fit > 0.3 || (isWhole && isNeeded(field)))
    .sort(
      (a, b) =>
        Number(fields[b.field]?.required ?? false) - Number(fields[a.field]?.required ?? false) ||
        b.fit - a.fit ||
        Number(b.isWhole) - Number(a.isWhole) ||
        columns.indexOf(a.column) - columns.indexOf(b.column),
    )
  const assigned = new Map<TableColumn, string>()
  for (const column of columns) {
    const inLanguage = fieldNamed(fields, column.name)
    if (inLanguage !== undefined) assigned.set(column, inLanguage)
  }
  for (const { column, field } of pairs) {
    if (!assigned.has(column) && ![...assigned.values()].includes(field)) assigned.set(column, field)
  }
  return assigned
}
