import { createHash } from 'node:crypto'
import { noNotices } from '../../../domain/notice.js'
import { type TableFormat, tableFormats, tablePath } from '../../../feeds/addresses.js'
import { tables, tablesVersion } from '../../../feeds/tables/tables.js'
import { tablePartOf } from '../../../store/publication/activity-rows.js'
import type { Segment } from '../../../store/publication/segments.js'
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
export function tableDatasets(segments: readonly Segment[]): Dataset[] {
  const parts = [...new Set(segments.map(({ segment }) => tablePartOf(segment)))]
  return parts.flatMap((part) => {
    const ofPart = segments.filter(({ segment }) => tablePartOf(segment) === part)
    return tableFormats.flatMap((format): Dataset[] => {
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
        records: ofPart.reduce((sum, { rows }) => sum + (rows[index]?.count ?? 0), 0),
        fingerprint: `${tablesVersion} ${hashOf(ofPart, index)}`,
        notices: noNotices,
        content: { kind: 'together', source, twin: format === 'csv' },
      }))
    })
  })
}

function hashOf(segments: readonly Segment[], table: number): string {
  const hash = createHash('md5')
  for (const { segment, rows } of segments) hash.update(`${segment} ${rows[table]?.hash}\n`)
  return hash.digest('hex')
}
