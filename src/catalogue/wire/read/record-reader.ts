import { parseWireDateTime } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { type Decimal, parseDecimal } from '../../../kernel/money.js'
import { isObject, objectsOf, type ParsedObject, type ParsedValue } from './parsed-value.js'

// Limits of the columns: integer and numeric(18, 3).
const largestInteger = 2_147_483_647
const wholeDigits = 15
const decimals = 3

/** Characters of one text; those of real projects have some thousands. */
const mostTextCharacters = 100_000

const moneyExpected = 'a plain decimal from 0, without exponent, of at most 3 decimals'

/**
 * Reads the fields of one object of a record, and collects problems and unknown fields. `try...` methods leave a wrong
 * value among the unknown fields; with every other method a wrong value is a problem, which refuses the record.
 */
export class RecordReader {
  /** Problems of the record so far; the readers of its parts share the list. */
  readonly problems: FieldProblem[]
  readonly #object: ParsedObject
  readonly #path: string
  readonly #known = new Set<string>()

  constructor(object: ParsedObject, path = '', problems: FieldProblem[] = []) {
    this.#object = object
    this.#path = path
    this.problems = problems
  }

  /** Records that a field's value is wrong. */
  refuse(field: string, expected: string, got?: ParsedValue): void {
    const problem = { field: this.#path + field, expected }
    this.problems.push(got === undefined ? problem : { ...problem, got: shownValue(got) })
  }

  /** The value as it came; undefined when absent, null or empty. */
  value(field: string): ParsedValue | undefined {
    this.#known.add(field)
    const value = Object.hasOwn(this.#object, field) ? this.#object[field] : undefined
    return value === undefined || value === null || value === '' ? undefined : value
  }

  /** Text as it came, markup and blanks included; blank text is absent. */
  text(field: string): string | undefined {
    const value = this.value(field)
    if (value === undefined || isEmpty(value)) return undefined
    if (typeof value === 'boolean') return String(value)
    if (typeof value === 'string' && value.length <= mostTextCharacters) return value.trim() === '' ? undefined : value
    this.refuse(field, `one text of at most ${mostTextCharacters} characters`, value)
    return undefined
  }

  /** As `text`, but an empty text that is stated stays one. */
  textOrEmpty(field: string): string | undefined {
    const text = this.text(field)
    const value = Object.hasOwn(this.#object, field) ? this.#object[field] : undefined
    return text === undefined && (value === '' || (isObject(value) && isEmpty(value))) ? '' : text
  }

  requiredText(field: string): string {
    const text = this.text(field)
    if (text === undefined && !this.problems.some((problem) => problem.field === this.#path + field)) {
      this.refuse(field, 'a text that is not blank', this.#object[field])
    }
    return text ?? ''
  }

  /** The value that `parse` makes of the field's trimmed text. */
  parsed<T>(field: string, expected: string, parse: (text: string) => T | undefined): T | undefined {
    const value = this.value(field)
    const parsed = parseValue(value, parse)
    if (value !== undefined && parsed === undefined) this.refuse(field, expected, value)
    return parsed
  }

  /** As `parsed`, of a field that must be there; returns `otherwise` after a problem. */
  required<T, O = T>(field: string, expected: string, parse: (text: string) => T | undefined, otherwise: O): T | O {
    if (this.value(field) === undefined) this.refuse(field, expected, this.#object[field])
    return this.parsed(field, expected, parse) ?? otherwise
  }

  requiredId(field: string): number {
    return this.required(field, 'a whole number above 0', (text) => parseInteger(text, 1, Number.MAX_SAFE_INTEGER), 0)
  }

  requiredBoolean(field: string): boolean {
    return this.required(field, 'true or false', (text) => ({ true: true, false: false })[text], false)
  }

  /** An amount of money that is not negative. */
  money(field: string): Decimal | undefined {
    return this.parsed(field, moneyExpected, parseMoney)
  }

  requiredMoney(field: string): Decimal {
    return this.required(field, moneyExpected, parseMoney, '0' as Decimal)
  }

  count(field: string): number | undefined {
    return this.parsed(field, 'a whole number from 0', parseCount)
  }

  instant(field: string): Date | undefined {
    return this.parsed(field, 'a date and time with offset, such as 2025-02-11T10:30:00+00:00', parseWireDateTime)
  }

  tryCount(field: string): number | undefined {
    return this.#try(field, parseCount)
  }

  /** A coordinate between -limit and limit. */
  tryCoordinate(field: string, limit: number): Decimal | undefined {
    return this.#try(field, (text) => {
      const decimal = text.length <= 40 ? parseDecimal(text) : undefined
      return decimal !== undefined && Math.abs(Number(decimal)) <= limit ? decimal : undefined
    })
  }

  /** A signed 64-bit integer, as text. */
  tryBigint(field: string): string | undefined {
    return this.#try(field, (text) => {
      if (!/^-?\d{1,19}$/.test(text)) return undefined
      const value = BigInt(text)
      return BigInt.asIntN(64, value) === value ? value.toString() : undefined
    })
  }

  /** The objects of a wrapper such as `themes` -> `theme`: a list, a single object, or nothing. */
  list(wrapper: string, name: string): ParsedObject[] {
    const value = this.value(wrapper)
    return objectsOf(isObject(value) ? value[name] : value)
  }

  /** As `list`, with a reader of each object. */
  parts(wrapper: string, name: string): RecordReader[] {
    const path = `${this.#path}${wrapper}/`
    return this.list(wrapper, name).map((object) => new RecordReader(object, path, this.problems))
  }

  /** A reader of a single object. */
  part(field: string): RecordReader | undefined {
    const value = this.value(field)
    if (value === undefined || isEmpty(value)) return undefined
    if (isObject(value)) return new RecordReader(value, `${this.#path}${field}/`, this.problems)
    this.refuse(field, 'one object', value)
    return undefined
  }

  /** Fields that nobody read or that could not be read, sorted by name; undefined when there are none. */
  unknown(): Readonly<Record<string, ParsedValue>> | undefined {
    const names = Object.keys(this.#object).filter((name) => !this.#known.has(name))
    if (names.length === 0) return undefined
    return Object.fromEntries(names.sort().map((name) => [name, this.#object[name] ?? null]))
  }

  #try<T>(field: string, parse: (text: string) => T | undefined): T | undefined {
    const value = this.value(field)
    const parsed = parseValue(value, parse)
    if (value !== undefined && parsed === undefined) this.#known.delete(field)
    return parsed
  }
}

function parseValue<T>(value: ParsedValue | undefined, parse: (text: string) => T | undefined): T | undefined {
  return typeof value === 'string' || typeof value === 'boolean' ? parse(String(value).trim()) : undefined
}

function isEmpty(value: ParsedValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function parseInteger(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1
  return value >= least && value <= most ? value : undefined
}

function parseCount(text: string): number | undefined {
  return parseInteger(text, 0, largestInteger)
}

function parseMoney(text: string): Decimal | undefined {
  const decimal = parseDecimal(text)
  if (decimal === undefined || decimal.startsWith('-')) return undefined
  const [whole = '', fraction = ''] = decimal.split('.')
  return whole.length <= wholeDigits && fraction.replace(/0+$/, '').length <= decimals ? decimal : undefined
}

/** A value short enough for a message. */
export function shownValue(value: ParsedValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
