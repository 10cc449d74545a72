import { stringify } from 'csv-stringify/sync'

/** A record of an export as it was read from its JSON text. */
export type ExportedRecord = Readonly<Record<string, unknown>>

/** The lines of these records as CSV (RFC 4180); a list is one cell, as `giving import` reads it. */
export function csvLines(members: readonly string[], records: readonly ExportedRecord[]): string {
  return stringify(
    records.map((record) => members.map((member) => cellOf(record[member]))),
    { record_delimiter: 'windows', quoted_match: /^\s|\s$/ },
  )
}

export function csvHeader(members: readonly string[]): string {
  return stringify([[...members]], { record_delimiter: 'windows' })
}

/**
 * Joins texts by `|`, and the parts of an object by `:`. A list is left out when a part contains such a separator, as the
 * address of a picture before its media type does.
 */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (!Array.isArray(value)) return String(value)
  const items = value.map((item) =>
    (typeof item === 'object' && item !== null ? Object.values(item) : [item]).map(String),
  )
  const isCut = items.some((parts) =>
    parts.some((part, index) => part.includes('|') || (index < parts.length - 1 && part.includes(':'))),
  )
  return isCut ? '' : items.map((parts) => parts.join(':')).join('|')
}
