const separating = /[",\r\n]/

/** A cell of CSV (RFC 4180), in quotes where it must be, or matches `quoted`, which covers that. */
export function cellOfCsv(text: string, quoted: Pick<RegExp, 'test'> = separating): string {
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of such cells. */
export function lineOfCsv(cells: readonly string[], quoted = separating): string {
  return `${cells.map((cell) => cellOfCsv(cell, quoted)).join(',')}\r\n`
}
