import { lineOfCsv } from '../../kernel/csv.js'
import { spreadsheetText } from '../../kernel/spreadsheet-text.js'
import type { DonorNote } from '../../money/donors/donor-notes.js'

/**
 * Notes as CSV for a spreadsheet. A cell that it could take for a formula gets an apostrophe before it; line breaks of a note
 * become spaces, so that each donation is one line.
 */
export function donorNotesCsv(notes: readonly DonorNote[]): string {
  const rows = notes.map(({ donation, date, name = '', note = '' }) =>
    lineOfCsv([String(donation), String(date), spreadsheetText(inOneLine(name)), spreadsheetText(inOneLine(note))]),
  )
  return rows.join('')
}

export const donorNotesHeader = lineOfCsv(['donation', 'date', 'name', 'note'])

function inOneLine(text: string): string {
  return text.replace(/\r\n|[\r\n\u2028\u2029]/g, ' ')
}
