import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { cellOfCsv } from '../../kernel/csv.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { spreadsheetText } from '../../kernel/spreadsheet-text.js'
import { messageOf } from '../../kernel/system-errors.js'
import { type FileRecord, whyColumn } from './file-record.js'
import type { FileForm } from './recognise-file.js'

/** A refused record: where it stands, what stands there, and why it was refused. */
export type RefusedRecord = {
  readonly line: number
  readonly recordId?: string
  readonly source?: FileRecord['source']
  readonly problems: readonly FieldProblem[]
}

/** A file that was written for the refused records of one input. */
export type RefusedFile = { readonly file: string; readonly of: string; readonly records: number }

/**
 * Writes refused records to files that can be fixed and imported again: rows of CSV and lines of NDJSON as they came, with
 * the reason as the column `why`; of other forms a table of places and reasons. An input without refused records makes no
 * file. A file appears whole, so that it may replace the one that is being read.
 */
export class RefusedRows {
  readonly #target: string
  readonly #isOnly: boolean
  readonly #written: RefusedFile[] = []
  #open: { readonly stream: WriteStream; readonly file: string; readonly of: string; records: number } | undefined
  #form: FileForm = { name: 'other' }
  #input = ''
  #pending: RefusedRecord[] = []

  /** Of several inputs each has a file of its own, named after it and `target`. */
  constructor(target: string, inputs: number) {
    this.#target = target
    this.#isOnly = inputs === 1
  }

  begin(input: string, form: FileForm): void {
    this.#input = input
    this.#form = form
  }

  /** Takes a refused record; `flush` writes it. */
  add(refused: RefusedRecord): void {
    this.#pending.push(refused)
  }

  /** Writes what was taken, in the order of lines: of a batch, those that only the store refuses come last. */
  async flush(): Promise<void> {
    for (const refused of this.#pending.splice(0).sort((a, b) => a.line - b.line)) {
      this.#open ??= await this.#create()
      this.#open.records++
      await this.#put(this.#open.stream, rowOf(refused, this.#form))
    }
  }

  /** Ends the file of an input. */
  async end(): Promise<void> {
    const { stream, file, of, records } = this.#open ?? {}
    this.#open = undefined
    if (!stream || file === undefined || of === undefined || records === undefined) return
    stream.end()
    await failing(file, once(stream, 'close'))
    await failing(file, rename(partOf(file), file))
    this.#written.push({ file, of, records })
  }

  /** Removes what is unfinished. */
  async abandon(): Promise<void> {
    this.#open?.stream.destroy()
    if (this.#open) await rm(partOf(this.#open.file), { force: true })
    this.#open = undefined
  }

  get written(): readonly RefusedFile[] {
    return this.#written
  }

  async #create() {
    const file = this.#isOnly ? this.#target : this.#nameFor(this.#input)
    const stream = createWriteStream(partOf(file))
    await failing(file, once(stream, 'open'))
    const opened = { stream, file, of: this.#input, records: 0 }
    if (this.#form.name !== 'ndjson') await this.#put(stream, `\uFEFF${cells(headerOf(this.#form), this.#form)}`)
    return opened
  }

  async #put(stream: WriteStream, text: string): Promise<void> {
    if (!stream.write(text)) await failing(String(stream.path), once(stream, 'drain'))
  }

  /** `gifts.csv` and `problems.csv` make `gifts.problems.csv`, which is recognised as gifts. */
  #nameFor(input: string): string {
    const name = input === '-' ? 'stdin' : path.basename(input, path.extname(input))
    const taken = this.#written.filter(({ of }) => path.basename(of) === path.basename(input)).length
    const numbered = taken === 0 ? name : `${name}-${taken + 1}`
    return path.join(path.dirname(this.#target), `${numbered}.${path.basename(this.#target)}`)
  }
}

function partOf(file: string): string {
  return `${file}.part`
}

async function failing(file: string, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    const message = messageOf(error)
    throw new ServiceError('storage-failed', `cannot write ${file}: ${message}`, { cause: error })
  }
}

const placeColumns = ['line', 'record']

function headerOf(form: FileForm): string[] {
  return [whyColumn, ...(form.name === 'csv' ? form.columns.filter(isOther) : placeColumns)]
}

function isOther(column: string): boolean {
  return column.toLowerCase() !== whyColumn
}

function rowOf({ line, recordId, source, problems }: RefusedRecord, form: FileForm): string {
  const why = problems.map(toText).join('; ')
  if (form.name === 'ndjson') return `${jsonLine(why, source)}\n`
  if (form.name !== 'csv' || !Array.isArray(source)) return cells([why, String(line), recordId ?? ''], form)
  return cells([why, ...source.filter((_, index) => isOther(form.columns[index] ?? ''))], form)
}

const oldReason = /^"why"\s*:\s*"(?:[^"\\]|\\.)*"\s*,?\s*/

/** The line with the reason as its first member; one that is no JSON object stands as a text, and is refused again. */
function jsonLine(why: string, source: FileRecord['source']): string {
  const text = Buffer.isBuffer(source) ? source.toString('utf8').trim() : ''
  const isObject = text.startsWith('{') && isJson(text)
  const rest = text.slice(1, -1).trim()
  const others = isObject ? rest.replace(oldReason, '') : `"text":${JSON.stringify(text)}`
  return `{${JSON.stringify(whyColumn)}:${JSON.stringify(why)}${others === '' ? '' : `,${others}`}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function cells(row: readonly string[], form: FileForm): string {
  const delimiter = form.name === 'csv' ? form.delimiter : ','
  const quoted = { test: (cell: string) => /["\r\n]/.test(cell) || cell.includes(delimiter) }
  return `${row.map((cell) => cellOfCsv(guarded(cell), quoted)).join(delimiter)}\r\n`
}

/** The cell, which no spreadsheet takes for a formula and an import reads as it came; amounts and a clearing mark are none. */
function guarded(cell: string): string {
  return /^[-+]?[\d.,' ]*$/.test(cell) ? cell : spreadsheetText(cell)
}

/** A problem as people read it. */
export function toText({ field, expected, got }: FieldProblem): string {
  return `${field}: expected ${expected}${got === undefined ? '' : `, got ${JSON.stringify(got)}`}`
}
