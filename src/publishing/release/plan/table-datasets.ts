import { noNotices } from '../../../domain/notice.js'
import { type TableFormat, tableFormats, tablePath } from '../../../feeds/addresses.js'
import { tables, tablesVersion } from '../../../feeds/tables/tables.js'
import type { Db } from '../../../store/database/connection.js'
import { listTableParts } from '../../../store/publication/activity-rows.js'
import { hashBytes } from '../../tables/table-pieces.js'
import { tableTexts } from '../../tables/table-texts.js'
import type { Dataset, FilesSource } from './dataset.js'

const mediaTypes = {
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<TableFormat, string>

/**
 * The tables of what the activities say, in parts of as many segments each, so that a table of a part whose activities say the
 * same there is carried over.
 */
export async function tableDatasets(db: Db): Promise<Dataset[]> {
  const parts = await listTableParts(db, tables.length, hashBytes)
  return parts.flatMap(({ part, counts, hashes }) =>
    tableFormats.flatMap((format): Dataset[] => {
      const pathOf = (name: string) => tablePath(name, part, format)
      const source: FilesSource = (client, paths) =>
        tableTexts(
          client,
          part,
          format,
          paths.flatMap((path) => tables.filter(({ name }) => pathOf(name) === path)),
        )
      return tables.map(({ name }, index) => ({
        path: pathOf(name),
        mediaType: mediaTypes[format],
        records: counts[index] ?? 0,
        fingerprint: `${tablesVersion} ${hashes[index]}`,
        notices: noNotices,
        content: { kind: 'together', source, twin: format === 'csv' },
      }))
    }),
  )
}
