import { ServiceError } from '../../../kernel/errors.js'
import type { CurrencyCode } from '../../../kernel/money.js'
import { isErrno } from '../../../kernel/system-errors.js'
import type { Recipe } from '../../sql/reading.js'
import { fitOfColumns } from '../csv-rows.js'
import { findKind } from '../kinds.js'
import { openFiles, type ReadableFile } from '../record-files.js'
import { tellingOf } from '../row-reading.js'
import { guessOf, guessRecipe, type RecipeGuess } from './guess.js'
import { type CsvTable, readTable } from './table-of-file.js'

type Broken = { readonly file: string; readonly broken: string }

/** Whether a file can be read as it is: a table has the columns of its kind. */
export function isOwnForm(file: ReadableFile | Broken): boolean {
  if ('broken' in file) return false
  if (file.form.name !== 'csv') return true
  const { missing, isKnown } = fitOfColumns(file.form.columns, findKind(file.importer.kind)?.fields ?? {})
  return missing.length === 0 && isKnown
}

/** A guess of how a file is read; undefined where it cannot be guessed either, or why its text is not that of a table. */
export async function guessOrNone(
  ...args: Parameters<typeof guessRecipe>
): Promise<RecipeGuess | { readonly broken: string } | undefined> {
  try {
    return await guessRecipe(...args)
  } catch (error) {
    if (error instanceof ServiceError)
      return error.message.startsWith('no table') ? undefined : { broken: error.message }
    if (isErrno(error, 'ENOENT', 'EISDIR', 'EACCES')) return undefined
    throw error
  }
}

/** Of a table with the columns of its kind, what a guess says of its rows; undefined where it says nothing. */
export function notationOf({ recipe, reasons }: RecipeGuess): RecipeGuess | undefined {
  const { values, without, fillDown, decimal, date, encoding, sheet } = recipe
  const members = Object.entries({ values, without, fillDown, decimal, date, encoding, sheet }).filter(
    ([, one]) => one !== undefined,
  )
  return members.length === 0 ? undefined : { recipe: Object.fromEntries(members), reasons, open: [] }
}

/** A column of a table with some of its cells. */
export type SeenColumn = {
  readonly name: string
  readonly examples: readonly string[]
  /** All values that it has, where they are few. */
  readonly values?: readonly string[]
}

/** What a file is taken for, and why; of a table its columns too. */
export type Look = RecipeGuess & {
  readonly columns?: readonly SeenColumn[]
  /** The sheets of a workbook with more than one. */
  readonly sheets?: readonly string[]
}

// More columns, and longer lists of values, are for no person to choose from.
const mostColumns = 300
const mostValues = 60
const mostCharacters = 100
const mostExamples = 3

/**
 * Looks at what a file may be, for a person who is going to confirm it: as it is, or by a guess. Throws `input-unusable` for
 * a file that no recipe could read.
 */
export async function lookAtFile(
  file: string,
  {
    kind,
    sheet,
    currency,
    signal,
  }: {
    readonly kind?: string | undefined
    readonly sheet?: string | undefined
    readonly currency: CurrencyCode
    readonly signal: AbortSignal
  },
): Promise<Look> {
  const reading = sheet === undefined ? {} : { sheet }
  const [opened] = await openFiles([file], { kind, reading }, signal)
  if (opened && !('broken' in opened) && opened.form.name !== 'csv') {
    const what = { ndjson: 'JSON objects, one on each line', csv: 'a table', other: 'a document of records' }
    const why = `${opened.importer.kind}: ${what[opened.form.name]}, which are read as they are`
    return { recipe: { kind: opened.importer.kind }, reasons: [{ member: 'kind', why }], open: [] }
  }
  const table = await readTable(file, signal, reading).catch((error: unknown) => {
    // What is wrong with a file that is no table is told by who reads it as what it is.
    const isTold = opened && 'broken' in opened && error instanceof ServiceError && error.code === 'input-unusable'
    throw isTold ? new ServiceError('input-unusable', opened.broken) : error
  })
  const { sheet: read } = table
  const seenSheets = read && read.others.length > 0 ? { sheets: [read.name, ...read.others] } : {}
  const columns = table.columns
    .filter(({ name }) => name !== '')
    .slice(0, mostColumns)
    .map(seen)
  if (opened && isOwnForm(opened) && !('broken' in opened)) {
    const own = ownRecipe(opened.importer.kind, columns)
    const notation = notationOf(guessOf(table, { kind: own.kind, currency, reading }))
    const why = `${own.kind}, whose fields its columns are named after`
    return {
      recipe: { ...own, ...notation?.recipe },
      reasons: [{ member: 'kind', why }, ...(notation?.reasons ?? [])],
      open: [],
      columns,
      ...seenSheets,
    }
  }
  try {
    return { ...guessOf(table, { kind, currency, reading }), columns, ...seenSheets }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return {
      recipe: reading,
      reasons: [],
      open: [
        error.message.startsWith('columns of')
          ? 'what its rows are: its columns are those of no kind that is known'
          : error.message,
      ],
      columns,
      ...seenSheets,
    }
  }
}

function seen({ name, values, blank }: CsvTable['columns'][number]): SeenColumn {
  const all = [...values.keys(), ...(blank > 0 && tellingOf(name)?.('') === '' ? [''] : [])]
  const isFew = all.length <= mostValues && all.every((value) => value.length <= mostCharacters)
  return {
    name,
    examples: all.slice(0, mostExamples).map((value) => value.slice(0, mostCharacters)),
    ...(isFew && { values: all }),
  }
}

/** How a table is read whose columns are the fields of its kind. */
function ownRecipe(kind: string, columns: readonly SeenColumn[]): Recipe {
  const fields = Object.keys(findKind(kind)?.fields ?? {})
  // A text in a language has it behind its field, such as `title@fr`.
  const fieldOf = (column: string) => {
    const [, name = '', language = ''] = /^([^@]*)(@.*)?$/.exec(column) ?? []
    const field = fields.find((one) => one.toLowerCase() === name.trim().toLowerCase())
    return field === undefined ? '' : field + language
  }
  return { kind, map: Object.fromEntries(columns.map(({ name }) => [name, fieldOf(name)])) }
}
