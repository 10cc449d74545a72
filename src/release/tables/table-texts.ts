import type { TableFormat } from '../../iati/addresses.js'
import { type Table, tables } from '../../iati/tables/tables.js'
import type { Connection } from '../../platform/database/connection.js'
import type { TextsOfFiles } from '../bytes/texts.js'
import { copyActivityRows } from '../sql/activity-rows.js'
import { ParquetTable } from './parquet-table.js'

/** What to write of the activities in segments `first` to `last`. */
export type WantedRows = {
  readonly first: number
  readonly last: number
  readonly format: TableFormat
  readonly tables: readonly Table[]
}

/** The sections of the wanted tables, in one pass over the activities: lines of CSV, or a Parquet file each. */
export function tableTexts(client: Connection, wanted: WantedRows): TextsOfFiles {
  const rows = copyActivityRows(client, wanted)
  return wanted.format === 'csv' ? csvTexts(rows, wanted.tables) : parquetTexts(rows, wanted.tables)
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
