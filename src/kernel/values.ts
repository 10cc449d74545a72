import { parseIsoDate, parseWireDateTime } from './dates.js'
import { type CurrencyCode, type Decimal, parseCurrencyCode, parseDecimal, signOf } from './money.js'

/**
 * How a text is read, and what a message expects instead of one that cannot be. Fields of requests, records, import files * and queries, and variables, are read by these; callers may override `expected`.
 */
export type ValueType<T = unknown> = {
  readonly expected: string
  /** Undefined for any other text. */
  readonly parse: (text: string) => T | undefined
}

/** The greatest number of an integer column. */
export const largestInteger = 2_147_483_647

export function wholeNumberIn(least: number, most: number): ValueType<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
      return number >= least && number <= most ? number : undefined
    },
  }
}

export function wordOf<const T extends string>(...words: readonly T[]): ValueType<T> {
  return { expected: `one of ${words.join(', ')}`, parse: (text) => words.find((word) => word === text) }
}

export function textLike(pattern: RegExp, expected: string): ValueType<string> {
  return { expected, parse: (text) => (pattern.test(text) ? text : undefined) }
}

/** An amount of money within numeric(18, 3); `sign` 0: not negative, 1: above 0, -1: any but 0. */
export function moneyOf(sign: 0 | 1 | -1, expected: string): ValueType<Decimal> {
  const hasSign = (decimal: Decimal) => (sign === -1 ? signOf(decimal) !== 0 : signOf(decimal) >= sign)
  const parse = (text: string) => {
    const decimal = parseDecimal(text)
    const fits = decimal !== undefined && /^-?\d{1,15}(?:\.\d{0,3}0*)?$/.test(decimal)
    return fits && hasSign(decimal) ? decimal : undefined
  }
  return { expected, parse }
}

/** Degrees of latitude (90) or longitude (180). */
export function coordinateOf(limit: number): ValueType<Decimal> {
  return {
    expected: `degrees from -${limit} to ${limit} such as 7.54`,
    parse: (text) => {
      const decimal = text.length <= 40 ? parseDecimal(text) : undefined
      return decimal !== undefined && Math.abs(Number(decimal)) <= limit ? decimal : undefined
    },
  }
}

/** A value that one of these words, in any letter case, stands for. */
function wordFor<T>(expected: string, words: Readonly<Record<string, T>>): ValueType<T> {
  const values = new Map(Object.entries(words))
  return { expected, parse: (text) => values.get(text.toLowerCase()) }
}

export const valueTypes = {
  /** A number that identifies something. */
  id: { ...wholeNumberIn(1, Number.MAX_SAFE_INTEGER), expected: 'a whole number above 0' },
  count: wholeNumberIn(0, largestInteger),
  truth: {
    expected: 'true or false',
    parse: (text: string) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
  /** An XML Schema boolean. */
  flag: wordFor('true or false', { true: true, 1: true, false: false, 0: false }),
  yesNo: wordFor('yes or no', { yes: true, true: true, no: false, false: false }),
  day: { expected: 'a day such as 2026-11-21', parse: parseIsoDate },
  instant: {
    expected: 'a date and time with offset, such as 2025-02-11T10:30:00+00:00',
    parse: parseWireDateTime,
  },
  currency: {
    expected: 'the three capitals of a currency, such as USD',
    parse: (text: string): CurrencyCode | undefined => parseCurrencyCode(text),
  },
  webAddress: {
    expected: 'an address that begins with https:// or http://',
    parse: (text: string) => (/^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined),
  },
  /** The shape of a code of ISO 3166-1; the list of codes is in src/iati. */
  countryLetters: {
    expected: 'a country code of two letters',
    parse: (text: string) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : undefined),
  },
} as const satisfies Readonly<Record<string, ValueType>>

/** A value short enough for a message. */
export function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
