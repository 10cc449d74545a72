const formula = /^[=+\-@|\t\r＝＋－＠｜]/

/**
 * The text of a cell for a spreadsheet: an apostrophe stands before one that it could take, in full width too, for a formula or
 * for a call of a program.
 */
export function spreadsheetText(text: string): string {
  return formula.test(text) ? `'${text}` : text
}
