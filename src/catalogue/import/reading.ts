import { closestName } from '../../kernel/closest-name.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import { shownValue } from '../../kernel/values.js'
import type { FileReading, Recipe } from '../sql/reading.js'
import { findKind, kinds } from './kinds.js'
import { expectedDatePattern, isDatePattern } from './number-notation.js'

/** How one member of a JSON object is read; `expected` is what a message expects. */
export type Check<T> = { readonly expected: string; readonly read: (raw: unknown) => T | undefined }

export const textMember = (expected: string, isRight: (raw: string) => boolean): Check<string> => ({
  expected,
  read: (raw) => (typeof raw === 'string' && isRight(raw) ? raw : undefined),
})

const oneOf = <const Word extends string>(...words: readonly Word[]): Check<Word> => ({
  expected: words.join(', '),
  read: (raw) => words.find((word) => word === raw),
})

function objectOf<T>(expected: string, one: (raw: unknown) => T | undefined): Check<Readonly<Record<string, T>>> {
  return {
    expected,
    read: (raw) => {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined
      const entries = Object.entries(raw).map(([name, value]) => [name, one(value)] as const)
      return entries.every(([, value]) => value !== undefined)
        ? (Object.fromEntries(entries) as Readonly<Record<string, T>>)
        : undefined
    },
  }
}

const asText = (raw: unknown) => (typeof raw === 'string' ? raw : undefined)

function listOfTexts(expected: string): Check<readonly string[]> {
  return {
    expected,
    read: (raw) => (Array.isArray(raw) && raw.every((one) => typeof one === 'string') ? raw : undefined),
  }
}

/** How the members of a reading are read from JSON. */
export const readingChecks = {
  map: objectOf('fields by the names of columns', asText),
  values: objectOf('by the names of columns objects of values and what they stand for', objectOf('', asText).read),
  only: objectOf('lists of values by the names of columns', listOfTexts('').read),
  without: objectOf('lists of values by the names of columns', listOfTexts('').read),
  constants: objectOf('values by the names of fields', asText),
  fillDown: listOfTexts('a list of columns'),
  attachments: listOfTexts('a list of columns'),
  plain: listOfTexts('a list of columns'),
  others: oneOf('left out'),
  zone: textMember('a time zone such as Pacific/Auckland', isZone),
  ignore: listOfTexts('a list of columns'),
  decimal: oneOf('comma', 'point'),
  date: textMember(expectedDatePattern(''), isDatePattern),
  encoding: textMember('an encoding such as windows-1252 or utf-8', isEncoding),
  missing: oneOf('empty', 'text'),
  sheet: textMember('the name of a sheet', (text) => text.trim() !== '' && text.length <= 100),
} as const satisfies { readonly [Name in keyof FileReading]-?: Check<NonNullable<FileReading[Name]>> }

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

/** What a message expects instead of an unknown member. */
export function expectedMember(name: string, names: readonly string[]): string {
  const like = closestName(name, names)
  return like === undefined ? `one of ${names.join(', ')}` : `${like}, or another one of ${names.join(', ')}`
}

/** Reads a recipe from JSON. Throws `input-unusable` with everything that is wrong in it. */
export function readRecipe(raw: unknown): Recipe {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new ServiceError('input-unusable', 'expected a JSON object with columns, values and notation')
  }
  const checks: ReadonlyMap<string, Check<unknown>> = new Map([
    ['about', textMember('what it is for', (text) => text !== '')],
    ['page', textMember('the address of a page', (text) => URL.canParse(text))],
    ['kind', textMember(kinds.map(({ name }) => name).join(', '), (name) => findKind(name) !== undefined)],
    ...Object.entries<Check<unknown>>(readingChecks),
  ])
  const problems: string[] = []
  const read = Object.entries(raw).map(([name, value]) => {
    const check = checks.get(name)
    const member = check?.read(value)
    if (check === undefined)
      problems.push(`${name.slice(0, 100)}: expected ${expectedMember(name, [...checks.keys()])}`)
    else if (member === undefined) problems.push(`${name}: expected ${check.expected}, got ${shownValue(value)}`)
    return [name, member] as const
  })
  if (problems.length > 0) throw new ServiceError('input-unusable', problems.join('; '))
  const members = new Map(read)
  // One order, so that two versions of a recipe are compared line by line.
  return Object.fromEntries(
    [...checks.keys()].flatMap((name) => (members.has(name) ? [[name, members.get(name)]] : [])),
  )
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
