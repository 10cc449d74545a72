import { closestName } from '../../kernel/closest-name.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import {
  inText,
  listType,
  type MemberType,
  type MemberTypes,
  objectType,
  ofOthers,
  optional,
  type ReadPolicy,
  readObject,
  recordType,
  textType,
  toldProblem,
} from '../../kernel/read-object.js'
import { wordOf } from '../../kernel/values.js'
import type { FileReading, Recipe } from '../sql/reading.js'
import { findKind, kinds } from './kinds.js'
import { expectedDatePattern, isDatePattern } from './number-notation.js'

/** A text for which this holds. */
export function textWhere(expected: string, isRight: (text: string) => boolean) {
  return inText({ expected, parse: (text) => (isRight(text) ? text : undefined) })
}

const words = <const Word extends string>(...words: readonly Word[]) =>
  inText({ ...wordOf(...words), expected: words.join(', ') })

const text = textType()
const columns: MemberType<readonly string[]> = { ...listType(text), expected: 'a list of columns' }
const valuesByColumn = recordType('lists of values by the names of columns', listType(text))

/** How the members of a reading are read from JSON. */
export const readingMembers = {
  map: recordType('fields by the names of columns', text),
  values: recordType(
    'by the names of columns objects of values and what they stand for',
    recordType('an object of values and what they stand for', text),
  ),
  only: valuesByColumn,
  without: valuesByColumn,
  constants: recordType('values by the names of fields', text),
  fillDown: columns,
  attachments: columns,
  plain: columns,
  others: words('left out'),
  zone: textWhere('a time zone such as Pacific/Auckland', isZone),
  ignore: columns,
  decimal: words('comma', 'point', 'cents'),
  date: textWhere(expectedDatePattern(''), isDatePattern),
  encoding: textWhere('an encoding such as windows-1252 or utf-8', isEncoding),
  missing: words('empty', 'text'),
  sheet: textWhere('the name of a sheet', (name) => name.trim() !== '' && name.length <= 100),
} as const satisfies { readonly [Name in keyof FileReading]-?: MemberType<NonNullable<FileReading[Name]>> }

function isZone(raw: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: raw }).format(0) !== ''
  } catch {
    return false
  }
}

function isEncoding(raw: string): boolean {
  try {
    return new TextDecoder(raw).encoding !== ''
  } catch {
    return false
  }
}

/** What people write in files of settings and as options: a member that nobody knows is a typing error. */
export const ofPeople: ReadPolicy = {
  ...ofOthers,
  unknown: (name, names) => {
    const like = closestName(name, names)
    return like === undefined ? `one of ${names.join(', ')}` : `${like}, or another one of ${names.join(', ')}`
  },
}

/** These members, each of which may be left out. */
export function allOptional<Members extends MemberTypes>(members: Members) {
  const entries = Object.entries(members).map(([name, type]) => [name, optional(type)])
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Members]: Members[Name] & { readonly optional: true }
  }
}

/** Reads a recipe from JSON. Throws `input-unusable` with everything that is wrong in it. */
export function readRecipe(raw: unknown): Recipe {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ServiceError('input-unusable', 'expected a JSON object with columns, values and notation')
  }
  const members = {
    about: textWhere('what it is for', (about) => about !== ''),
    page: textWhere('the address of a page', (address) => URL.canParse(address)),
    kind: textWhere(kinds.map(({ name }) => name).join(', '), (name) => findKind(name) !== undefined),
    ...readingMembers,
  }
  // One order, so that two versions of a recipe are compared line by line.
  const { value, problems } = readObject(objectType(allOptional(members)), raw, ofPeople)
  if (problems) throw new ServiceError('input-unusable', problems.map(toldProblem).join('; '))
  return value
}

/** A reading with the currency of the books in the names of its columns, for which `{currency}` stands. */
export function readingIn(reading: FileReading, currency: CurrencyCode): FileReading {
  if (reading.map === undefined) return reading
  const map = Object.entries(reading.map).map(([name, field]) => [name.replaceAll('{currency}', currency), field])
  return { ...reading, map: Object.fromEntries(map) }
}

/** How a recipe reads files. */
export function readingOfRecipe({ kind: _kind, about: _about, page: _page, ...reading }: Recipe): FileReading {
  return reading
}
