import type { TableFormat } from '../../feeds/addresses.js'
import { type Table, tables } from '../../feeds/tables/tables.js'
import type { Connection } from '../../store/database/connection.js'
import { copyRows } from '../../store/database/copy-rows.js'
import { copyTablePartSql } from '../../store/publication/activity-rows.js'
import { ParquetTable } from './parquet-table.js'
import { tableHeader } from './table-pieces.js'

/** Texts of several files written together: each batch has those of each file. */
export type TextsOfFiles = AsyncGenerator<readonly (readonly Buffer[])[]>

/** What is written of these tables, in one pass over the activities of a part. */
export function tableTexts(
  client: Connection,
  part: number,
  format: TableFormat,
  wanted: readonly Table[],
): TextsOfFiles {
  return format === 'csv' ? csvTexts(client, part, wanted) : parquetTexts(client, part, wanted)
}

async function* csvTexts(client: Connection, part: number, wanted: readonly Table[]): TextsOfFiles {
  const places = tables.map((table) => wanted.indexOf(table))
  yield wanted.map((table) => [Buffer.from(tableHeader(table))])
  for await (const rows of copyRows(client, copyTablePartSql(part, 'csv'))) {
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

// Values of all tables that wait for their row groups: the largest table is written once there are more.
const maxWaiting = 4 * 1024 * 1024

async function* parquetTexts(client: Connection, part: number, wanted: readonly Table[]): TextsOfFiles {
  const files = tables.map((table) => new ParquetTable(table, { isWritten: wanted.includes(table) }))
  const written = wanted.map((table) => files[tables.indexOf(table)])
  const only = (file: ParquetTable | undefined, texts: Buffer[]) => written.map((one) => (one === file ? texts : []))
  for await (const rows of copyRows(client, copyTablePartSql(part, 'parquet'))) {
    for (const [piece] of rows) {
      if (!piece) throw new Error('an activity has no rows')
      let at = 0
      for (const file of files) at = file.add(piece, at)
    }
    while (waitingOf(files) > maxWaiting) {
      const largest = files.reduce((most, file) => (file.waiting > most.waiting ? file : most))
      yield only(largest, await largest.group())
    }
  }
  for (const file of written) if (file) yield only(file, await file.end())
}

function waitingOf(files: readonly ParquetTable[]): number {
  return files.reduce((sum, { waiting }) => sum + waiting, 0)
}
