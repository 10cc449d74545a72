const formula = /^[=+\-@|\t\r＝＋－＠｜]/

/**
 * The text of a cell for a spreadsheet: an apostrophe stands before one that it could take, in full width too, for a formula or
 * for a call of a program.
 */
export function spreadsheetText(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

const formulaWithApostrophes = /^'*[=+\-@|\t\r＝＋－＠｜]/

/** The same for a text that is read back: what has such an apostrophe by itself gets a second one. */
export function guardedText(text: string): string {
  return formulaWithApostrophes.test(text) ? `'${text}` : text
}

/** The text of which `guardedText` made this one. */
export function unguardedText(text: string): string {
  return text.startsWith("'") && formulaWithApostrophes.test(text) ? text.slice(1) : text
}
