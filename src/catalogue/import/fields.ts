import { type DayMeaning, expectedDay, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { shownValue } from '../../kernel/values.js'
import type { ClearedColumns } from '../sql/clear-columns.js'
import { isObject, type ParsedValue } from '../wire/read/parsed-value.js'
import type { FieldType } from './field-types.js'
import type { NumberNotation } from './number-notation.js'

/**
 * A field of a kind, declared once: readers, templates, JSON Schemas and docs/reference/import.md follow from it.
 */
type Field = {
  readonly type: FieldType
  readonly required?: boolean
  /** A record that leaves the field out keeps the stored value; other fields become empty. */
  readonly kept?: boolean
  /** How the stored value of a field that is kept is emptied; undefined: it always has a value. */
  readonly cleared?: ClearedColumns | 'empty list'
  /** Of a day or an instant: within which bounds it lies. */
  readonly day?: DayMeaning
  readonly means: string
  readonly unit?: string
  /** Two values as CSV writes them; empty: the cell stays empty. */
  readonly examples: readonly [string, string]
  /** Where the value ends up in the API, and in IATI or Atom. */
  readonly api?: string
  readonly iati?: string
}

/** The fields of a kind by name, in the order of its columns. */
export type KindFields = Readonly<Record<string, Field>>

type ValueOf<F> = F extends { readonly type: FieldType<infer T> } ? T : never

/** A row with the values of these fields. */
export type RowOf<F extends KindFields> = {
  readonly [Name in keyof F as F[Name] extends { readonly required: true } ? Name : never]: ValueOf<F[Name]>
} & {
  readonly [Name in keyof F as F[Name] extends { readonly required: true } ? never : Name]?:
    | ValueOf<F[Name]>
    | undefined
}

/** A row, or everything that is wrong with it. */
export type RowReading<Row> =
  | { readonly row: Row; readonly cleared: readonly string[] }
  | { readonly problems: readonly FieldProblem[] }

/** A row, and the names of the fields that it empties. */
export type ClearedRow = { readonly row: Readonly<Record<string, unknown>>; readonly cleared: readonly string[] }

/** The text of a CSV cell that clears its field, as null does in NDJSON. An empty cell keeps the stored value. */
export const clearMark = '-'

/** A member that an export adds to its records; only an import of the whole export reads it. */
export const storedMember = 'stored'

/** Reads the values of a record; an unknown member is a problem, since it is usually a typing error. */
export function readRow<F extends KindFields>(
  fields: F,
  value: ParsedValue,
  { today }: { readonly today: IsoDate },
  notation: NumberNotation | undefined,
): RowReading<RowOf<F>> {
  if (!isObject(value)) return { problems: [{ field: 'record', expected: 'a JSON object' }] }
  const problems: FieldProblem[] = []
  const row: Record<string, unknown> = {}
  const cleared: string[] = []
  for (const [name, { type, required, day, cleared: clearing }] of Object.entries(fields as KindFields)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (clearing !== undefined && isClear(given)) {
      if (clearing === 'empty list') row[name] = []
      else cleared.push(name)
      continue
    }
    if (isAbsent(given)) {
      if (required) problems.push({ field: name, expected: type.expected, ...shown(given) })
      continue
    }
    const read = type.parse(given, notation)
    row[name] = read
    const expected =
      read === undefined
        ? ((notation && type.explain?.(given, notation)) ?? type.expected)
        : day && expectedDay(read instanceof Date ? isoDateOf(read) : (read as IsoDate), day, today)
    if (expected !== undefined) problems.push({ field: name, expected, ...shown(given) })
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name) && name !== storedMember)
      problems.push({ field: name.slice(0, 100), expected: 'a field of this kind' })
  }
  return problems.length > 0 ? { problems } : { row: row as RowOf<F>, cleared }
}

function isClear(value: ParsedValue | undefined): boolean {
  return value === null || (typeof value === 'string' && value.trim() === clearMark)
}

function isAbsent(value: ParsedValue | undefined): value is undefined | null | '' {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

/** What came, for a problem. */
export function shown(value: unknown): { got?: string } {
  return value === undefined || value === null ? {} : { got: shownValue(value) }
}
