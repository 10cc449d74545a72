import { stringify } from 'csv-stringify/sync'
import { spreadsheetText } from '../../kernel/spreadsheet-text.js'
import type { DonorNote } from '../../money/donors/donor-notes.js'

const columns = ['donation', 'date', 'name', 'note'] as const

/**
 * Notes as CSV for a spreadsheet. A cell that it could take for a formula gets an apostrophe before it; line breaks of a note
 * become spaces, so that each donation is one line.
 */
export function donorNotesCsv(notes: readonly DonorNote[]): string {
  const rows = notes.map(({ donation, date, name = '', note = '' }) => [
    donation,
    date,
    spreadsheetText(inOneLine(name)),
    spreadsheetText(inOneLine(note)),
  ])
  return stringify(rows, { record_delimiter: 'windows' })
}

export const donorNotesHeader = stringify([[...columns]], { record_delimiter: 'windows' })

function inOneLine(text: string): string {
  return text.replace(/\r\n|[\r\n\u2028\u2029]/g, ' ')
}
