import { CsvError, parse } from 'csv-parse'
import { parse as parseOnce } from 'csv-parse/sync'
import { closestName } from '../../kernel/closest-name.js'
import { ServiceError } from '../../kernel/errors.js'
import { type ParsedObject, valueLimits } from '../wire/read/parsed-value.js'
import { type KindFields, missingFields } from './fields.js'
import { type FileRecord, whyColumn } from './file-record.js'
import { signsAtQuotes, withoutUnseenSigns } from './unseen-signs.js'

/** The columns of a CSV file, and its separator. */
export type CsvHeader = { readonly columns: readonly string[]; readonly delimiter: string }

/** How a CSV file is read that was not made for this program. */
export type CsvReading = {
  /** The fields that columns are, by the columns' names; an empty name leaves a column out. */
  readonly map?: ReadonlyMap<string, string> | undefined
  /** The encoding of a file without a byte order mark, as the WHATWG Encoding Standard names it; absent: UTF-8. */
  readonly encoding?: string | undefined
}

/** The columns with the names of fields. Throws `input-unusable` when `map` names a column that is not there. */
export function mapColumns(columns: readonly string[], map: ReadonlyMap<string, string> = new Map()): string[] {
  const missing = [...map.keys()].filter((name) => !columns.some((column) => sameName(column, name)))
  if (missing.length > 0) {
    const [absent, present] = [missing, columns].map((names) => names.slice(0, mostShown).map(shownColumn).join(', '))
    throw new ServiceError('input-unusable', `a first line without ${absent}, which --map names; it has ${present}`)
  }
  return columns.map((column) => {
    const [, field] = [...map].find(([name]) => sameName(column, name)) ?? []
    return field === undefined ? column : field === '' ? whyColumn : field
  })
}

const mostShown = 20

function sameName(one: string, other: string): boolean {
  return withoutUnseenSigns(one).toLowerCase() === withoutUnseenSigns(other).toLowerCase()
}

/** Reads the first line of a CSV file; in many countries spreadsheets separate cells by semicolons or tabs. */
export function readCsvHeader(head: Buffer, encoding?: string): CsvHeader {
  const text = new TextDecoder(encodingOf(head, encoding)).decode(head, { stream: true })
  const [line = ''] = /^[^\r\n]*/.exec(text) ?? []
  if (line.includes('\uFFFD')) throw notInEncoding(encoding)
  const outside = line.replace(/"[^"]*"/g, '')
  const delimiter = [',', ';', '\t'].reduce((best, one) =>
    outside.split(one).length > outside.split(best).length ? one : best,
  )
  try {
    const cells = signsAtQuotes()
    const options = { delimiter, trim: true, relax_column_count: true } as const
    const [columns = []] = parseOnce(cells(line) + cells(), options) as string[][]
    return { columns: columns.map(withoutUnseenSigns), delimiter }
  } catch (error) {
    throw new ServiceError('input-unusable', `its first line is not CSV: ${(error as Error).message}`)
  }
}

/**
 * Streams the rows of a CSV file with these fields as its columns, in any order and letter case. A row that cannot be used
 * has a problem; a wrong header or an unclosed quote throws `input-unusable`, since the rows after it cannot be found
 * reliably.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  { columns: given, delimiter }: CsvHeader,
  fields: KindFields,
  { map, encoding }: CsvReading = {},
): AsyncGenerator<FileRecord> {
  const columns = mapColumns(given, map)
  const names = matchColumns(columns, fields, given)
  let isHeader = true
  let lines = 0
  let emptyLines = 0
  let counted = 0
  // A parser that fails drops the rows that it holds, so it holds none: they are taken from it as soon as they are complete.
  let complete: FileRecord[] = []
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: valueLimits.characters,
    on_record: (cells: string[], info) => {
      // `info` counts to the end of a record that may have several lines, and both characters of a CRLF within quotes.
      const line = lines + 1 + info.empty_lines - emptyLines
      lines += info.lines - counted - cells.reduce((sum, cell) => sum + countLineEnds(cell), 0)
      counted = info.lines
      emptyLines = info.empty_lines
      const isEmpty = cells.every(isBlank)
      if (!isHeader && !isEmpty) complete.push(toRecord(names, line, cells))
      isHeader = false
      return null
    },
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  })
  let failure: Error | undefined
  parser.on('error', (error) => {
    failure = error
  })
  const parsed = async function* (run: (done: () => void) => void): AsyncGenerator<FileRecord> {
    await new Promise<void>(run)
    yield* complete
    complete = []
    if (failure instanceof CsvError) {
      const message = `from line ${lines + 1} on it is not CSV: ${failure.message}`
      throw new ServiceError('input-unusable', message, { cause: failure })
    }
    if (failure) throw failure
  }
  const text = signsAtQuotes()
  for await (const piece of decoded(chunks, encoding)) yield* parsed((done) => parser.write(text(piece), done))
  yield* parsed((done) => parser.end(text(), done))
}

/** The number of line ends of two characters. */
function countLineEnds(cell: string): number {
  return cell.includes('\r\n') ? cell.split('\r\n').length - 1 : 0
}

/** The names of the fields in the order of the columns; letter case does not matter. `given` is what the file calls them. */
function matchColumns(columns: readonly string[], fields: KindFields, given: readonly string[]): readonly string[] {
  const names = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]))
  const problems: string[] = []
  const found = new Set<string>()
  let isUnknown = false
  const matched = columns.map((column, index) => {
    if (column === '' || column.toLowerCase() === whyColumn) return column.toLowerCase()
    const name = names.get(column.toLowerCase())
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

function isBlank(cell: string): boolean {
  return withoutUnseenSigns(cell.trim()) === ''
}

function toRecord(names: readonly string[], line: number, cells: readonly string[]): FileRecord {
  const value: Record<string, string> = {}
  const at = { line, source: cells }
  for (const [index, cell] of cells.entries()) {
    const name = names[index]
    if (cell.includes('\0')) {
      return { ...at, problem: { field: name ?? 'record', expected: 'a text without U+0000', got: cell.slice(0, 120) } }
    }
    if (isBlank(cell) || name === whyColumn) continue
    if (name === undefined) {
      return { ...at, problem: { field: 'record', expected: `${names.length} cells`, got: `${cells.length} cells` } }
    }
    if (name === '') {
      const expected = `no cell in column ${index + 1}, which has no name`
      return { ...at, problem: { field: 'record', expected, got: cell.slice(0, 120) } }
    }
    value[name] = cell
  }
  return { ...at, value: value satisfies ParsedObject }
}

/** Text of UTF-8, or of UTF-16 with a byte order mark, as spreadsheets save it. */
async function* decoded(chunks: AsyncIterable<Buffer>, encoding?: string): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  try {
    for await (const chunk of chunks) {
      decoder ??= new TextDecoder(encodingOf(chunk, encoding), { fatal: true, ignoreBOM: true })
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder?.decode() ?? ''
  } catch (error) {
    throw error instanceof TypeError ? notInEncoding(encoding) : error
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

/** The encoding that the byte order mark of a text names, else the one given. */
export function encodingOf(head: Buffer, given = 'utf-8'): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : head[0] === 0xef && head[1] === 0xbb ? 'utf-8' : given
}
