import { hash } from 'node:crypto'
import type { Column } from '../../iati/tables/columns.js'
import { rowsOf, type Table, tables, tablesVersion } from '../../iati/tables/tables.js'
import { cellOfCsv } from '../../kernel/csv.js'
import { type Decimal, toMinorUnits } from '../../kernel/money.js'
import { spreadsheetText } from '../../kernel/spreadsheet-text.js'
import type { Element } from '../../kernel/xml/element.js'
import { atOnce } from '../../kernel/yielder.js'
import { indexFormat } from '../read/activity-entry.js'
import type { RowsFormat } from '../sql/segments.js'

/**
 * The rows of one activity in the bytes that files of tables are joined from, so that assembling a release only copies them:
 * `csv` has the lines of each table after their length, `parquet` the values of each column as Parquet's plain encoding has
 * them. `hashes` has `hashBytes` for each table, `ends` says where the rows of each end in `csv`, then where in `parquet`.
 */
export type ActivityRows = {
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly csv: Buffer
  readonly parquet: Buffer
  readonly ends: readonly number[]
}

// Bytes kept of the hash of a table's rows: enough to see a change, too few to withstand an attacker.
const hashBytes = 8

// Raise it with every change of how the same rows and entry are stored.
const storedFormat = 2

/** The rows of an activity as they are stored, with its entry of the index. */
export const rowsFormat: RowsFormat = {
  version: (tablesVersion * 1000 + indexFormat) * 10 + storedFormat,
  tables: tables.length,
  hashBytes,
}

const hashOfNone = hash('sha256', '').slice(0, 2 * hashBytes)

type Row = readonly (string | undefined)[]

/** Whether the rows of a piece have a value in a column. */
export const presence = { none: 0, all: 1, mixed: 2 } as const

export function toActivityRows(activity: Element): ActivityRows {
  return atOnce(activityRowsSteps(activity))
}

// Rows that are made in one step.
const rowsOfStep = 500

/** The rows of an activity; yields after each table, and between the rows of a large one. */
export function* activityRowsSteps(activity: Element): Generator<void, ActivityRows> {
  const counts: number[] = []
  const [csvEnds, parquetEnds]: [number[], number[]] = [[], []]
  let hashes = ''
  const both = unused.pop() ?? ([new Bytes(), new Bytes()] as const)
  const [csv, parquet] = both
  csv.clear()
  parquet.clear()
  for (const table of tables) {
    const rows: Row[] = []
    let lines = ''
    for (const row of rowsOf(table, activity)) {
      lines += csvLine(table.columns, row)
      if (rows.push(row) % rowsOfStep === 0) yield
    }
    counts.push(rows.length)
    csv.text(lines)
    hashes += lines === '' ? hashOfNone : hash('sha256', lines).slice(0, 2 * hashBytes)
    yield* writeColumns(parquet, table, rows)
    csvEnds.push(csv.used)
    parquetEnds.push(parquet.used)
    if (rows.length > 0) yield
  }
  const ends = [...csvEnds, ...parquetEnds]
  const made = { counts, ends, hashes: Buffer.from(hashes, 'hex'), csv: csv.copy(), parquet: parquet.copy() }
  unused.push(both)
  return made
}

/** The first line of a table's CSV file. */
export function tableHeader({ columns }: Table): string {
  return `${columns.map(({ name }) => name).join(',')}\r\n`
}

function csvLine(columns: readonly Column[], row: Row): string {
  let line = ''
  for (let index = 0; index < columns.length; index++) {
    if (index > 0) line += ','
    const value = row[index]
    if (value !== undefined) line += special.test(value) ? csvCell(columns[index] as Column, value) : value
  }
  return `${line}\r\n`
}

// One search finds the values that are written as they are: nearly all.
const special = /[",\r\n]|^[\s=+\-@|＝＋－＠｜]|\s$/
const needsQuotes = /[",\r\n]|^\s|\s$/
/** A cell of RFC 4180; a text that a spreadsheet could take for a formula gets an apostrophe before it. */
function csvCell({ type }: Column, value: string): string {
  const safe = type === 'string' ? spreadsheetText(value) : value
  return cellOfCsv(safe, needsQuotes)
}

function* writeColumns(bytes: Bytes, { columns }: Table, rows: readonly Row[]): Generator<void, void> {
  bytes.unsigned(rows.length)
  if (rows.length === 0) return
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as Column
    const length = bytes.reserve()
    let present = 0
    for (const row of rows) if (row[index] !== undefined) present++
    const kind = present === rows.length ? presence.all : present === 0 ? presence.none : presence.mixed
    bytes.byte(kind)
    if (kind === presence.mixed) for (const row of rows) bytes.byte(row[index] === undefined ? 0 : 1)
    for (const row of rows) {
      const value = row[index]
      if (value !== undefined) writeValue(bytes, column, value)
    }
    bytes.fill(length)
    if (rows.length > rowsOfStep) yield
  }
}

function writeValue(bytes: Bytes, { type, scale = 0 }: Column, value: string): void {
  if (type === 'string') bytes.text(value)
  else if (type === 'date') bytes.signed(Date.parse(value) / 86_400_000)
  else if (type === 'instant') bytes.long(BigInt(Date.parse(value)))
  else if (type === 'integer') bytes.signed(Number(value))
  else bytes.wide(toMinorUnits(value as Decimal, scale))
}

const firstSize = 65_536
const shortText = 48

/** Bytes being written, little-endian. */
class Bytes {
  #buffer = Buffer.allocUnsafe(firstSize)
  #used = 0

  get used(): number {
    return this.#used
  }

  clear(): void {
    this.#used = 0
  }

  text(text: string): void {
    const at = this.reserve(text.length * 3)
    if (!this.#writeShort(text)) this.#used = at + this.#buffer.write(text, at, 'utf8')
    this.fill(at)
  }

  /** Writes a short ASCII text, as most are: a loop is faster than `write`. */
  #writeShort(text: string): boolean {
    if (text.length > shortText) return false
    const buffer = this.#buffer
    let at = this.#used
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      buffer[at++] = code
    }
    this.#used = at
    return true
  }

  byte(value: number): void {
    this.#take(1)
    this.#buffer[this.#used++] = value
  }

  unsigned(value: number): void {
    this.#take(4)
    this.#used = this.#buffer.writeUInt32LE(value, this.#used)
  }

  signed(value: number): void {
    this.#take(4)
    this.#used = this.#buffer.writeInt32LE(value, this.#used)
  }

  long(value: bigint): void {
    this.#take(8)
    this.#used = this.#buffer.writeBigInt64LE(value, this.#used)
  }

  /** 16 bytes, big-endian: a decimal of Parquet. */
  wide(value: bigint): void {
    this.#take(16)
    this.#used = this.#buffer.writeBigInt64BE(BigInt.asIntN(64, value >> 64n), this.#used)
    this.#used = this.#buffer.writeBigUInt64BE(BigInt.asUintN(64, value), this.#used)
  }

  /** Leaves room for the length of what is written until `fill`, and for as many bytes. */
  reserve(bytes = 0): number {
    this.#take(4 + bytes)
    this.#used += 4
    return this.#used
  }

  /** Writes the length of what was written since `reserve`. */
  fill(from: number): void {
    this.#buffer.writeUInt32LE(this.#used - from, from - 4)
  }

  copy(): Buffer {
    return Buffer.copyBytesFrom(this.#buffer, 0, this.#used)
  }

  #take(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#used + bytes))
    this.#buffer.copy(larger, 0, 0, this.#used)
    this.#buffer = larger
  }
}

// Used again for other activities: filling new memory is slower. Each is of one activity at a time.
const unused: (readonly [csv: Bytes, parquet: Bytes])[] = []
