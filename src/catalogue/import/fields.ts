import { closestName } from '../../kernel/closest-name.js'
import { type DayMeaning, expectedDay, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { shownValue } from '../../kernel/values.js'
import type { ClearedColumns } from '../sql/clear-columns.js'
import type { NumberedTable } from '../sql/external-ids.js'
import { isObject, type ParsedValue } from '../wire/read/parsed-value.js'
import { type FieldType, textNamed } from './field-types.js'
import { whyColumn } from './file-record.js'
import type { MissingWords, NumberNotation } from './number-notation.js'
import { withoutUnseenSigns } from './unseen-signs.js'

/**
 * A field of a kind, declared once: readers, templates, JSON Schemas and docs/reference/import.md follow from it.
 */
export type KindField = {
  readonly type: FieldType
  readonly required?: boolean
  /** Of the number of the records themselves: their table. It may be left out where `externalId` is given. */
  readonly numbers?: NumberedTable
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
export type KindFields = Readonly<Record<string, KindField>>

type ValueOf<F> = F extends { readonly type: FieldType<infer T> } ? T : never

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
export type ClearedRow = { readonly row: RowOf<KindFields>; readonly cleared: readonly string[] }

/** Fields without which a file of these columns, or members, holds no records of a kind. */
export function missingFields(fields: KindFields, given: (name: string) => boolean): string[] {
  return Object.entries(fields).flatMap(([name, { required, numbers }]) =>
    required && !given(name) && !(numbers && given('externalId')) ? [numbers ? `${name} or externalId` : name] : [],
  )
}

/** The text of a CSV cell that clears its field, as null does in NDJSON. An empty cell keeps the stored value. */
export const clearMark = '-'

/** A member that an export adds to its records; only an import of the whole export reads it. */
export const storedMember = 'stored'

/** How the values of a record are written; numbers are plain without a notation. */
export type ValueNotation = {
  readonly notation?: NumberNotation | undefined
  /** Undefined: such words are refused where a text may be meant, since only a person knows. */
  readonly missing?: MissingWords | undefined
}

const missingWord =
  /^(?:\(?null\)?|none|nil|undefined|nan|\.?n\.?\/?a\.?|#n\/a|#(?:ref|value|name|div\/0|null|num)[!?]|[-–—]{1,3})$/i

/** Reads the values of a record; an unknown member is a problem, since it is usually a typing error. */
export function readRow<F extends KindFields>(
  fields: F,
  value: ParsedValue,
  { notation, missing, today }: ValueNotation & { readonly today: IsoDate },
): RowReading<RowOf<F>> {
  if (!isObject(value)) return { problems: [{ field: 'record', expected: 'a JSON object', ...shown(value) }] }
  const problems: FieldProblem[] = []
  const row: Record<string, unknown> = {}
  const cleared: string[] = []
  const inLanguages = textsNamed(fields, value)
  for (const [name, field] of [...Object.entries(fields as KindFields), ...inLanguages.fields]) {
    const { type, day, cleared: clearing } = field
    const required = field.required && !(field.numbers && !isAbsent(value.externalId))
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (clearing !== undefined && isClear(given)) {
      if (clearing === 'empty list') row[name] = inLanguages.keys.has(name) ? '' : []
      else cleared.push(name)
      continue
    }
    const seen = notation && typeof given === 'string' ? withoutUnseenSigns(given.trim()) : given
    const parsed = type.parse((type.isFree ? given : seen) ?? null, notation)
    // NA is also the code of Namibia: a word that a field knows is a value of it.
    const isDoubtful =
      typeof seen === 'string' && missingWord.test(seen.trim()) && (type.isFree || parsed === undefined)
    if (isAbsent(given) || (isDoubtful && missing === 'empty')) {
      if (required) {
        const isOther = field.numbers !== undefined && Object.hasOwn(value, 'externalId')
        problems.push({
          field: isOther ? 'externalId' : name,
          expected: `a value: ${type.isFree ? 'a text' : type.expected}`,
          ...shown(given),
        })
      }
      continue
    }
    const isAsked = isDoubtful && missing === undefined && parsed !== undefined
    row[name] = parsed
    const expected = isAsked
      ? missingExpected
      : parsed === undefined
        ? ((notation && type.explain?.(given, notation)) ?? type.expected)
        : day && expectedDay(parsed instanceof Date ? isoDateOf(parsed) : (parsed as IsoDate), day, today)
    if (expected !== undefined) problems.push({ field: name, expected, ...shown(given) })
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(fields, name) || inLanguages.keys.has(name) || name === storedMember || name === whyColumn)
      continue
    const like = closestName(name, Object.keys(fields))
    const expected = like === undefined ? 'a field of this kind' : `a field of this kind, such as ${like}`
    problems.push({ field: name.slice(0, 100), expected })
  }
  if (problems.length > 0) return { problems }
  for (const [name, key] of inLanguages.keys) {
    if (row[name] !== undefined) row[inLanguages.member] = { ...(row[inLanguages.member] as object), [key]: row[name] }
    delete row[name]
  }
  return { row: row as RowOf<F>, cleared }
}

/** The members of a record that are texts in a language, such as `title@fr`, read as their fields are; all belong in `member`. */
function textsNamed(fields: KindFields, value: Readonly<Record<string, unknown>>) {
  const keys = new Map<string, string>()
  const named: [string, KindField][] = []
  const [member = '', texts] = Object.entries(fields).find(([, { type }]) => type.inLanguages) ?? []
  for (const name of Object.keys(value)) {
    const one = name.includes('@') ? textNamed(name, texts?.type.inLanguages ?? []) : undefined
    const field = one && fields[one.field]
    if (!field) continue
    keys.set(name, one.key)
    named.push([name, { ...field, required: false, cleared: 'empty list' }])
  }
  return { member, keys, fields: named }
}

/** The field that a name means in files: one of the kind, or one in a language, such as `title@fr`. */
export function fieldNamed(fields: KindFields, name: string): string | undefined {
  const texts = Object.values(fields).find(({ type }) => type.inLanguages)
  return textNamed(name, texts?.type.inLanguages ?? [])?.key
}

const missingExpected = 'a value; for NULL and the like choose --missing empty or --missing text'

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
