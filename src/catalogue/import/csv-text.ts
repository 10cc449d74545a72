import { ServiceError } from '../../kernel/errors.js'
import { valueLimits } from '../wire/read/parsed-value.js'
import { isUnseen, withoutUnseenSigns } from './unseen-signs.js'

/** A row of CSV: the line on which it begins, its cells, and how it is damaged or written otherwise than RFC 4180 says. */
export type CsvRow = {
  readonly line: number
  readonly cells: readonly string[]
  /** A cell with quotes that are not doubled, as it was read. */
  readonly oddCell?: string
  /** The text of a line whose quotes do not tell where its cells end. */
  readonly damaged?: string
  /** Whether the text ends within it: nothing tells that it is whole. */
  readonly isOpen?: boolean
}

type Cell = { readonly text: string; readonly end: number; readonly isOdd: boolean }

/** The text goes on after what is there, or a quote in it is not closed on its line. */
type NoCell = 'more' | 'damaged'

/**
 * Takes CSV apart (RFC 4180) as its text comes. Quotes within a cell that are not doubled are read as their writers mean
 * them: an inch mark, or `\"`. Where they leave open where a row ends, that line alone is damaged.
 */
export class CsvText {
  readonly #delimiter: string
  readonly #isSheet: boolean
  #text = ''
  #line = 1
  #isLast = false
  // The most cells of a row that ended with CR LF.
  #columns = 0

  /** `isSheet`: each row is a line, whatever its cells have. */
  constructor(delimiter: string, isSheet = false) {
    this.#delimiter = delimiter
    this.#isSheet = isSheet
  }

  /**
   * The rows that are complete with this piece of the text; `isLast` ends it. Throws `input-unusable` for a quote that is
   * never closed, after the rows before it.
   */
  *push(piece: string, isLast = false): Generator<CsvRow> {
    this.#text += piece
    this.#isLast = isLast
    if (this.#line === 1 && this.#text.startsWith('\uFEFF')) this.#text = this.#text.slice(1)
    let start = 0
    while (start < this.#text.length) {
      const read = this.#row(start)
      if (read === undefined) break
      yield read.row
      this.#line += read.lines
      start = read.end
    }
    this.#text = this.#text.slice(start)
    if (this.#text.length > valueLimits.characters) {
      throw this.#unusable(
        `a row has more than ${valueLimits.characters} characters, perhaps since a quote is not closed`,
      )
    }
    if (isLast && this.#text !== '') throw this.#unusable('a quote is never closed')
  }

  #unusable(reason: string): ServiceError {
    return new ServiceError('input-unusable', `from line ${this.#line} on it is not CSV: ${reason}`)
  }

  /** The row that begins here; undefined while its end is not there. */
  #row(start: number): { readonly row: CsvRow; readonly end: number; readonly lines: number } | undefined {
    const cells: string[] = []
    let oddCell: string | undefined
    for (let at = start; ; ) {
      const cell = this.#cell(at, cells.length)
      if (cell === 'more') return undefined
      if (cell === 'damaged') return this.#damagedLine(start)
      cells.push(cell.text)
      if (cell.isOdd) oddCell ??= cell.text
      const sign = this.#text[cell.end]
      if (sign === this.#delimiter) {
        at = cell.end + 1
        continue
      }
      const end = this.#afterLineEnd(cell.end)
      if (end === undefined) return undefined
      if (sign === '\r') this.#columns = Math.max(this.#columns, cells.length)
      const lines = this.#isSheet ? 1 : countLines(this.#text, start, end)
      const row = {
        line: this.#line,
        cells,
        ...(oddCell !== undefined && { oddCell }),
        ...(sign === undefined && { isOpen: true }),
      }
      return { row, end, lines }
    }
  }

  /** A cell that has `before` others of its row before it. */
  #cell(start: number, before: number): Cell | NoCell {
    const first = this.#afterUnseen(start)
    if (this.#text[first] === '"') return this.#quotedCell(first + 1)
    let end = start
    // Exports of version 1.0.0 end rows with CR LF and have single LF in cells without quotes.
    const isPart = (at: number) => this.#text[at] === '\n' && before + 1 < this.#columns
    while (end < this.#text.length && (!this.#endsCell(end) || isPart(end))) end++
    if (end === this.#text.length && !this.#isLast) return 'more'
    const raw = this.#text.slice(start, end)
    return { text: raw.trim(), end, isOdd: raw.includes('"') }
  }

  /** A cell within quotes, from the sign after the first one. */
  #quotedCell(start: number): Cell | NoCell {
    const text = this.#text
    let [value, from, isOdd, escapes] = ['', start, false, false]
    for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at)) {
      const isEscape = at > from && text[at - 1] === '\\'
      const isDoubled = text[at + 1] === '"'
      const closing = isDoubled && isEscape ? at + 1 : at
      const end = this.#afterUnseen(closing + 1)
      if (end >= text.length && !this.#isLast) return 'more'
      const isAtEnd = end >= text.length || this.#endsCell(end)
      if (isEscape && ((isDoubled && isAtEnd) || (!isDoubled && (escapes || !isAtEnd)))) {
        // `\"` is a quote: before the one that closes the cell, or where no cell can end.
        value += `${text.slice(from, at - 1)}"`
        isOdd = true
        escapes = true
        from = at + 1
        at = from
      } else if (isDoubled) {
        value += text.slice(from, at + 1)
        from = at + 2
        at = from
      } else if (isAtEnd) {
        return { text: value + text.slice(from, at), end, isOdd }
      } else {
        // A quote where no cell ends is one of its text, unless the cell has run over the ends of lines to get here.
        value += text.slice(from, at + 1)
        if (/[\r\n]/.test(value)) return 'damaged'
        isOdd = true
        from = at + 1
        at = from
      }
    }
    return 'more'
  }

  #endsCell(at: number): boolean {
    const code = this.#text.charCodeAt(at)
    return code === 0x0a || code === 0x0d || code === this.#delimiter.charCodeAt(0)
  }

  /** Where signs end that nobody sees; a tab is one unless it separates cells. */
  #afterUnseen(start: number): number {
    let at = start
    while (
      at < this.#text.length &&
      (isUnseen(this.#text, at) || (this.#text[at] === '\t' && this.#delimiter !== '\t'))
    )
      at++
    return at
  }

  #damagedLine(start: number) {
    const [raw = ''] = /[^\r\n]*/.exec(this.#text.slice(start)) ?? []
    const end = this.#afterLineEnd(start + raw.length) ?? this.#text.length
    return { row: { line: this.#line, cells: [], damaged: raw }, end, lines: 1 }
  }

  /** Where the next row begins after an end of line here; undefined while a CR may be the first half of one. */
  #afterLineEnd(at: number): number | undefined {
    if (at >= this.#text.length) return at
    if (this.#text[at] !== '\r') return at + 1
    if (at + 1 >= this.#text.length && !this.#isLast) return undefined
    return this.#text[at + 1] === '\n' ? at + 2 : at + 1
  }
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) lines++
  }
  return lines
}

/** Whether a cell has nothing that anybody sees. */
export function isBlank(cell: string): boolean {
  return withoutUnseenSigns(cell.trim()) === ''
}
