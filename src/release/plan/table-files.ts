import { createHash } from 'node:crypto'
import { type TableFormat, tableFormats, tablePath } from '../../iati/addresses.js'
import { tables, tablesVersion } from '../../iati/tables/tables.js'
import { noNotices } from '../../kernel/notice.js'
import type { Segment } from '../sql/segments.js'
import type { PlannedFile, TableSection } from './planned-file.js'

const mediaTypes = {
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<TableFormat, string>

// A change of one activity rewrites its section; smaller sections are more files to sync and link.
const segmentsOfSection = 4

/** The tables of the activities, each joined from sections, so that an unchanged section is carried over. */
export function tableFiles(segments: readonly Segment[]): PlannedFile[] {
  const groups = groupsOf(segments)
  return tableFormats.flatMap((format) =>
    tables.map((table, index): PlannedFile => {
      const path = tablePath(table.name, format)
      const sections = groups.flatMap((section): TableSection[] => {
        if (countOf(section.segments, index) === 0) return []
        const first = (section.number - 1) * segmentsOfSection + 1
        return [
          {
            ...{ first, last: first + segmentsOfSection - 1, path: `${path}.part-${section.number}` },
            fingerprint: fingerprintOf(section.segments, index),
          },
        ]
      })
      return {
        ...{ path, mediaType: mediaTypes[format], records: countOf(segments, index) },
        ...{ fingerprint: fingerprintOf(segments, index), notices: noNotices },
        content: { kind: 'table', table, format, sections },
      }
    }),
  )
}

/** The segments of each section. */
function groupsOf(segments: readonly Segment[]): { readonly number: number; readonly segments: readonly Segment[] }[] {
  const numberOf = ({ segment }: Segment) => Math.ceil(segment / segmentsOfSection)
  return [...new Set(segments.map(numberOf))].map((number) => ({
    number,
    segments: segments.filter((one) => numberOf(one) === number),
  }))
}

function countOf(segments: readonly Segment[], table: number): number {
  return segments.reduce((sum, { rows }) => sum + (rows[table]?.count ?? 0), 0)
}

function fingerprintOf(segments: readonly Segment[], table: number): string {
  const hash = createHash('md5')
  for (const { segment, rows } of segments) hash.update(`${segment} ${rows[table]?.hash}\n`)
  return `${tablesVersion} ${hash.digest('hex')}`
}
