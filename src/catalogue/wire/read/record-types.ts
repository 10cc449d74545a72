import type { Decimal } from '../../../kernel/money.js'
import {
  isRecord,
  type MemberType,
  type MemberTypes,
  mapped,
  type ObjectOf,
  objectType,
  optional,
  type ReadPolicy,
} from '../../../kernel/read-object.js'
import { coordinateOf, moneyOf, shownValue, type ValueType, valueTypes } from '../../../kernel/values.js'
import { objectsOf, type ParsedValue } from './parsed-value.js'

/** Characters of one text; those of real projects have some thousands. */
export const mostTextCharacters = 100_000

/** Records are lenient where old clients are odd: an empty text is absent. */
export const ofRecords: ReadPolicy = {
  separator: '/',
  isAbsent: (value) => value === undefined || value === null || value === '',
  got: (value) => (value === undefined ? {} : { got: shownValue(value) }),
}

/** Reads a value that is a text or a boolean; undefined for others. */
export function parseValue<T>(value: unknown, { parse }: ValueType<T>): T | undefined {
  return typeof value === 'string' || typeof value === 'boolean' ? parse(String(value).trim()) : undefined
}

/** The value of a trimmed text. */
export function parsedType<T>(type: ValueType<T>): MemberType<T> {
  return { expected: type.expected, read: (value) => parseValue(value, type) }
}

/** A member that may be absent, and stays unknown where it is wrong. */
function tried<T>(type: ValueType<T>) {
  return { ...optional(parsedType(type)), orUnknown: true } as const
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || isEmpty(value) || (typeof value === 'string' && value.trim() === '')
}

/** Text as it came, markup and blanks included; blank text is absent. */
const text: MemberType<string> = {
  expected: `one text of at most ${mostTextCharacters} characters`,
  isAbsent: isBlank,
  read: (value) => {
    if (typeof value === 'boolean') return String(value)
    return typeof value === 'string' && value.length <= mostTextCharacters ? value : undefined
  },
}

const requiredText: MemberType<string> = {
  ...text,
  expected: 'a text that is not blank',
  read: (value, place) => {
    const read = text.read(value, place)
    if (read === undefined && value !== undefined) place.refuse(text.expected, value)
    return read
  },
}

const isStatedEmpty = (value: unknown) => value === '' || (isRecord(value) && isEmpty(value))

const bigint: ValueType<string> = {
  expected: 'a signed 64-bit integer',
  parse: (raw) => {
    const value = /^-?\d{1,19}$/.test(raw) ? BigInt(raw) : undefined
    return value !== undefined && BigInt.asIntN(64, value) === value ? value.toString() : undefined
  },
}

const count = { ...valueTypes.count, expected: 'a whole number from 0' }

/** An amount that is not negative. */
const money: MemberType<Decimal> = parsedType(
  moneyOf(0, 'a plain decimal from 0, without exponent, of at most 3 decimals'),
)

export const recordTypes = {
  requiredText,
  money,
  text: optional(text),
  /** As a text, but an empty one that is stated stays one. */
  textOrEmpty: optional<string>({
    ...text,
    isAbsent: (value) => !isStatedEmpty(value) && isBlank(value),
    read: (value, place) => (isStatedEmpty(value) ? '' : text.read(value, place)),
  }),
  id: parsedType(valueTypes.id),
  truth: parsedType(valueTypes.truth),
  count: optional(parsedType(count)),
  instant: optional(parsedType(valueTypes.instant)),
  triedCount: tried(count),
  /** Degrees, as text. */
  latitude: tried(coordinateOf(90)),
  longitude: tried(coordinateOf(180)),
  bigint: tried(bigint),
}

/** A text that is trimmed, where it is not blank. */
export const trimmedText = optional(mapped(text, (value) => value.trim()))

/** The value of a text that may be blank, which is then absent. */
export function checkedText<T>(type: ValueType<T>) {
  return optional({ ...parsedType(type), isAbsent: isBlank })
}

/** A single object that may be absent; anything else is refused as a whole. */
export function partType<T>(object: MemberType<T>) {
  return optional<T>({
    expected: 'one object',
    isAbsent: (value) => value === '' || isEmpty(value) || value === undefined || value === null,
    read: (value, place) => (isRecord(value) ? object.read(value, place) : undefined),
  })
}

/** The objects of a wrapper such as `themes` -> `theme`: a list, a single object, or nothing. */
export function wrapped<Members extends MemberTypes>(name: string, members: Members): MemberType<ObjectOf<Members>[]> {
  const item = objectType(members)
  return {
    expected: 'a list',
    read: (value, place) => objectsIn(value, name).map((one) => item.read(one, place) as ObjectOf<Members>),
  }
}

export function objectsIn(value: unknown, name: string) {
  return objectsOf((isRecord(value) ? value[name] : value) as ParsedValue | undefined)
}
