import { isActiveCode } from '../../iati/standard/index.js'
import { parseIsoDate, parseWireDateTime } from '../../kernel/dates.js'
import {
  type CurrencyCode,
  type Decimal,
  isWhole,
  parseCurrencyCode,
  parseDecimal,
  signOf,
} from '../../kernel/money.js'
import { isObject, type ParsedObject, type ParsedValue } from '../wire/read/parsed-value.js'

/** A JSON Schema (2020-12) of one value. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** How a value is read from a cell of CSV or a member of NDJSON, and how it is described. */
export type FieldType<T = unknown> = {
  readonly name: string
  /** What a message expects. */
  readonly expected: string
  /** Undefined when the value is not of this type. */
  parse(value: ParsedValue): T | undefined
  readonly schema: JsonSchema
}

function scalar<T>(
  name: string,
  expected: string,
  parse: (text: string) => T | undefined,
  schema: JsonSchema,
): FieldType<T> {
  return {
    name,
    expected,
    parse: (value) =>
      typeof value === 'string' || typeof value === 'boolean' ? parse(String(value).trim()) : undefined,
    schema,
  }
}

const numberOrText = ['number', 'string']

/** A whole number that identifies something. */
export const identifier = scalar('identifier', 'a whole number above 0', (text) => parseWhole(text, 1), {
  type: ['integer', 'string'],
  minimum: 1,
  pattern: '^[1-9][0-9]{0,15}$',
})

export const count = scalar('count', 'a whole number from 0 to 2147483647', parseCount, {
  type: ['integer', 'string'],
  minimum: 0,
  maximum: 2_147_483_647,
  pattern: '^[0-9]{1,10}$',
})

export const text = scalar('text', 'a text', (value) => value, { type: 'string' })

/** HTML as received; it is sanitised before it is stored. */
export const htmlText: FieldType<string> = {
  ...text,
  name: 'HTML',
  parse: (value) => (typeof value === 'string' ? value : undefined),
}

export const yesNo = scalar('yes or no', 'yes or no', (value) => yesNoWords[value.toLowerCase()], {
  anyOf: [{ type: 'boolean' }, { enum: ['yes', 'no', 'true', 'false'] }],
})

const yesNoWords: Readonly<Record<string, boolean>> = { yes: true, true: true, no: false, false: false }

export const day = scalar('day', 'a day such as 2026-11-21', parseIsoDate, { type: 'string', format: 'date' })

export const instant = scalar(
  'instant',
  'a day such as 2026-11-21 or a date and time with offset such as 2026-11-21T09:30:00+00:00',
  (value) => (parseIsoDate(value) ? new Date(`${value}T00:00:00Z`) : parseWireDateTime(value)),
  { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
)

const plainNumber = 'a plain number such as 1234.50: a point before at most 3 decimals, no thousands separator'

/** An amount of money that is not negative. */
export const amount = scalar('amount', plainNumber, (value) => parseAmount(value, 0), {
  type: numberOrText,
  minimum: 0,
  pattern: '^[0-9]{1,15}([.][0-9]{1,3})?$',
})

/** An amount above 0. */
export const positiveAmount = scalar('amount', `${plainNumber}, above 0`, (value) => parseAmount(value, 1), {
  type: numberOrText,
  exclusiveMinimum: 0,
  pattern: '^[0-9]{1,15}([.][0-9]{1,3})?$',
})

/** An amount above 0 without a fraction. */
export const wholeAmount = scalar(
  'whole amount',
  'a whole number above 0, such as 25',
  (value) => {
    const parsed = parseAmount(value, 1)
    return parsed !== undefined && isWhole(parsed) ? parsed : undefined
  },
  {
    type: numberOrText,
    exclusiveMinimum: 0,
    pattern: '^[0-9]{1,15}([.]0{1,3})?$',
  },
)

/** An amount that may be negative, but not 0. */
export const signedAmount = scalar('signed amount', `${plainNumber}, not 0`, (value) => parseAmount(value, -1), {
  type: numberOrText,
  pattern: '^-?[0-9]{1,15}([.][0-9]{1,3})?$',
})

export const currency = scalar(
  'currency',
  'the three capitals of a currency, such as USD',
  (value): CurrencyCode | undefined => parseCurrencyCode(value),
  { type: 'string', pattern: '^[A-Z]{3}$' },
)

/** The address of a page or file. */
export const address = scalar(
  'address',
  'an address that begins with https:// or http://',
  (value) => (/^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined),
  { type: 'string', format: 'uri' },
)

export const latitude = coordinate('latitude', 90)
export const longitude = coordinate('longitude', 180)

/** One of these words. */
export function choice<const T extends string>(...words: readonly [T, ...T[]]): FieldType<T> {
  return scalar(words.join(', '), `one of ${words.join(', ')}`, (value) => words.find((word) => word === value), {
    enum: words,
  })
}

/** An active code of a list of IATI 2.03. */
export function code(list: string, expected: string): FieldType<string> {
  return scalar(`${list} code`, expected, (value) => (isActiveCode(list, value) ? value : undefined), {
    type: 'string',
  })
}

export const country = scalar(
  'country',
  'a country code of ISO 3166-1 such as KE',
  (value) => (isActiveCode('Country', value.toUpperCase()) ? value.toUpperCase() : undefined),
  { type: 'string', pattern: '^[A-Z]{2}$' },
)

/** A goal (6) or target (6.1) of the Sustainable Development Goals. */
export const sdg = scalar(
  'SDG',
  'a goal such as 6 or a target such as 6.1',
  (value) => (isActiveCode(value.includes('.') ? 'UNSDG-Targets' : 'UNSDG-Goals', value) ? value : undefined),
  { type: 'string', pattern: '^[0-9]{1,2}([.]([0-9]{1,2}|[a-d]))?$' },
)

/** A text of this shape. */
export function shaped(name: string, expected: string, pattern: RegExp): FieldType<string> {
  return scalar(name, expected, (value) => (pattern.test(value) ? value : undefined), {
    type: 'string',
    pattern: pattern.source,
  })
}

/** A list: in CSV the values with | between them, in NDJSON an array. */
export function listOf<T>(item: FieldType<T>): FieldType<readonly T[]> {
  return {
    name: `list of ${item.name}`,
    expected: `values with | between them, each ${item.expected}`,
    parse: (value) => {
      const items = itemsOf(value)
      const parsed = items?.map((one) => item.parse(one))
      return parsed?.every((one) => one !== undefined) ? (parsed as T[]) : undefined
    },
    schema: { anyOf: [{ type: 'array', items: item.schema }, { type: 'string' }] },
  }
}

/** The parts of an entry of a list; the last part takes the rest of the text. */
export type EntryParts = Readonly<Record<string, { readonly type: FieldType; readonly optional?: boolean }>>

type PartValue<Part> = Part extends { readonly type: FieldType<infer T> } ? T : never

/** An entry with these parts. */
export type EntryOf<Parts extends EntryParts> = {
  readonly [Name in keyof Parts]:
    | PartValue<Parts[Name]>
    | (Parts[Name] extends { readonly optional: true } ? undefined : never)
}

/** A list of entries: in CSV their parts with : between them, in NDJSON objects. */
export function entriesOf<const Parts extends EntryParts>(
  expected: string,
  parts: Parts,
): FieldType<readonly EntryOf<Parts>[]> {
  const names = Object.keys(parts)
  const required = names.filter((name) => !parts[name]?.optional)
  return {
    name: `list of ${names.join(':')}`,
    expected,
    parse: (value) => {
      const read = itemsOf(value)?.map((item) => readEntry(parts, isObject(item) ? item : splitEntry(names, item)))
      return read?.every((entry) => entry !== undefined) ? (read as EntryOf<Parts>[]) : undefined
    },
    schema: {
      anyOf: [
        {
          type: 'array',
          items: {
            type: 'object',
            properties: Object.fromEntries(names.map((name) => [name, parts[name]?.type.schema])),
            required,
            additionalProperties: false,
          },
        },
        { type: 'string' },
      ],
    },
  }
}

function itemsOf(value: ParsedValue): readonly ParsedValue[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return undefined
  return value
    .split('|')
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

function readEntry(parts: EntryParts, values: ParsedObject): Record<string, unknown> | undefined {
  const entry: Record<string, unknown> = {}
  for (const [name, { type, optional }] of Object.entries(parts)) {
    const value = values[name]
    if (value === undefined || value === null || value === '') {
      if (!optional) return undefined
      continue
    }
    entry[name] = type.parse(value)
    if (entry[name] === undefined) return undefined
  }
  return Object.keys(values).every((name) => Object.hasOwn(parts, name)) ? entry : undefined
}

function coordinate(name: string, limit: number): FieldType<Decimal> {
  return scalar(
    name,
    `degrees from -${limit} to ${limit} such as 7.54`,
    (value) => {
      const decimal = value.length <= 40 ? parseDecimal(value) : undefined
      return decimal !== undefined && Math.abs(Number(decimal)) <= limit ? decimal : undefined
    },
    { type: numberOrText, minimum: -limit, maximum: limit },
  )
}

function parseWhole(value: string, least: number): number | undefined {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : -1
  return number >= least && Number.isSafeInteger(number) ? number : undefined
}

function parseCount(value: string): number | undefined {
  const number = parseWhole(value, 0)
  return number !== undefined && number <= 2_147_483_647 ? number : undefined
}

/** An amount within numeric(18, 3); `sign` 0: not negative, 1: above 0, -1: any but 0. */
function parseAmount(value: string, sign: 0 | 1 | -1): Decimal | undefined {
  const decimal = parseDecimal(value)
  if (decimal === undefined) return undefined
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.')
  if (whole.length > 15 || fraction.replace(/0+$/, '').length > 3) return undefined
  if (sign === -1) return signOf(decimal) === 0 ? undefined : decimal
  return signOf(decimal) >= sign ? decimal : undefined
}
