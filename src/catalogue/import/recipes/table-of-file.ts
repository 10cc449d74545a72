import { ServiceError } from '../../../kernel/errors.js'
import { parseCurrencyCode } from '../../../kernel/money.js'
import { createYielder } from '../../../kernel/yielder.js'
import type { Recipe } from '../../sql/reading.js'
import { cleanName, partedName } from '../column-names.js'
import { type CsvHeader, csvHeadBytes, encodingOf, readCsvHeader } from '../csv-rows.js'
import { CsvText, isBlank } from '../csv-text.js'
import { headOf, openBytes } from '../record-files.js'
import { whyHeader } from '../row-reading.js'
import type { Sheet } from '../workbook.js'
import { foldedName, type HeaderWords, headerWords } from './header-words.js'

// A column with more different values than this has no list of values.
const mostValues = 400
// So many characters of values are kept of all columns together.
const mostKept = 4_000_000
const mostBelow = 20

/** A column, and what its cells have. */
export type TableColumn = {
  readonly name: string
  /** What its name may mean, folded. */
  readonly words: readonly string[]
  readonly values: Map<string, number>
  filled: number
  blank: number
  isBlankAtTop: boolean
}

/** The columns of a CSV file with what their cells have, and how it is written. */
export type CsvTable = {
  /** The file's name, of an archive that of the file in it. */
  readonly name: string
  readonly encoding: Encoding
  readonly header: CsvHeader
  /** Of a workbook: the sheet that it is. */
  readonly sheet?: Sheet
} & Awaited<ReturnType<typeof readColumns>>

/** Reads the columns of a CSV file, or of a sheet. Throws `input-unusable` for other files. */
export async function readTable(
  file: string,
  signal?: AbortSignal,
  reading?: Pick<Recipe, 'sheet'>,
): Promise<CsvTable> {
  const { name, chunks, sheet } = await openBytes(file, reading)
  const head = await headOf(chunks(signal))
  if (/^[\s\0\uFEFF]*[<{[]/.test(new TextDecoder(encodingOf(head)).decode(head.subarray(0, 200)))) {
    throw new ServiceError('input-unusable', 'no table: CSV needs a recipe, XML and JSON are imported as they are')
  }
  const words = headerWords()
  const encoding = await guessEncoding(head, chunks(signal))
  const header = readCsvHeader(
    head.subarray(0, csvHeadBytes),
    { encoding: encoding.name, isSheet: sheet !== undefined },
    (columns) => isHeader(columns, words),
  )
  if (header.columns.every(isBlank)) throw new ServiceError('input-unusable', 'no table: no row is its header')
  return { name, encoding, header, ...(sheet && { sheet }), ...(await readColumns(chunks(signal), header, words)) }
}

/** Whether a row of cells may be a header: at least two of its names are those of fields, and all differ from numbers. */
function isHeader(columns: readonly string[], words: HeaderWords): boolean {
  const known = columns.filter((column) => wordsOf(column).some((word) => words.all.has(word)))
  return known.length >= 2 && !columns.some((column) => /^[-\d.,]+$/.test(column))
}

/** What the name of a column may mean: as it is, `#` as "no", without what is in brackets, behind its last point or slash (`notes.project`), parted (`createdAt`), without the currency or the cents at its end. */
function wordsOf(column: string): string[] {
  const bare = column.replace(/\s*[([][^()[\]]*[)\]]$/, '').replace(/\s*#$/, ' no')
  const whole = [column, bare, bare.replace(/^.*[./]/, ''), partedName(bare)].map(foldedName)
  const without = whole.map((word) =>
    word
      .replace(cents, '')
      .replace(/ (?:(?:in|en|em) )?([a-z]{3})$/, (end, code: string) =>
        parseCurrencyCode(code.toUpperCase()) ? '' : end,
      ),
  )
  return [...new Set([...whole, ...without])].filter((word) => word !== '')
}

const cents = / (?:(?:in|en|em) )?(?:cents?|pence|pennies|rappen|centimes?|centimos?|centavos?|minor(?: units?)?|ore)$/

/** Whether a column surely has amounts in the smallest unit of their currency: `amount_cents`, with whole numbers. */
export function isInCents({ name, values }: Pick<TableColumn, 'name' | 'values'>): boolean {
  return cents.test(foldedName(partedName(name))) && [...values.keys()].every((text) => /^-?\d+$/.test(text))
}

/** Whether the numbers of a column are parts or multiples of what they seem: `Amount (cents)`, `Betrag (TEUR)`. */
export function isScaled(name: string): boolean {
  if (cents.test(foldedName(partedName(name)))) return true
  const [, unit = ''] = /[([]([^()[\]]*)[)\]](?:#\d+)?$/.exec(name) ?? []
  return /cent|pence|penn|rappen|minor|thousand|tausend|tsd|\bmil|migliaia|mio\b|duizend|tys|bin\b|тыс|ألف|آلاف|[千万萬百億亿]|lakh|crore|lac\b|^t[a-z]{3}$|^k\W|000/i.test(
    unit,
  )
}

/** The code or sign of a currency at the end of a column's name: `Amount in USD`, `Betrag (€)`. */
export function markOfName(name: string): string | undefined {
  const [, code, sign] = /(?:^|[\s([])(?:([A-Z]{3})|([A-Z]{0,2}\p{Sc}))[)\]]?(?:#\d+)?$/u.exec(name) ?? []
  return sign ?? (code !== undefined && parseCurrencyCode(code) ? code : undefined)
}

/** Reads all cells: the columns with their values, and the rows that are totals. */
async function readColumns(chunks: AsyncIterable<Buffer>, header: CsvHeader, words: HeaderWords) {
  const counted = new Map<string, number>()
  for (const name of header.columns) counted.set(name, (counted.get(name) ?? 0) + 1)
  const seen = new Map<string, number>()
  const columns = header.columns.map((name): TableColumn => {
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    const isDoubled = (counted.get(name) ?? 0) > 1 && name !== ''
    return {
      name: isDoubled ? `${name}#${number}` : name,
      words: wordsOf(name),
      ...{ values: new Map(), filled: 0, blank: 0, isBlankAtTop: false },
    }
  })
  const totals = new Map<string, Set<string>>()
  const footers = new Map<string, Set<string>>()
  const leave = (of: Map<string, Set<string>>, column: TableColumn, words: string) =>
    of.set(column.name, (of.get(column.name) ?? new Set()).add(words))
  const yieldIfDue = createYielder()
  const csv = new CsvText(header.delimiter, header.isSheet)
  const decoder = new TextDecoder(header.encoding)
  let [rows, kept] = [0, 0]
  // Rows with one cell are what stands below a table, unless rows follow them.
  const alone: (readonly string[])[] = []
  const count = (cells: readonly string[]) => {
    rows++
    for (const [index, one] of columns.entries()) {
      const cell = cells[index] ?? ''
      if (isBlank(cell)) {
        if (one.filled === 0) one.isBlankAtTop = true
        one.blank++
        continue
      }
      one.filled++
      const value = cleanName(cell.slice(0, 500)).trim()
      const times = one.values.get(value) ?? 0
      if (times === 0 && (one.values.size === mostValues || kept > mostKept)) continue
      if (times === 0) kept += value.length
      one.values.set(value, times + 1)
    }
  }
  const take = (piece: string, isLast: boolean) => {
    for (const { line, cells, damaged } of csv.push(piece, isLast)) {
      if (line <= header.line || damaged !== undefined || cells.every(isBlank)) continue
      if (whyHeader(cells, header.columns)) continue
      const at = cells.findIndex((cell) => !isBlank(cell))
      const [first = '', column] = [cells[at], columns[at]]
      const filled = cells.filter((cell) => !isBlank(cell)).length
      const total = column && totalIn(first, filled * 2 < columns.length, words)
      if (total !== undefined) {
        leave(totals, column as TableColumn, total)
        continue
      }
      if (filled === 1 && columns.length > 2 && alone.length < mostBelow) {
        alone.push(cells)
        continue
      }
      for (const earlier of alone.splice(0)) count(earlier)
      count(cells)
    }
  }
  for await (const chunk of chunks) {
    take(decoder.decode(chunk, { stream: true }), false)
    await yieldIfDue()
  }
  take(decoder.decode(), true)
  // A table of such rows alone is one.
  for (const cells of alone) {
    const at = cells.findIndex((cell) => !isBlank(cell))
    const column = columns[at]
    if (rows === 0 || !column) count(cells)
    else leave(footers, column, withoutEnding((cells[at] ?? '').trim()))
  }
  return { columns, rows, totals, footers }
}

/** What says that a row is a total: its first cell, or how that begins where hardly a cell beside it is filled. */
function totalIn(first: string, isSparse: boolean, words: HeaderWords): string | undefined {
  const name = foldedName(first)
  if (words.totals.includes(name)) return first.trim()
  const [begin = ''] = words.totals.filter((word) => name.startsWith(`${word} `)).sort((a, b) => b.length - a.length)
  if (!isSparse || begin === '') return undefined
  // Up to where the words for a total end, with its own letter case and signs.
  let start = ''
  for (const word of first.trim().match(/[^\p{L}\p{N}]*[\p{L}\p{N}]+/gu) ?? []) {
    if (foldedName(start) === begin) break
    start += word
  }
  return start === '' ? undefined : `${start}*`
}

/** A line below a table, up to where another day may have another number. */
function withoutEnding(text: string): string {
  const [start = ''] = /^\D*/.exec(text) ?? []
  return start.length < text.length && start.trim().length > 3 ? `${start.trim()}*` : text
}

type Encoding = { readonly name: string; readonly isTold: boolean; readonly why?: string }

// Encodings of one byte that offices of Europe use, the likeliest first.
const oneByte = ['windows-1252', 'macintosh', 'windows-1250', 'windows-1251'] as const
const mostSampled = 50_000

/** The encoding of a text, with its reason where it is not plainly UTF-8. */
async function guessEncoding(head: Buffer, chunks: AsyncIterable<Buffer>): Promise<Encoding> {
  const known = encodingOf(head)
  // A mark counts before all else.
  if (head[0] === 0xef && head[1] === 0xbb) return { name: known, isTold: false }
  if (known !== 'utf-8') {
    const isMarked = head[0] === 0xff || head[0] === 0xfe
    const why = `${known}, ${isMarked ? 'as its byte order mark says' : 'as its zeros tell'}`
    return { name: known, isTold: !isMarked, why }
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const odd: Buffer[] = []
  let [sampled, isUtf8] = [0, true]
  for await (const chunk of chunks) {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: true })
    } catch {
      isUtf8 = false
    }
    if (sampled < mostSampled && chunk.some((byte) => byte >= 0x80)) {
      for (let at = 0; at < chunk.length && sampled < mostSampled; at++) {
        if ((chunk[at] ?? 0) < 0x80) continue
        // Enough around it to show the word.
        const piece = Buffer.concat([chunk.subarray(Math.max(0, at - 12), at + 13), Buffer.from('\n')])
        odd.push(piece)
        sampled += piece.length
        at += 12
      }
    }
  }
  if (isUtf8) return { name: 'utf-8', isTold: false }
  const sample = Buffer.concat(odd)
  const scored = oneByte.map((name) => {
    // Node 20 reads windows-1252 as ISO-8859-1 but in streams.
    const text = new TextDecoder(name).decode(sample, { stream: true })
    const usual = text.match(/[äöüÄÖÜßéèêëàâçîïôùûœáíóúñãõÉÈÀÇ¿¡€„“”‘’–—…°§]/g)?.length ?? 0
    // Where a letter is one in both, Western Europe is likelier.
    const central = name === 'windows-1250' ? (text.match(/[łńśźżćęąŁŃŚŹŻĆĘĄčřěšžůýťďňőűČŘŠŽŐŰ]/g)?.length ?? 0) : 0
    const cyrillic = name === 'windows-1251' ? (text.match(/[а-яё]{3,}/gi)?.join('').length ?? 0) : 0
    const strange = text.match(/[\u0080-\u009F\uFFFD]/g)?.length ?? 0
    return { name, text, score: (name === 'windows-1251' ? cyrillic : usual + central) - 2 * strange }
  })
  const [best] = scored.sort((a, b) => b.score - a.score)
  const [word = ''] = /[\p{L}]*[^\p{ASCII}][\p{L}]*/u.exec(best?.text ?? '') ?? []
  const name = best?.name ?? 'windows-1252'
  return { name, isTold: true, why: `${name}: the file is not UTF-8, and so it has words such as "${word}"` }
}
