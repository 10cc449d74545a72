import { lineOfCsv } from '../../kernel/csv.js'
import { guardedText } from '../../kernel/spreadsheet-text.js'

/** A record of an export as it was read from its JSON text. */
export type ExportedRecord = Readonly<Record<string, unknown>>

/** The lines of these records as CSV (RFC 4180); a list is one cell, as `giving import` reads it. */
export function csvLines(members: Readonly<Record<string, string>>, records: readonly ExportedRecord[]): string {
  const rows = records.map((record) => Object.entries(members).map(([member, type]) => cellOf(record[member], type)))
  return rows.map((cells) => lineOfCsv(cells, quoted)).join('')
}

const quoted = /[",\r\n]|^\s|\s$/

/**
 * Joins texts by `|`, and the parts of an object by `:`. A list is left out when a part contains such a separator, as the
 * address of a picture before its media type does.
 */
function cellOf(value: unknown, type: string): string {
  if (value === undefined || value === null) return ''
  if (type === 'numeric') return shortNumber(String(value))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return String(value)
  if (!Array.isArray(value)) return guardedText(String(value))
  const items = value.map((item) =>
    typeof item === 'object' && item !== null ? Object.entries(item).map(partOf) : [String(item)],
  )
  const isCut = items.some((parts) =>
    parts.some((part, index) => part.includes('|') || (index < parts.length - 1 && part.includes(':'))),
  )
  return isCut ? '' : guardedText(items.map((parts) => parts.join(':')).join('|'))
}

function partOf([name, value]: readonly [string, unknown]): string {
  return name === 'amount' ? shortNumber(String(value)) : String(value)
}

/** A number without zeros at its end: an import would ask whether 25.000 is 25 or 25000. */
function shortNumber(text: string): string {
  return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
}
