import type { TableFormat } from '../../iati/addresses.js'
import { type Table, tables } from '../../iati/tables/tables.js'
import type { Connection } from '../../platform/database/connection.js'
import type { TextsOfFiles } from '../bytes/texts.js'
import { copyActivityRows, copySlices } from '../sql/activity-rows.js'
import { ParquetTable } from './parquet-table.js'

/** A table in one of its formats. */
export type TableFile = { readonly table: Table; readonly format: TableFormat }

/** What to write of the activities in segments `first` to `last`. */
export type WantedRows<File> = { readonly first: number; readonly last: number; readonly files: readonly File[] }

/** So few files are written in one pass, which reads the rows of their tables alone. */
export const fewFiles = tables.length

/** The sections of the wanted tables, in one pass over the activities: lines of CSV, or a Parquet file each. */
export function tableTexts(
  client: Connection,
  format: TableFormat,
  { first, last, files }: WantedRows<TableFile>,
): TextsOfFiles {
  const rows = copyActivityRows(client, { first, last, format })
  const wanted = files.map(({ table }) => table)
  return format === 'csv' ? csvTexts(rows, wanted) : parquetTexts(rows, wanted)
}

/** As `tableTexts`, of few files in any format. */
export async function* textsOfFew(client: Connection, { first, last, files }: WantedRows<TableFile>): TextsOfFiles {
  const slices = files.map(({ table, format }) => ({ format, place: tables.indexOf(table) }))
  const parquet = files.map(({ table, format }) => (format === 'parquet' ? new ParquetTable(table) : undefined))
  const only = (index: number, texts: Buffer[]) => files.map((_, file) => (file === index ? texts : []))
  for await (const rows of copySlices(client, { first, last, slices })) {
    let lines: Buffer[][] = files.map(() => [])
    for (const fields of rows) {
      for (const [index, file] of parquet.entries()) {
        const piece = fields[index]
        if (!piece?.length) throw new Error('an activity has no rows')
        if (!file) {
          if (piece.length > 4) lines[index]?.push(piece.subarray(4))
          continue
        }
        file.add(piece, 0)
        if (file.waiting <= fullGroup) continue
        yield lines
        lines = files.map(() => [])
        yield only(index, await file.group())
      }
    }
    yield lines
  }
  for (const [index, file] of parquet.entries()) if (file) yield only(index, await file.end())
}

type Pieces = AsyncIterable<Buffer[][]>

async function* csvTexts(pieces: Pieces, wanted: readonly Table[]): TextsOfFiles {
  const places = tables.map((table) => wanted.indexOf(table))
  for await (const rows of pieces) {
    const texts: Buffer[][] = wanted.map(() => [])
    for (const [piece] of rows) {
      if (!piece) throw new Error('an activity has no rows')
      let at = 0
      for (const place of places) {
        const end = at + 4 + piece.readUInt32LE(at)
        if (end > at + 4) texts[place]?.push(piece.subarray(at + 4, end))
        at = end
      }
    }
    yield texts
  }
}

// Bytes of values of a table that make a row group. Neither the other tables that are written nor how rows arrive decide where it
// ends: equal rows have equal bytes.
const fullGroup = 1024 * 1024

async function* parquetTexts(pieces: Pieces, wanted: readonly Table[]): TextsOfFiles {
  const files = tables.map((table) => new ParquetTable(table, { isWritten: wanted.includes(table) }))
  const written = wanted.map((table) => files[tables.indexOf(table)])
  const only = (file: ParquetTable | undefined, texts: Buffer[]) => written.map((one) => (one === file ? texts : []))
  for await (const rows of pieces) {
    for (const [piece] of rows) {
      if (!piece) throw new Error('an activity has no rows')
      let at = 0
      for (const file of files) {
        at = file.add(piece, at)
        if (file.waiting > fullGroup) yield only(file, await file.group())
      }
    }
  }
  for (const file of written) if (file) yield only(file, await file.end())
}
