import { lineOfCsv } from '../../../kernel/csv.js'
import { spreadsheetText } from '../../../kernel/spreadsheet-text.js'

/** A document of CSV (RFC 4180) with its head. */
export function csvDocument(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, ...rows].map(csvLine).join('')
}

/** A line of CSV. Text that a spreadsheet would take for a formula begins with an apostrophe; amounts stay as they are. */
export function csvLine(fields: readonly string[]): string {
  // Amounts may be negative.
  return lineOfCsv(fields.map((value) => (/^-\d+(?:\.\d+)?$/.test(value) ? value : spreadsheetText(value))))
}
