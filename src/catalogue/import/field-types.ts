import { type Decimal, isWhole } from '../../kernel/money.js'
import type { JsonSchema } from '../../kernel/read-object.js'
import { fieldAndLanguage, type OtherTexts, textKey } from '../../kernel/texts.js'
import {
  coordinateOf,
  largestInteger,
  moneyOf,
  textLike,
  type ValueType,
  valueTypes,
  wordOf,
} from '../../kernel/values.js'
import type { NumberedTable } from '../sql/external-ids.js'
import { isObject, type ParsedObject, type ParsedValue } from '../wire/read/parsed-value.js'
import { codeOf, languageCode, sdgCode } from '../wire/read/publication-fields.js'
import { mostTextCharacters, parseValue } from '../wire/read/record-types.js'
import {
  explainAmount,
  explainDay,
  isoDayOf,
  type NumberNotation,
  plainAmount,
  plainMeasure,
} from './number-notation.js'
import { withoutUnseenSigns } from './unseen-signs.js'

/** How a value is read from a cell of CSV or a member of NDJSON, and how it is described. */
export type FieldType<T = unknown> = {
  readonly name: string
  /** What a message expects. */
  readonly expected: string
  /** Undefined when the value is not of this type; numbers are plain unless a notation is given. */
  parse(value: ParsedValue, notation?: NumberNotation): T | undefined
  /** What a message expects instead of this value, where it can say more than `expected`. */
  explain?(value: ParsedValue, notation: NumberNotation): string | undefined
  readonly schema: JsonSchema
  /** Whether it takes any text: then only a person can tell whether `NULL` is one. */
  readonly isFree?: true
  /** Of texts in other languages: the fields that they are of. */
  readonly inLanguages?: readonly string[]
  /** The table of which the value names a row, by its number or by the platform's own id. */
  readonly refersTo?: NumberedTable
}

function scalar<T>(name: string, type: ValueType<T>, schema: JsonSchema): FieldType<T> {
  return { name, expected: type.expected, parse: (value) => parseValue(value, type), schema }
}

/** A day or an instant, in the notation of its file. */
function dated<T>(name: string, type: ValueType<T>, schema: JsonSchema): FieldType<T> {
  const parse: FieldType<T>['parse'] = (value, notation) => {
    if (!notation || typeof value !== 'string') return parseValue(value, type)
    const { date, zone } = notation
    const isIso = date === undefined || /^\s*\d{4}-\d/.test(value)
    return (
      (date === undefined ? parseValue(value, type) : parseValue(isoDayOf(value, date, zone), type)) ??
      // A day of ISO 8601 is the same in any notation.
      (isIso ? parseValue(isoDayOf(value, 'yyyy-mm-dd', zone), type) : undefined)
    )
  }
  const explain: FieldType<T>['explain'] = (value, notation) =>
    typeof value === 'string' ? explainDay(value, notation) : undefined
  return { name, expected: type.expected, parse, explain, schema }
}

/** A number, in the notation of its file. */
function numeric<T>(
  name: string,
  type: ValueType<T>,
  plain: (text: string, notation: NumberNotation) => string | undefined,
  schema: JsonSchema,
): FieldType<T> {
  const parse: FieldType<T>['parse'] = (value, notation) => {
    const text = typeof value === 'string' && notation !== undefined ? plain(value.trim(), notation) : value
    return parseValue(text, type)
  }
  return { name, expected: type.expected, parse, schema }
}

function money<T>(name: string, type: ValueType<T>, schema: JsonSchema): FieldType<T> {
  return {
    ...numeric(name, type, plainAmount, schema),
    explain: (value, notation) => (typeof value === 'string' ? explainAmount(value.trim(), notation) : undefined),
  }
}

const numberOrText = ['number', 'string']

/** A whole number that identifies something. */
export const identifier = scalar('identifier', valueTypes.id, {
  type: ['integer', 'string'],
  minimum: 1,
  pattern: '^[1-9][0-9]{0,15}$',
})

const externalIdPattern = /^(?![1-9]\d{0,15}$)[^\p{Cc}]{1,200}$/u

/** The platform's own id of a record, where it is no whole number. */
export const externalId: FieldType<string> = {
  ...scalar(
    'text',
    textLike(externalIdPattern, 'a text of 1 to 200 characters that is no whole number; a whole number goes into id'),
    { type: 'string', maxLength: 200 },
  ),
  isFree: true,
}

/**
 * What names a stored record. An id of the platform is a text until `resolveExternalIds` puts the number in its place,
 * before a kind saves its rows.
 */
function reference(refersTo: NumberedTable, what: string): FieldType<number> {
  const expected = `the number or externalId of ${what}`
  const parse = (value: ParsedValue) =>
    identifier.parse(typeof value === 'string' ? withoutUnseenSigns(value) : value) ??
    (externalId.parse(value) as number | undefined)
  return { name: 'identifier', expected, parse, schema: { type: ['integer', 'string'] }, isFree: true, refersTo }
}

export const projectReference = reference('project', 'a project of this platform')
export const organisationReference = reference('organisation', 'an organisation that was imported before')

export const count = scalar('count', valueTypes.count, {
  type: ['integer', 'string'],
  minimum: 0,
  maximum: largestInteger,
  pattern: '^[0-9]{1,10}$',
})

export const text: FieldType<string> = {
  ...scalar(
    'text',
    {
      expected: `a text of at most ${mostTextCharacters} characters`,
      parse: (value: string) => (value.length <= mostTextCharacters ? value : undefined),
    },
    { type: 'string', maxLength: mostTextCharacters },
  ),
  isFree: true,
}

/** HTML as received; it is sanitised before it is stored. */
export const htmlText: FieldType<string> = {
  ...text,
  name: 'HTML',
  parse: (value) => (typeof value === 'string' ? value : undefined),
}

export const language: FieldType<string> = scalar('language', languageCode, {
  type: 'string',
  pattern: '^[A-Za-z]{2}([-_][A-Za-z0-9_-]+)?$',
})

/** A text in a language, as `title@fr` names it; `field` is one of those that may be in several. */
export function textNamed(
  name: string,
  fields: readonly string[],
): { readonly field: string; readonly key: string } | undefined {
  const { field: named = '', language: tag = '' } = fieldAndLanguage(name) ?? {}
  const field = fields.find((one) => one.toLowerCase() === named.trim().toLowerCase())
  const code = languageCode.parse(tag.trim())
  return field === undefined || code === undefined ? undefined : { field, key: textKey(field, code) }
}

/** Texts in other languages of fields of these types. A text that is null or empty takes the stored one away. */
export function textsOf(types: ReadonlyMap<string, FieldType>): FieldType<OtherTexts> {
  const fields = [...types.keys()]
  return {
    name: 'texts',
    inLanguages: fields,
    expected: `an object of texts by field and language, such as {"${fields[0]}@fr": "..."}, of ${fields.join(', ')}`,
    parse: (value) => {
      if (!isObject(value)) return undefined
      const entries = Object.entries(value).map(([name, given]) => {
        const one = textNamed(name, fields)
        const read = given === null ? '' : types.get(one?.field ?? '')?.parse(given)
        return one === undefined || read === undefined ? undefined : ([one.key, String(read)] as const)
      })
      return entries.every((one) => one !== undefined) ? Object.fromEntries(entries) : undefined
    },
    schema: {
      type: 'object',
      patternProperties: { [`^(${fields.join('|')})@`]: { type: ['string', 'null'] } },
      additionalProperties: false,
    },
  }
}

export const yesNo = scalar('yes or no', valueTypes.yesNo, {
  anyOf: [{ type: 'boolean' }, { enum: ['yes', 'no', 'true', 'false'] }],
})

export const day = dated('day', valueTypes.day, { type: 'string', format: 'date' })

const dayOrInstant: ValueType<Date> = {
  expected: 'a day such as 2026-11-21 or a date and time with offset such as 2026-11-21T09:30:00+00:00',
  parse: (value) => (valueTypes.day.parse(value) ? new Date(`${value}T00:00:00Z`) : valueTypes.instant.parse(value)),
}

export const instant = dated('instant', dayOrInstant, {
  type: 'string',
  anyOf: [{ format: 'date' }, { format: 'date-time' }],
})

const plainNumber = 'a plain number such as 1234.50: a point before at most 3 decimals, no thousands separator'
const aboveZero = moneyOf(1, `${plainNumber}, above 0`)

/** An amount of money that is not negative. */
export const amount = money('amount', moneyOf(0, plainNumber), {
  type: numberOrText,
  minimum: 0,
  pattern: '^[0-9]{1,15}([.][0-9]{1,3})?$',
})

export const share = numeric(
  'amount',
  { ...moneyOf(0, ''), expected: 'a share in per cent' },
  plainMeasure,
  amount.schema,
)

export const positiveAmount = money('amount', aboveZero, {
  type: numberOrText,
  exclusiveMinimum: 0,
  pattern: '^[0-9]{1,15}([.][0-9]{1,3})?$',
})

const wholeAboveZero: ValueType<Decimal> = {
  expected: 'a whole number above 0, such as 25',
  parse: (value) => {
    const parsed = aboveZero.parse(value)
    return parsed !== undefined && isWhole(parsed) ? parsed : undefined
  },
}

/** An amount above 0 without a fraction. */
export const wholeAmount = money('whole amount', wholeAboveZero, {
  type: numberOrText,
  exclusiveMinimum: 0,
  pattern: '^[0-9]{1,15}([.]0{1,3})?$',
})

/** An amount that may be negative, but not 0. */
export const signedAmount = money('signed amount', moneyOf(-1, `${plainNumber}, not 0`), {
  type: numberOrText,
  pattern: '^-?[0-9]{1,15}([.][0-9]{1,3})?$',
})

export const currency = scalar(
  'currency',
  { ...valueTypes.currency, parse: (raw) => valueTypes.currency.parse(raw.toUpperCase()) },
  { type: 'string', pattern: '^[A-Z]{3}$' },
)

/** The address of a page or file. */
export const address = scalar('address', valueTypes.webAddress, { type: 'string', format: 'uri' })

export const latitude = numeric('latitude', coordinateOf(90), plainMeasure, {
  type: numberOrText,
  minimum: -90,
  maximum: 90,
})
export const longitude = numeric('longitude', coordinateOf(180), plainMeasure, {
  type: numberOrText,
  minimum: -180,
  maximum: 180,
})

/** One of these words. */
export function choice<const T extends string>(...words: readonly [T, ...T[]]): FieldType<T> {
  const type = wordOf(...words)
  return scalar(words.join(', '), { ...type, parse: (raw) => type.parse(raw.toLowerCase()) }, { enum: words })
}

/** An active code of a list of IATI 2.03. */
export function code(list: string, expected: string): FieldType<string> {
  return scalar(`${list} code`, codeOf(list, expected), { type: 'string' })
}

const countryCode = codeOf('Country', 'a country code of ISO 3166-1 such as KE')

export const country = scalar(
  'country',
  { ...countryCode, parse: (value) => countryCode.parse(value.toUpperCase()) },
  { type: 'string', pattern: '^[A-Z]{2}$' },
)

export const sdg = scalar('SDG', sdgCode, { type: 'string', pattern: '^[0-9]{1,2}([.]([0-9]{1,2}|[a-d]))?$' })

/** A text of this shape. */
export function shaped(name: string, expected: string, pattern: RegExp): FieldType<string> {
  return scalar(name, textLike(pattern, expected), { type: 'string', pattern: pattern.source })
}

/** A list: in CSV the values with | between them, in NDJSON an array. */
export function listOf<T>(item: FieldType<T>): FieldType<readonly T[]> {
  return {
    name: `list of ${item.name}`,
    expected: `values with | between them, each ${item.expected}`,
    parse: (value, notation) => {
      const items = itemsOf(value, item.name === 'address')
      const parsed = items?.map((one) => item.parse(one, notation))
      return parsed?.every((one) => one !== undefined) ? (parsed as T[]) : undefined
    },
    schema: { anyOf: [{ type: 'array', items: item.schema }, { type: 'string' }] },
    ...(item.isFree && { isFree: true }),
  }
}

/** The parts of an entry of a list; the last part takes the rest of the text. */
export type EntryParts = Readonly<Record<string, { readonly type: FieldType; readonly optional?: boolean }>>

type PartValue<Part> = Part extends { readonly type: FieldType<infer T> } ? T : never

export type EntryOf<Parts extends EntryParts> = {
  readonly [Name in keyof Parts]:
    | PartValue<Parts[Name]>
    | (Parts[Name] extends { readonly optional: true } ? undefined : never)
}

/**
 * A list of entries: in CSV their parts with : between them, in NDJSON objects. Where an entry may be its first part alone
 * that has colons itself, such as an address, its text is `whole`.
 */
export function entriesOf<const Parts extends EntryParts>(
  expected: string,
  parts: Parts,
  whole = false,
): FieldType<readonly EntryOf<Parts>[]> {
  const names = whole ? Object.keys(parts).slice(0, 1) : Object.keys(parts)
  const required = names.filter((name) => !parts[name]?.optional)
  const entries = (value: ParsedValue) =>
    itemsOf(value, whole)?.map((item) => (isObject(item) ? item : splitEntry(names, item)))
  return {
    name: `list of ${whole ? parts[names[0] ?? '']?.type.name : names.join(':')}`,
    expected,
    parse: (value, notation) => {
      const read = entries(value)?.map((entry) => readEntry(parts, entry, notation))
      return read?.every((entry) => entry !== undefined) ? (read as EntryOf<Parts>[]) : undefined
    },
    explain: (value, notation) => {
      const wrong = entries(value)?.flatMap((entry) =>
        Object.entries(entry).flatMap(([name, part]) => {
          const type = parts[name]?.type
          return type?.parse(part, notation) === undefined ? [type?.explain?.(part, notation)] : []
        }),
      )
      return wrong?.find((expected) => expected !== undefined)
    },
    schema: {
      anyOf: [
        {
          type: 'array',
          items: {
            type: 'object',
            properties: Object.fromEntries(Object.entries(parts).map(([name, { type }]) => [name, type.schema])),
            required,
            additionalProperties: false,
          },
        },
        { type: 'string' },
      ],
    },
  }
}

/** Of addresses: whatever parts them from the next one. */
function itemsOf(value: ParsedValue, areAddresses: boolean): readonly ParsedValue[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return undefined
  return value
    .split(areAddresses ? /\||[\s,;]+(?=https?:\/\/)/i : '|')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** The parts of `KE:60`; the last part keeps the colons that it has. */
function splitEntry(names: readonly string[], item: ParsedValue): ParsedObject {
  const pieces = String(item).split(':')
  const last = names.length - 1
  const values = [...pieces.slice(0, last), pieces.slice(last).join(':')]
  return Object.fromEntries(names.flatMap((name, index) => (values[index] ? [[name, values[index]]] : [])))
}

function readEntry(
  parts: EntryParts,
  values: ParsedObject,
  notation: NumberNotation | undefined,
): Record<string, unknown> | undefined {
  const entry: Record<string, unknown> = {}
  for (const [name, { type, optional }] of Object.entries(parts)) {
    const value = values[name]
    if (value === undefined || value === null || value === '') {
      if (!optional) return undefined
      continue
    }
    entry[name] = type.parse(value, notation)
    if (entry[name] === undefined) return undefined
  }
  return Object.keys(values).every((name) => Object.hasOwn(parts, name)) ? entry : undefined
}
