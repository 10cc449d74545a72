import { posix } from 'node:path'
import { cellOfCsv } from '../../kernel/csv.js'
import { ServiceError } from '../../kernel/errors.js'
import { ofEach } from '../../kernel/rows.js'
import type { Element } from '../../kernel/xml/element.js'
import { streamElements, type XmlLimits } from '../../kernel/xml/reader.js'
import type { FileReading } from '../sql/reading.js'
import { SharedTexts } from './shared-texts.js'
import { cellFormats, dayOfSerial, type SheetFormat } from './sheet-formats.js'
import type { Growth, ZipEntry } from './zip-archive.js'

const quoted = /[",\r\n]|^\s|\s$/

/** The sheet that is read of a workbook, and what is known of it once it was read to its end. */
export type Sheet = {
  readonly name: string
  /** Other sheets that are seen and have rows. */
  readonly others: readonly string[]
  readonly hidden: { rows: number; first: number }
  /** Columns, from 0, with cells that were merged over rows. */
  readonly merged: Set<number>
}

/** A sheet as CSV. */
type SheetFile = {
  readonly name: string
  readonly sheet: Sheet
  chunks(signal?: AbortSignal): AsyncGenerator<Buffer>
}

/** Which sheet: the one that the reading names, else the only one, or else the first one, for a guess. */
export type SheetChoice = 'named' | 'first'

// A row of a table is small; a sheet of Excel has no more rows and columns than that.
const rowLimits: XmlLimits = { depth: 16, elements: 40_000, attributes: 40, characters: 8 * 1024 * 1024 }
const partLimits: XmlLimits = { depth: 16, elements: 400_000, attributes: 100, characters: 32 * 1024 * 1024 }
const mostRows = 1_048_576
const mostColumns = 1_000
const mostMerged = 1_000_000
const chunkCharacters = 65_536
// Of a million rows a sheet is less, and is seldom a tenth of that packed.
const growth: Growth = { most: 512 * 1024 * 1024, times: 100 }

/** Whether a ZIP archive is a workbook of Excel (ECMA-376), of any kind. */
export function isWorkbook(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => /^xl\/workbook\.(?:xml|bin)$/i.test(name))
}

// A file is opened once to look at it and once to read it: its texts are kept while there is room.
let lastTexts: { readonly version: string; readonly texts: WeakRef<Promise<SharedTexts>> } | undefined

/** Opens a sheet of a workbook; `version` is another one for other bytes. Throws `input-unusable` for workbooks that cannot be read, by the reason. */
export async function openSheet(
  file: string,
  version: string,
  entries: readonly ZipEntry[],
  reading: FileReading,
  choice: SheetChoice,
): Promise<SheetFile> {
  const parts = partsOf(entries)
  const { sheets, is1904 } = await readWorkbook(parts)
  const { entry, sheet } = await chooseSheet(sheets, reading.sheet, choice)
  const formats = await readFormats(parts, is1904)
  let texts: Promise<SharedTexts> | undefined
  const textsOf = () => {
    texts ??= (lastTexts?.version === version ? lastTexts.texts.deref() : undefined) ?? readSharedTexts(parts)
    lastTexts = { version, texts: new WeakRef(texts) }
    return texts
  }
  return {
    name: file,
    sheet,
    chunks: async function* (signal) {
      const writer = new SheetWriter(sheet, formats, await textsOf(), reading.decimal === 'comma')
      yield* writer.csv(entry.chunks(signal, growth))
    },
  }
}

type Parts = ReadonlyMap<string, ZipEntry>

function partsOf(entries: readonly ZipEntry[]): Parts {
  const parts = new Map<string, ZipEntry>()
  for (const entry of entries) {
    const name = entry.name.toLowerCase()
    if (parts.has(name)) throw unusable(`a damaged workbook, which has ${entry.name.slice(0, 100)} twice`)
    parts.set(name, entry)
  }
  const has = (pattern: RegExp) => [...parts.keys()].some((name) => pattern.test(name))
  if (has(/^xl\/workbook\.bin$/)) throw unusable('a binary workbook (.xlsb): save it as .xlsx')
  if (has(/vbaproject|^xl\/macrosheets\//)) throw unusable('a workbook with macros (.xlsm): save it as .xlsx')
  if (has(/^xl\/externallinks\//))
    throw unusable('a workbook with links to other files, whose values may be old: end the links (Data, Edit Links)')
  return parts
}

/** The children of a part's root; none of one that is not there. */
async function* childrenOf(parts: Parts, name: string, depth = 1): AsyncGenerator<Element> {
  const part = parts.get(name.toLowerCase())
  if (part) yield* readXml(part.chunks(undefined, growth), depth, partLimits)
}

async function* readXml(chunks: AsyncIterable<Buffer>, depth: number, limits: XmlLimits): AsyncGenerator<Element> {
  try {
    yield* streamElements(chunks, { depth, limits })
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'input-unusable') throw error
    throw unusable(`a damaged workbook: ${error.message}`)
  }
}

/** A name without the prefix of its namespace. */
function localName({ name }: Element): string {
  return name.slice(name.indexOf(':') + 1)
}

type ListedSheet = { readonly name: string; readonly isSeen: boolean; readonly entry: ZipEntry }

async function readWorkbook(parts: Parts): Promise<{ sheets: ListedSheet[]; is1904: boolean }> {
  const targets = new Map<string, ZipEntry>()
  for await (const one of childrenOf(parts, 'xl/_rels/workbook.xml.rels')) {
    const { Id = '', Target = '', Type = '', TargetMode } = one.attributes
    const name = Target.startsWith('/') ? Target.slice(1) : posix.join('xl', Target)
    const entry = TargetMode === 'External' ? undefined : parts.get(name.toLowerCase())
    if (entry && Type.endsWith('/worksheet')) targets.set(Id, entry)
  }
  const sheets: ListedSheet[] = []
  let is1904 = false
  for await (const part of childrenOf(parts, 'xl/workbook.xml')) {
    if (localName(part) === 'workbookPr') is1904 = /^(?:1|true)$/.test(part.attributes.date1904 ?? '')
    if (localName(part) !== 'sheets') continue
    for (const sheet of part.children) {
      const entry = targets.get(Object.entries(sheet.attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? '')
      const { name = '', state = 'visible' } = sheet.attributes
      if (entry) sheets.push({ name, isSeen: state === 'visible', entry })
    }
  }
  return { sheets, is1904 }
}

async function chooseSheet(
  sheets: readonly ListedSheet[],
  named: string | undefined,
  choice: SheetChoice,
): Promise<{ readonly entry: ZipEntry; readonly sheet: Sheet }> {
  const of = ({ name, entry }: ListedSheet, others: readonly string[]) => ({
    entry,
    sheet: { name, others, hidden: { rows: 0, first: 0 }, merged: new Set<number>() },
  })
  const listed = (some: readonly ListedSheet[]) =>
    some
      .slice(0, 20)
      .map(({ name }) => JSON.stringify(name.slice(0, 60)))
      .join(', ')
  if (named !== undefined) {
    const found = sheets.find(({ name }) => name.trim().toLowerCase() === named.trim().toLowerCase())
    if (!found) throw unusable(`a workbook without the sheet ${JSON.stringify(named)}; it has ${listed(sheets)}`)
    return of(found, [])
  }
  const filled: ListedSheet[] = []
  for (const one of sheets) if (one.isSeen && (await hasRows(one.entry))) filled.push(one)
  const [first, ...others] = filled
  if (!first) throw unusable('a workbook without a sheet that is seen and has rows')
  if (others.length > 0 && choice === 'named')
    throw unusable(`a workbook with the sheets ${listed(filled)}: name one with --sheet, or as sheet in a recipe`)
  return of(first, ofEach(others, 'name'))
}

async function hasRows(entry: ZipEntry): Promise<boolean> {
  for await (const row of readXml(entry.chunks(undefined, growth), 2, rowLimits)) {
    if (localName(row) === 'row' && row.children.some(({ children }) => children.length > 0)) return true
  }
  return false
}

async function readFormats(parts: Parts, is1904: boolean): Promise<readonly SheetFormat[]> {
  const codes = new Map<string, string>()
  const ids: string[] = []
  for await (const part of childrenOf(parts, 'xl/styles.xml')) {
    if (localName(part) === 'numFmts') {
      for (const { attributes } of part.children) codes.set(attributes.numFmtId ?? '', attributes.formatCode ?? '')
    } else if (localName(part) === 'cellXfs')
      ids.push(...part.children.map(({ attributes }) => attributes.numFmtId ?? '0'))
  }
  return cellFormats(ids, codes, is1904)
}

async function readSharedTexts(parts: Parts): Promise<SharedTexts> {
  const texts = new SharedTexts()
  for await (const item of childrenOf(parts, 'xl/sharedStrings.xml')) {
    if (localName(item) === 'si') texts.add(textOf(item))
  }
  return texts
}

/** The text of a shared or inline string: its runs, without how it is read aloud. */
function textOf(item: Element): string {
  const text = item.children
    .map((part) => {
      if (localName(part) === 't') return part.text
      return localName(part) === 'r' ? textOf(part) : ''
    })
    .join('')
  return unescaped(text)
}

/** ECMA-376 22.9.2.19: signs that XML may not have, and `_` before what looks like one of them. */
function unescaped(text: string): string {
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** Writes the rows of a sheet as CSV. A row without cells is an empty line, so that each line has the number of its row. */
class SheetWriter {
  readonly #sheet: Sheet
  readonly #formats: readonly SheetFormat[]
  readonly #texts: SharedTexts
  readonly #hasComma: boolean
  #row = 0
  #width = 0

  constructor(sheet: Sheet, formats: readonly SheetFormat[], texts: SharedTexts, hasComma: boolean) {
    this.#sheet = sheet
    this.#formats = formats
    this.#texts = texts
    this.#hasComma = hasComma
  }

  async *csv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { hidden, merged } = this.#sheet
    hidden.rows = 0
    merged.clear()
    let ranges = 0
    // A byte order mark counts before any encoding that a recipe names.
    let text = '\uFEFF'
    for await (const one of readXml(chunks, 2, rowLimits)) {
      const name = localName(one)
      if (name === 'row') text += this.#line(one)
      else if (name === 'mergeCell') {
        if (++ranges > mostMerged) throw unusable(`a sheet with more than ${mostMerged} merged cells`)
        const [, column = '', first = '', , last = ''] =
          /^\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)$/.exec(one.attributes.ref ?? '') ?? []
        if (first !== last && columnOf(column) < mostColumns) merged.add(columnOf(column))
      }
      if (text.length >= chunkCharacters) {
        yield Buffer.from(text)
        text = ''
      }
    }
    yield Buffer.from(text)
  }

  #line(row: Element): string {
    const at = row.attributes.r === undefined ? this.#row + 1 : Number(row.attributes.r)
    if (!Number.isInteger(at) || at <= this.#row || at > mostRows)
      throw unusable(`a damaged sheet, whose row behind ${this.#row} is ${String(row.attributes.r).slice(0, 20)}`)
    const skipped = '\n'.repeat(at - this.#row - 1)
    this.#row = at
    const cells: string[] = []
    let column = -1
    for (const cell of row.children) {
      if (localName(cell) !== 'c') continue
      const ref = cell.attributes.r
      column = ref === undefined ? column + 1 : columnOf(ref.replace(/\d+$/, ''))
      const text = this.#cell(cell)
      if (text === '') continue
      if (!(column >= 0 && column < mostColumns))
        throw unusable(`a sheet with cells beyond its ${mostColumns}th column, in row ${at}: remove them`)
      while (cells.length < column) cells.push('')
      cells[column] = cellOfCsv(text, quoted)
    }
    if (cells.length === 0) return `${skipped}\n`
    const { hidden } = this.#sheet
    if (/^(?:1|true)$/.test(row.attributes.hidden ?? '')) {
      if (hidden.rows === 0) hidden.first = at
      hidden.rows++
    }
    // A row that lacked its last cells would look like one that was cut.
    this.#width = Math.max(this.#width, cells.length)
    while (cells.length < this.#width) cells.push('')
    return `${skipped}${cells.join(',')}\n`
  }

  #cell(cell: Element): string {
    const { t: type = 'n', s: style = '0' } = cell.attributes
    const part = (name: string) => cell.children.find((child) => localName(child) === name)
    const value = part('v')?.text.trim()
    if (type === 'inlineStr') return textOf(part('is') ?? cell)
    const formula = part('f')
    // A program that wrote it has not calculated it: what it is worth is not in the file.
    if (formula && (value === undefined || value === '')) return type === 'str' ? '' : `=${formula.text || '?'}`
    if (value === undefined || value === '') return ''
    if (type === 's') return this.#texts.at(Number(value))
    if (type === 'str') return unescaped(value)
    if (type === 'b') return value === '1' || value === 'true' ? 'TRUE' : 'FALSE'
    if (type !== 'n') return value
    const format = this.#formats[Number(style)]
    const number = plainNumber(format?.mark === '%' ? String(Number(value) * 100) : value)
    if (number === undefined) return value
    if (format?.isDay) return dayOfSerial(Number(value), format.is1904)
    const shown = this.#hasComma ? number.replace('.', ',') : number
    return format?.mark === undefined ? shown : `${shown} ${format.mark}`
  }
}

/** A column by its letters, from 0; NaN for others. */
function columnOf(letters: string): number {
  if (!/^[A-Z]{1,3}$/.test(letters)) return Number.NaN
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** A number with the 15 digits that Excel shows, without an exponent. */
function plainNumber(raw: string): string | undefined {
  if (!/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(raw)) return undefined
  if (/^-?\d{1,15}$/.test(raw)) return raw
  const value = Number(Number(raw).toPrecision(15))
  if (!Number.isFinite(value)) return undefined
  const text = String(value)
  if (!text.includes('e')) return text
  return value.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 15 })
}

function unusable(what: string): ServiceError {
  return new ServiceError('input-unusable', what)
}
