import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { parquetMetadata } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import type { Column } from '../../iati/tables/columns.js'
import type { Table } from '../../iati/tables/tables.js'
import { deflated } from '../bytes/deflated.js'
import type { Span } from '../bytes/find-records.js'
import { endOfTwin, startOfTwin } from '../bytes/gzip.js'
import {
  type EncodedGroup,
  encodeGroup,
  encodeMetadata,
  type RowGroup,
  type SchemaElement,
} from './parquet-metadata.js'
import { presence } from './table-pieces.js'

type ColumnChunk = RowGroup['columns'][number]

const mark = Buffer.from('PAR1')

/**
 * A Parquet file being joined from the values of activities, in row groups of one page a column. Metadata and page headers are
 * hyparquet-writer's; its encoder of pages would take longer than writing all of the XML.
 */
export class ParquetTable {
  readonly #table: Table
  readonly #columns: readonly ColumnValues[]
  readonly #isWritten: boolean
  readonly #groups: EncodedGroup[] = []
  #rows = 0
  #waiting = 0
  #offset = 0

  /** With `isWritten` false, rows are passed over. */
  constructor(table: Table, { isWritten = true }: { readonly isWritten?: boolean } = {}) {
    this.#isWritten = isWritten
    this.#table = table
    this.#columns = table.columns.map((column) => new ColumnValues(column))
  }

  /** Bytes of pieces that wait for their row group. */
  get waiting(): number {
    return this.#waiting
  }

  /** Appends the rows of one activity, as `toActivityRows` wrote them, and returns where those of the next table begin. */
  add(piece: Buffer, start: number): number {
    const rows = piece.readUInt32LE(start)
    let at = start + 4
    if (rows === 0) return at
    if (this.#isWritten) this.#rows += rows
    for (const column of this.#columns) {
      const end = at + 4 + piece.readUInt32LE(at)
      if (this.#isWritten) column.add(piece, at + 4, end, rows)
      at = end
    }
    if (this.#isWritten) this.#waiting += at - start
    return at
  }

  /** The bytes of the row group that the waiting rows make; the file's first bytes come with the first. */
  async group(): Promise<Buffer[]> {
    const parts: Buffer[] = this.#offset === 0 ? [mark] : []
    this.#offset += parts.length * mark.length
    if (this.#rows === 0) return parts
    const columns: ColumnChunk[] = []
    const before = this.#offset
    const pages = await Promise.all(this.#columns.map((column) => column.page(this.#rows)))
    for (const { page, chunk } of pages) {
      parts.push(...page)
      columns.push(chunk(BigInt(this.#offset)))
      this.#offset += sizeOf(page)
    }
    const num_rows = BigInt(this.#rows)
    const total_byte_size = columns.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n)
    const total_compressed_size = BigInt(this.#offset - before)
    this.#groups.push(encodeGroup({ columns, num_rows, total_byte_size, total_compressed_size }))
    this.#rows = 0
    this.#waiting = 0
    return parts
  }

  /** The last row group and the end of the file. */
  async end(): Promise<Buffer[]> {
    return [...(await this.group()), parquetEnd(this.#table, this.#groups)]
  }
}

/** The end of a Parquet file of a table with these row groups. */
function parquetEnd({ columns }: Table, groups: readonly EncodedGroup[]): Buffer {
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.map(schemaElement)]
  return Buffer.concat([encodeMetadata(schema, groups), mark])
}

/** A Parquet file of the row groups of others: `start`, the spans of the files with their row groups, and `end`. */
export type JoinedParquet = { readonly start: string; readonly spans: readonly Span[]; readonly end: Buffer }

/** Joins Parquet files of a table. Row groups stay as they are; the end says where they are. */
export async function joinParquet(table: Table, files: readonly string[]): Promise<JoinedParquet> {
  const spans: Span[] = []
  const groups: EncodedGroup[] = []
  let at = mark.length
  for (const file of files) {
    const { end, metadata } = await readEnd(file)
    for (const group of metadata.row_groups) groups.push(encodeGroup(moved(group, BigInt(at - mark.length))))
    spans.push([mark.length, end])
    at += end - mark.length
  }
  return { start: mark.toString(), spans, end: parquetEnd(table, groups) }
}

// The length of the metadata and the mark.
const endBytes = 8

/** The metadata of a file, and where they begin. */
async function readEnd(file: string) {
  await using handle = await open(file)
  const { size } = await handle.stat()
  const { buffer: end } = await handle.read(Buffer.alloc(endBytes), 0, endBytes, size - endBytes)
  const length = end.readUInt32LE(0) + endBytes
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
  return { end: size - length, metadata: parquetMetadata(buffer) }
}

function moved(group: RowGroup, by: bigint): RowGroup {
  const columns = group.columns.map(({ file_offset, meta_data }) => {
    if (!meta_data) throw new Error('a row group has a column without metadata')
    return {
      file_offset: file_offset + by,
      meta_data: { ...meta_data, data_page_offset: meta_data.data_page_offset + by },
    }
  })
  return { ...group, columns }
}

const firstSize = 4_096
// For so few bytes a loop is faster than `copy`, which would be called a hundred times for an activity.
const shortCopy = 64

/** The values of a column that wait for their row group. The buffer is used again for the next. */
class ColumnValues {
  readonly #column: Column
  /** Lengths of the runs of absent and present values, alternately; the first run is absent. */
  #runs: number[] = [0]
  #values = Buffer.allocUnsafe(firstSize)
  length = 0

  constructor(column: Column) {
    this.#column = column
  }

  add(piece: Buffer, start: number, end: number, rows: number): void {
    const kind = piece[start]
    let at = start + 1
    if (kind !== presence.mixed) this.#run(kind === presence.all, rows)
    else for (const last = at + rows; at < last; at++) this.#run(piece[at] === 1, 1)
    this.#reserve(end - at)
    if (end - at > shortCopy) {
      this.length += piece.copy(this.#values, this.length, at, end)
      return
    }
    const values = this.#values
    let { length } = this
    while (at < end) values[length++] = piece[at++] as number
    this.length = length
  }

  #run(isPresent: boolean, rows: number): void {
    const { length } = this.#runs
    // Even indexes are runs of absent values, odd ones of present values.
    if ((length % 2 === 0) === isPresent) this.#runs[length - 1] = (this.#runs[length - 1] ?? 0) + rows
    else this.#runs.push(rows)
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.#values.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#values.length, this.length + bytes))
    this.#values.copy(larger, 0, 0, this.length)
    this.#values = larger
  }

  /** The page of the waiting values, and what the metadata say of it once its place in the file is known. */
  async page(rows: number): Promise<{ page: Buffer[]; chunk: (offset: bigint) => ColumnChunk }> {
    const { type } = schemaElement(this.#column)
    if (!type) throw new Error(`the column ${this.#column.name} has no type`)
    const levels = this.#column.required ? Buffer.alloc(0) : this.#definitionLevels()
    const nulls = this.#runs.reduce((sum, run, index) => (index % 2 === 0 ? sum + run : sum), 0)
    const size = levels.length + this.length
    const values = await gzipped(this.#values.subarray(0, this.length))
    this.length = 0
    this.#runs = [0]
    const header = new ByteWriter()
    writePageHeader(header, {
      type: 'DATA_PAGE_V2',
      ...{ uncompressed_page_size: size, compressed_page_size: levels.length + sizeOf(values) },
      data_page_header_v2: {
        ...{ num_values: rows, num_nulls: nulls, num_rows: rows, encoding: 'PLAIN', is_compressed: true },
        ...{ definition_levels_byte_length: levels.length, repetition_levels_byte_length: 0 },
      },
    })
    const head = Buffer.from(header.getBytes())
    return {
      page: [head, levels, ...values],
      chunk: (offset) => ({
        file_offset: offset,
        meta_data: {
          ...{ type, encodings: ['PLAIN', 'RLE'], path_in_schema: [this.#column.name], codec: 'GZIP' },
          num_values: BigInt(rows),
          total_uncompressed_size: BigInt(head.length + size),
          total_compressed_size: BigInt(head.length + levels.length + sizeOf(values)),
          data_page_offset: offset,
        },
      }),
    }
  }

  /** Which rows have a value: runs of the hybrid encoding of one bit. */
  #definitionLevels(): Buffer {
    const writer = new ByteWriter()
    this.#runs.forEach((rows, index) => {
      if (rows === 0) return
      writer.appendVarInt(rows << 1)
      writer.appendUint8(index % 2)
    })
    return Buffer.from(writer.getBytes())
  }
}

async function gzipped(values: Buffer): Promise<Buffer[]> {
  const blocks = values.length === 0 ? values : await deflated(values)
  return [startOfTwin(''), blocks, endOfTwin('', crc32(values), values.length)]
}

function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

function schemaElement({ name, type, scale = 0, required }: Column): SchemaElement {
  const repetition_type = required ? 'REQUIRED' : 'OPTIONAL'
  switch (type) {
    case 'string':
      return {
        ...{ name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
        logical_type: { type: 'STRING' },
      }
    case 'date':
      return { name, repetition_type, type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }
    case 'instant':
      return { name, repetition_type, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }
    case 'integer':
      return { name, repetition_type, type: 'INT32' }
    case 'decimal':
      return {
        ...{ name, repetition_type, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 },
        ...{ converted_type: 'DECIMAL', precision: 38, scale },
        logical_type: { type: 'DECIMAL', precision: 38, scale },
      }
    default:
      return type satisfies never
  }
}
