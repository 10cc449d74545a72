import { createHash } from 'node:crypto'
import { type Decimal, toMinorUnits } from '../../domain/money.js'
import type { Column } from '../../feeds/tables/columns.js'
import { rowsOf, type Table, tables, tablesVersion } from '../../feeds/tables/tables.js'
import type { RowsFormat } from '../../store/publication/segments.js'
import type { Element } from '../../xml/element.js'

/**
 * The rows of one activity in the bytes that files of tables are joined from, so that assembling a release only copies them:
 * `csv` has the lines of each table after their length, `parquet` the values of each column as Parquet's plain encoding has
 * them. `hashes` has `hashBytes` for each table.
 */
export type ActivityRows = {
  readonly counts: readonly number[]
  readonly hashes: Buffer
  readonly csv: Buffer
  readonly parquet: Buffer
}

// Of the hash of a table's rows, of which there are many: enough to tell two apart, not against an attacker.
const hashBytes = 8

/** The rows of an activity as they are stored. */
export const rowsFormat: RowsFormat = { version: tablesVersion, tables: tables.length, hashBytes }

type Row = readonly (string | undefined)[]

/** Whether the rows of a piece have a value in a column. */
export const presence = { none: 0, all: 1, mixed: 2 } as const

export function toActivityRows(activity: Element): ActivityRows {
  const all = tables.map((table) => ({ table, rows: rowsOf(table, activity) }))
  const csv = new Bytes()
  const parquet = new Bytes()
  const hashes: Buffer[] = []
  for (const { table, rows } of all) {
    const lines = rows.map((row) => csvLine(table.columns, row)).join('')
    csv.text(lines)
    hashes.push(createHash('sha256').update(lines).digest().subarray(0, hashBytes))
    writeColumns(parquet, table, rows)
  }
  return {
    counts: all.map(({ rows }) => rows.length),
    ...{ hashes: Buffer.concat(hashes), csv: csv.copy(), parquet: parquet.copy() },
  }
}

/** The first line of a table's CSV file. */
export function tableHeader({ columns }: Table): string {
  return `${columns.map(({ name }) => name).join(',')}\r\n`
}

function csvLine(columns: readonly Column[], row: Row): string {
  let line = ''
  for (const [index, column] of columns.entries()) line += `${index === 0 ? '' : ','}${csvCell(column, row[index])}`
  return `${line}\r\n`
}

const needsQuotes = /[",\r\n]|^\s|\s$/
// What a spreadsheet takes for the begin of a formula.
const looksLikeFormula = /^[=+\-@\t\r]/

/** A cell of RFC 4180; a text that a spreadsheet could take for a formula gets an apostrophe before it. */
function csvCell({ type }: Column, value = ''): string {
  const safe = type === 'string' && looksLikeFormula.test(value) ? `'${value}` : value
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function writeColumns(bytes: Bytes, { columns }: Table, rows: readonly Row[]): void {
  bytes.unsigned(rows.length)
  if (rows.length === 0) return
  for (const [index, column] of columns.entries()) {
    const length = bytes.reserve()
    const missing = rows.filter((row) => row[index] === undefined).length
    const kind = missing === 0 ? presence.all : missing === rows.length ? presence.none : presence.mixed
    bytes.byte(kind)
    if (kind === presence.mixed) for (const row of rows) bytes.byte(row[index] === undefined ? 0 : 1)
    for (const row of rows) {
      const value = row[index]
      if (value !== undefined) writeValue(bytes, column, value)
    }
    bytes.fill(length)
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

/** Bytes being written, little-endian. */
class Bytes {
  #buffer = Buffer.allocUnsafe(firstSize)
  #used = 0

  text(text: string): void {
    const at = this.reserve(text.length * 3)
    this.#used += this.#buffer.write(text, this.#used, 'utf8')
    this.fill(at)
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
    return Buffer.from(this.#buffer.subarray(0, this.#used))
  }

  #take(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#used + bytes))
    this.#buffer.copy(larger, 0, 0, this.#used)
    this.#buffer = larger
  }
}
