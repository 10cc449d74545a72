import { CsvError, parse } from 'csv-parse'
import { parse as parseOnce } from 'csv-parse/sync'
import { ServiceError } from '../../kernel/errors.js'
import { type ParsedObject, valueLimits } from '../wire/read/parsed-value.js'
import { type KindFields, missingFields } from './fields.js'
import { type FileRecord, whyColumn } from './file-record.js'

/** The columns of a CSV file, and its separator. */
export type CsvHeader = { readonly columns: readonly string[]; readonly delimiter: string }

/** How a CSV file is read that was not made for this program. */
export type CsvReading = {
  /** The fields that columns are, by the columns' names; an empty name leaves a column out. */
  readonly map?: ReadonlyMap<string, string> | undefined
  /** The encoding of a file without a byte order mark, as the WHATWG Encoding Standard names it; absent: UTF-8. */
  readonly encoding?: string | undefined
}

/** The columns with the names of fields. Throws `input-unusable` when the mapping names a column that is not there. */
export function mapColumns(columns: readonly string[], map: ReadonlyMap<string, string> = new Map()): string[] {
  const missing = [...map.keys()].filter((name) => !columns.some((column) => sameName(column, name)))
  if (missing.length > 0) {
    const names = missing.map((name) => JSON.stringify(name)).join(', ')
    throw new ServiceError('input-unusable', `a first line without ${names}, which --map names`)
  }
  return columns.map((column) => {
    const [, field] = [...map].find(([name]) => sameName(column, name)) ?? []
    return field === undefined ? column : field === '' ? whyColumn : field
  })
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Reads the first line of a CSV file; in many countries spreadsheets separate cells by semicolons or tabs. */
export function readCsvHeader(head: string): CsvHeader {
  const [line = ''] = /^[^\r\n]*/.exec(head.replace(/^\uFEFF/, '')) ?? []
  const outside = line.replace(/"[^"]*"/g, '')
  const delimiter = [',', ';', '\t'].reduce((best, one) =>
    outside.split(one).length > outside.split(best).length ? one : best,
  )
  try {
    const [columns = []] = parseOnce(line, { delimiter, trim: true, relax_column_count: true }) as string[][]
    return { columns, delimiter }
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
  { columns, delimiter }: CsvHeader,
  fields: KindFields,
  encoding?: string,
): AsyncGenerator<FileRecord> {
  const names = matchColumns(columns, fields)
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
      const isEmpty = cells.every((cell) => cell.trim() === '')
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
  for await (const text of decoded(chunks, encoding)) yield* parsed((done) => parser.write(text, done))
  yield* parsed((done) => parser.end(done))
}

/** The number of line ends of two characters. */
function countLineEnds(cell: string): number {
  return cell.includes('\r\n') ? cell.split('\r\n').length - 1 : 0
}

/** The names of the fields in the order of the columns; letter case does not matter. */
function matchColumns(columns: readonly string[], fields: KindFields): readonly string[] {
  const names = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]))
  const problems: string[] = []
  const found = new Set<string>()
  const matched = columns.map((column) => {
    if (column.toLowerCase() === whyColumn) return whyColumn
    const name = names.get(column.toLowerCase())
    if (name === undefined) problems.push(`unknown column ${JSON.stringify(column.slice(0, 100))}`)
    else if (found.has(name)) problems.push(`column ${name} twice`)
    else found.add(name)
    return name ?? ''
  })
  for (const name of missingFields(fields, (field) => found.has(field))) problems.push(`no column ${name}`)
  if (problems.length === 0) return matched
  throw new ServiceError('input-unusable', `a first line with ${problems.join(', ')}`)
}

function toRecord(names: readonly string[], line: number, cells: readonly string[]): FileRecord {
  const value: Record<string, string> = {}
  const at = { line, source: cells }
  for (const [index, cell] of cells.entries()) {
    const name = names[index]
    if (cell.includes('\0')) {
      return { ...at, problem: { field: name ?? 'record', expected: 'a text without U+0000', got: cell.slice(0, 120) } }
    }
    if (cell === '' || name === whyColumn) continue
    if (name === undefined) {
      return { ...at, problem: { field: 'record', expected: `${names.length} cells`, got: `${cells.length} cells` } }
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
    if (!(error instanceof TypeError)) throw error
    throw new ServiceError(
      'input-unusable',
      encoding === undefined
        ? 'text that is not UTF-8: save it as "CSV UTF-8", or name its --encoding'
        : `text that is not ${encoding}`,
      { cause: error },
    )
  }
}

/** The encoding that the byte order mark of a text names, else the one given. */
export function encodingOf(head: Buffer, given = 'utf-8'): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : head[0] === 0xef && head[1] === 0xbb ? 'utf-8' : given
}
