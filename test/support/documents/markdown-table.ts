import { readFileSync } from 'node:fs'

/** Reads a file of the project; the path is from its root. */
export function readProjectFile(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
}

/** The cells of the first table of a Markdown text, row by row, without its heading and without code marks. */
export function readFirstTable(markdown: string): string[][] {
  return readTable(markdown, '|')
}

/** The cells of the first table whose heading begins so. */
export function readTable(markdown: string, heading: string): string[][] {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => line.startsWith(heading))
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'))
  if (start < 0) throw new Error('the text has no table')
  const rows = lines.slice(start, length < 0 ? undefined : start + length)
  return rows.slice(2).map((row) =>
    row
      .slice(1, row.lastIndexOf('|'))
      .split(' | ')
      .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
  )
}
