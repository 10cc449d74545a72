import { closestName } from '../../kernel/closest-name.js'
import { ServiceError } from '../../kernel/errors.js'
import { unguardedText } from '../../kernel/spreadsheet-text.js'
import type { FileReading } from '../sql/reading.js'
import type { ParsedObject } from '../wire/read/parsed-value.js'
import { cleanName, columnsNamed, isNumbered } from './column-names.js'
import { type CsvRow, CsvText, isBlank } from './csv-text.js'
import { fieldNamed, type KindFields, missingFields } from './fields.js'
import { type FileRecord, whyColumn } from './file-record.js'
import { askedColumns, rowReader, whyHeader } from './row-reading.js'

/** The columns of a CSV file, its separator, the line of the header, and the encoding of its text. */
export type CsvHeader = {
  readonly columns: readonly string[]
  readonly delimiter: string
  readonly line: number
  readonly encoding: string
  /** Whether a row is a line, whatever its cells have, as in a sheet. */
  readonly isSheet: boolean
}

const mostShown = 20

/**
 * The columns with the names of fields. Of columns with one name the second is also called `Name#2`. Throws `input-unusable`
 * when the reading names a column that is not there.
 */
export function mapColumns(columns: readonly string[], { map = {}, ignore = [], others }: FileReading = {}): string[] {
  const named = [...Object.entries(map), ...ignore.map((name) => [name, ''] as const)]
  const missing = others ? [] : named.filter(([name]) => columnsNamed(columns, name).length === 0)
  if (missing.length > 0) {
    const [absent, present] = [missing.map(([name]) => name), columns].map((names) =>
      names.slice(0, mostShown).map(shownColumn).join(', '),
    )
    const option = ignore.includes(missing[0]?.[0] ?? '') ? '--ignore-column' : '--map'
    throw new ServiceError('input-unusable', `a first line without ${absent}, which ${option} names; it has ${present}`)
  }
  const mapped = others ? columns.map(() => whyColumn) : [...columns]
  // A numbered name says more than the name that several columns have.
  for (const [name, field] of named.sort(([one], [other]) => Number(isNumbered(one)) - Number(isNumbered(other)))) {
    for (const at of columnsNamed(columns, name)) mapped[at] = field === '' ? whyColumn : field
  }
  return mapped
}

const delimiters = [',', ';', '\t', '|'] as const
// What programs write above a table is shorter.
const mostRowsAbove = 30
/** Enough of a CSV file to find its header. */
export const csvHeadBytes = 65_536

/**
 * Finds the header of a CSV file: the first row whose columns are `fitting`, below whatever a program has written above it,
 * else the first row. Spreadsheets separate cells by semicolons or tabs in many countries, and may say so (`sep=;`).
 */
export function readCsvHeader(
  head: Buffer,
  reading: FileReading & { readonly isSheet?: boolean } = {},
  isFitting: (columns: readonly string[]) => boolean = () => true,
): CsvHeader {
  const { isSheet = false } = reading
  const encoding = encodingOf(head, reading.encoding)
  const text = new TextDecoder(encoding).decode(head, { stream: true })
  const [, separator] = /^\s*"?sep=([^\r\n"])"?[\r\n]/i.exec(text) ?? []
  const tables = (isSheet ? [','] : separator === undefined ? delimiters : [separator]).map((delimiter) => ({
    delimiter,
    rows: rowsAtTop(text, new CsvText(delimiter, isSheet), head.length < csvHeadBytes).filter(
      ({ cells }) => !/^"?sep=.?$/i.test(cells[0] ?? ''),
    ),
  }))
  const found = tables
    .flatMap(({ delimiter, rows }) => {
      const row = rows.find(({ cells }) => isFitting(cells.map(cleanName)))
      return row ? [{ delimiter, row }] : []
    })
    .sort((a, b) => a.row.line - b.row.line || b.row.cells.length - a.row.cells.length)[0]
  const { delimiter, row } = found ?? likelyHeader(tables)
  const columns = row?.cells.map(cleanName) ?? []
  if (columns.some((column) => column.includes('\uFFFD'))) throw notInEncoding(reading.encoding)
  return { columns, delimiter, line: row?.line ?? 1, encoding, isSheet }
}

type Table = { readonly delimiter: string; readonly rows: readonly CsvRow[] }

/** The row that is taken for the header where none has the columns that are needed: a message names what it has. */
function likelyHeader(tables: readonly Table[]): { readonly delimiter: string; readonly row: CsvRow | undefined } {
  const headers = tables.map(({ delimiter, rows }) => ({
    delimiter,
    row: rows.find(({ cells }) => !cells[0]?.startsWith('#')) ?? rows[0],
  }))
  return headers.reduce((best, one) => ((one.row?.cells.length ?? 0) > (best.row?.cells.length ?? 0) ? one : best))
}

function rowsAtTop(text: string, csv: CsvText, isWhole: boolean): CsvRow[] {
  const rows: CsvRow[] = []
  try {
    for (const row of csv.push(text, isWhole)) {
      if (!row.cells.every(isBlank)) rows.push(row)
      if (rows.length === mostRowsAbove) break
    }
  } catch (error) {
    // FileReading the file says what is wrong with it.
    if (!(error instanceof ServiceError)) throw error
  }
  return rows
}

/**
 * Streams the rows of a CSV file with these fields as its columns, in any order and letter case. A row that cannot be used
 * has a problem; a wrong header or an unclosed quote throws `input-unusable`, since the rows after it cannot be found
 * reliably. The last row says when nothing tells that it is whole.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  header: CsvHeader,
  fields: KindFields,
  reading: FileReading = {},
): AsyncGenerator<FileRecord> {
  const { columns: given, delimiter, isSheet } = header
  const names = matchColumns(mapColumns(given, reading), fields, given, reading.constants)
  const inUtc = given.map((column, index) => saysUtc.test(column) && isDated(fields[names[index] ?? '']))
  const asked = askedColumns(header.columns, reading)
  const read = rowReader(given, reading)
  let last: { readonly record: FileRecord; readonly row: CsvRow } | undefined
  let fullRows = 0
  const csv = new CsvText(delimiter, isSheet)
  const take = function* (piece: string, isLast: boolean): Generator<FileRecord> {
    for (const row of csv.push(piece, isLast)) {
      if (row.line <= header.line || (row.damaged === undefined && row.cells.every(isBlank))) continue
      if (!whyHeader(row.cells, given)) asked.look(row.cells)
      if (last) yield last.record
      if (last && last.row.cells.length >= given.length) fullRows++
      last = { record: toRecord(given, names, inUtc, row, read, reading.constants), row }
    }
  }
  try {
    for await (const piece of decoded(chunks, header.encoding, reading.encoding)) yield* take(piece, false)
    yield* take('', true)
  } catch (error) {
    if (last) yield last.record
    throw error
  }
  if (!last) return
  const { record, row } = last
  const isShort = fullRows > 0 && row.cells.length < given.length
  const ending = [row.isOpen ? 'open' : '', isShort ? 'short' : ''].filter(Boolean).join(' ')
  yield ending === '' ? record : { ...record, ending }
}

/** Whether a row has more than one value in a column that was left out, of a file that can be read twice. */
export async function askBefore(chunks: AsyncIterable<Buffer>, header: CsvHeader, reading: FileReading): Promise<void> {
  const asked = askedColumns(header.columns, reading)
  if (asked.count === 0) return
  const csv = new CsvText(header.delimiter, header.isSheet)
  const look = (piece: string, isLast: boolean) => {
    for (const { line, cells } of csv.push(piece, isLast))
      if (line > header.line && !whyHeader(cells, header.columns)) asked.look(cells)
  }
  for await (const piece of decoded(chunks, header.encoding, reading.encoding)) look(piece, false)
  look('', true)
}

/** The field that a column is. What a header explains in brackets is no part of its name, unless it may be a unit. */
function fieldOf(column: string, names: ReadonlyMap<string, string>, fields: KindFields): string | undefined {
  const whole = names.get(column.toLowerCase())
  if (whole !== undefined) return whole
  const [, base = ''] = /^(.*\S) ?\([^()]*\)$/.exec(column) ?? []
  const field = names.get(base.toLowerCase())
  const inLanguage = fieldNamed(fields, column) ?? fieldNamed(fields, base)
  if (inLanguage !== undefined) return inLanguage
  const hasUnit = /amount|count|day|instant|latitude|longitude/.test(fields[field ?? '']?.type.name ?? '')
  return hasUnit ? undefined : field
}

function namesOf(fields: KindFields): ReadonlyMap<string, string> {
  return new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]))
}

/** Fields that columns with these names lack to hold records of a kind, and whether all columns are fields of it. */
export function fitOfColumns(
  columns: readonly string[],
  fields: KindFields,
  { constants = {} }: FileReading = {},
): { readonly missing: readonly string[]; readonly isKnown: boolean } {
  const names = namesOf(fields)
  const found = columns.map((column) => (isLeftOut(column) ? '' : fieldOf(column, names, fields)))
  const given = new Set([...found, ...Object.keys(constants)])
  return { missing: missingFields(fields, (name) => given.has(name)), isKnown: !found.includes(undefined) }
}

function isLeftOut(column: string): boolean {
  return column === '' || column.toLowerCase() === whyColumn
}

/** The names of the fields in the order of the columns; letter case does not matter. `given` is what the file calls them. */
function matchColumns(
  columns: readonly string[],
  fields: KindFields,
  given: readonly string[],
  constants: FileReading['constants'] = {},
): readonly string[] {
  const names = namesOf(fields)
  const problems: string[] = []
  const found = new Set<string>(Object.keys(constants))
  let isUnknown = false
  const matched = columns.map((column, index) => {
    if (isLeftOut(column)) return column.toLowerCase()
    const name = fieldOf(column, names, fields)
    if (name === undefined) {
      isUnknown = true
      const own = given[index]
      const by = own === column || own === undefined ? '' : `, as --map names ${shownColumn(own)}`
      problems.push(`unknown column ${shownColumn(column)}${by}`)
    } else if (found.has(name)) problems.push(`column ${name} twice`)
    else found.add(name)
    return name ?? ''
  })
  for (const name of missingFields(fields, (field) => found.has(field))) problems.push(`no column ${name}`)
  if (problems.length === 0) return matched
  const free = Object.keys(fields).filter((name) => !found.has(name))
  const map = isUnknown ? `; what they are says ${suggestedMap(matched, given, free)}` : ''
  throw new ServiceError('input-unusable', `a first line with ${problems.join(', ')}${map}`)
}

function shownColumn(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}

/** The option that says what all columns are: unknown ones are the free fields that their names are like. */
function suggestedMap(matched: readonly string[], given: readonly string[], free: readonly string[]): string {
  const left = new Set(free)
  const pairs = given.flatMap((column, index) => {
    const known = matched[index] ?? ''
    if (known.toLowerCase() === column.toLowerCase()) return []
    const field = known === '' ? closestName(column, [...left]) : known
    if (field !== undefined) left.delete(field)
    return [`${column.slice(0, 100)}=${field === whyColumn ? '' : (field ?? anyField)}`]
  })
  const option = `--map '${pairs.slice(0, mostShown).join(',').replaceAll("'", "'\\''")}'`
  const isOpen = pairs.some((pair) => pair.endsWith(`=${anyField}`))
  return isOpen ? `${option} (${anyField}: one of ${[...left].join(', ')}, or nothing to leave it out)` : option
}

/** Stands for a field that a person must name. */
const anyField = 'FIELD'

const saysUtc = /\((?:UTC|GMT)\)$/i
const endsInTime = /\d:\d\d(?: ?[ap]m)?$/i

function isDated(field: KindFields[string] | undefined): boolean {
  return field !== undefined && /^(?:day|instant)$/.test(field.type.name)
}

/** `given`: the columns as the file names them. `inUtc`: whether a column of days says that its times are in UTC. */
function toRecord(
  given: readonly string[],
  names: readonly string[],
  inUtc: readonly boolean[],
  row: CsvRow,
  read: ReturnType<typeof rowReader>,
  constants: FileReading['constants'],
): FileRecord {
  const { line, oddCell, damaged } = row
  const at = { line, source: row.cells }
  if (damaged !== undefined) {
    return {
      line,
      source: [damaged],
      problem: { field: 'record', expected: 'cells whose quotes are closed', got: damaged.slice(0, 120) },
    }
  }
  const leftOut = whyHeader(row.cells, given)
  const taken = leftOut === undefined ? read(row.cells) : { leftOut }
  if ('leftOut' in taken) {
    const named = row.cells.flatMap((cell, index) => (names[index] ? [[names[index], unguardedText(cell)]] : []))
    return { ...at, leftOut: taken.leftOut, value: { ...constants, ...Object.fromEntries(named) } }
  }
  const { cells } = taken
  // Where quotes are not as CSV has them, only the number of cells tells that they are the right ones.
  if (oddCell !== undefined && cells.length !== names.length) {
    const got = `${cells.length} cells, one of them ${oddCell.slice(0, 100)}`
    return { ...at, problem: { field: 'record', expected: `${names.length} cells, quotes within them doubled`, got } }
  }
  const value: Record<string, string> = { ...constants }
  for (const [index, cell] of cells.entries()) {
    const name = names[index]
    if (cell.includes('\0')) {
      return { ...at, problem: { field: name ?? 'record', expected: 'a text without U+0000', got: cell.slice(0, 120) } }
    }
    if (name === 'externalId' && isBlank(cell) && !names.includes('id')) value.externalId = ''
    if (isBlank(cell) || name === whyColumn) continue
    if (name === undefined) {
      return { ...at, problem: { field: 'record', expected: `${names.length} cells`, got: `${cells.length} cells` } }
    }
    if (name === '') {
      const expected = `no cell in column ${index + 1}, which has no name`
      return { ...at, problem: { field: 'record', expected, got: cell.slice(0, 120) } }
    }
    value[name] = inUtc[index] && endsInTime.test(cell.trim()) ? `${cell.trim()}Z` : unguardedText(cell)
  }
  const notice =
    oddCell === undefined
      ? undefined
      : { field: 'record', expected: 'quotes within a cell that are doubled', got: oddCell.slice(0, 120) }
  return { ...at, value: value satisfies ParsedObject, ...(notice && { notice }) }
}

/** Text in an encoding that its head has told. */
async function* decoded(
  chunks: AsyncIterable<Buffer>,
  encoding: string,
  given: string | undefined,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (error) {
    throw error instanceof TypeError ? notInEncoding(given) : error
  }
}

function notInEncoding(encoding: string | undefined): ServiceError {
  return new ServiceError(
    'input-unusable',
    encoding === undefined
      ? 'text that is not UTF-8: save it as "CSV UTF-8", or name its --encoding, such as windows-1252'
      : `text that is not ${encoding}`,
  )
}

/** The encoding that the byte order mark of a text names, else the one given, else that of UTF-16 where its zeros tell it. */
export function encodingOf(head: Buffer, given?: string): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0xef && head[1] === 0xbb) return 'utf-8'
  return given ?? utf16WithoutMark(head) ?? 'utf-8'
}

/** Of two bytes of a letter of most languages one is zero in UTF-16, and none in any other encoding of texts. */
function utf16WithoutMark(head: Buffer): string | undefined {
  const sample = head.subarray(0, 2000)
  const zeros = [0, 1].map((first) => sample.filter((byte, at) => at % 2 === first && byte === 0).length)
  const [even = 0, odd = 0] = zeros
  if (Math.max(even, odd) * 5 < sample.length || Math.min(even, odd) * 10 > Math.max(even, odd)) return undefined
  return odd > even ? 'utf-16le' : 'utf-16be'
}
