import { parseWireDateTime } from '../../domain/dates.js'
import type { FieldProblem } from '../../domain/errors.js'
import { type Decimal, parseDecimal } from '../../domain/money.js'
import type { WireObject, WireValue } from './wire-value.js'

const integerPattern = /^\d{1,16}$/
// What numeric(18, 3) and integer columns hold.
const largestInteger = 2_147_483_647
const wholeDigits = 15
const decimals = 3

/**
 * Reads the fields of one object, remembering which were asked for and what was wrong. `take...` methods record a
 * problem for a wrong value; `try...` methods leave a wrong value among the unknown fields, which refuses nothing.
 */
export class FieldReader {
  readonly #object: WireObject
  readonly #path: string
  readonly #known = new Set<string>()
  readonly #problems: FieldProblem[]

  constructor(object: WireObject, path: string, problems: FieldProblem[]) {
    this.#object = object
    this.#path = path
    this.#problems = problems
  }

  /** Records that a field's value is wrong. */
  refuse(field: string, expected: string, got?: WireValue): void {
    const problem = { field: this.#path + field, expected }
    this.#problems.push(got === undefined ? problem : { ...problem, got: shown(got) })
  }

  /** The value as it came; undefined when absent, null or empty. */
  value(field: string): WireValue | undefined {
    this.#known.add(field)
    const value = Object.hasOwn(this.#object, field) ? this.#object[field] : undefined
    return value === undefined || value === null || value === '' ? undefined : value
  }

  /** Text as it came, markup and blanks included; blank text is absent. Anything but text refuses the record. */
  text(field: string): string | undefined {
    const value = this.value(field)
    if (value === undefined) return undefined
    if (typeof value === 'boolean') return String(value)
    if (typeof value === 'string') return value.trim() === '' ? undefined : value
    if (isEmpty(value)) return undefined
    this.refuse(field, 'one text', value)
    return undefined
  }

  requiredText(field: string): string {
    const text = this.text(field)
    if (text === undefined && !this.#problems.some((problem) => problem.field === this.#path + field)) {
      this.refuse(field, 'a text that is not blank', this.#object[field])
    }
    return text ?? ''
  }

  requiredId(field: string): number {
    const value = this.value(field)
    const id = typeof value === 'string' ? parseInteger(value, Number.MAX_SAFE_INTEGER) : undefined
    if (id === undefined || id === 0) this.refuse(field, 'a whole number above 0', value)
    return id ?? 0
  }

  requiredBoolean(field: string): boolean {
    const value = this.value(field)
    const text = typeof value === 'string' ? value.trim() : value
    if (text === true || text === 'true') return true
    if (text !== false && text !== 'false') this.refuse(field, 'true or false', value)
    return false
  }

  /** Money: a plain decimal of at most 3 decimals, not negative. */
  money(field: string): Decimal | undefined {
    const value = this.value(field)
    if (value === undefined) return undefined
    const amount = typeof value === 'string' ? parseMoney(value.trim()) : undefined
    if (amount === undefined)
      this.refuse(field, 'a plain decimal from 0, without exponent, of at most 3 decimals', value)
    return amount
  }

  requiredMoney(field: string): Decimal {
    const missing = this.value(field) === undefined
    if (missing) this.refuse(field, 'an amount of money', this.#object[field])
    return this.money(field) ?? ('0' as Decimal)
  }

  count(field: string): number | undefined {
    const value = this.value(field)
    if (value === undefined) return undefined
    const count = typeof value === 'string' ? parseInteger(value, largestInteger) : undefined
    if (count === undefined) this.refuse(field, 'a whole number from 0', value)
    return count
  }

  instant(field: string): Date | undefined {
    const value = this.value(field)
    if (value === undefined) return undefined
    const instant = typeof value === 'string' ? parseWireDateTime(value.trim()) : undefined
    if (instant === undefined)
      this.refuse(field, 'a date and time with offset, such as 2025-02-11T10:30:00+00:00', value)
    return instant
  }

  tryCount(field: string): number | undefined {
    return this.#try(field, (text) => parseInteger(text, largestInteger))
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
  list(wrapper: string, name: string): WireObject[] {
    const value = this.value(wrapper)
    if (value === undefined || isEmpty(value)) return []
    const inner = isObject(value) ? value[name] : value
    const items: readonly (WireValue | undefined)[] = Array.isArray(inner) ? inner : [inner]
    return items.filter((item): item is WireObject => item !== undefined && isObject(item))
  }

  /** A single object; something else than an object or nothing refuses the record. */
  object(field: string): WireObject | undefined {
    const value = this.value(field)
    if (value === undefined || isEmpty(value)) return undefined
    if (isObject(value)) return value
    this.refuse(field, 'one object', value)
    return undefined
  }

  /** Everything that was not asked for or could not be read, in the order of names; undefined when there is nothing. */
  unknown(): Readonly<Record<string, WireValue>> | undefined {
    const names = Object.keys(this.#object).filter((name) => !this.#known.has(name))
    if (names.length === 0) return undefined
    return Object.fromEntries(names.sort().map((name) => [name, this.#object[name] ?? null]))
  }

  #try<T>(field: string, parse: (text: string) => T | undefined): T | undefined {
    const value = this.value(field)
    if (value === undefined) return undefined
    const parsed = typeof value === 'string' ? parse(value.trim()) : undefined
    if (parsed === undefined) this.#known.delete(field)
    return parsed
  }
}

export function isObject(value: WireValue): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: WireValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function parseInteger(text: string, largest: number): number | undefined {
  const trimmed = text.trim()
  if (!integerPattern.test(trimmed)) return undefined
  const value = Number(trimmed)
  return value <= largest ? value : undefined
}

function parseMoney(text: string): Decimal | undefined {
  const decimal = parseDecimal(text)
  if (decimal === undefined || decimal.startsWith('-')) return undefined
  const [whole = '', fraction = ''] = decimal.split('.')
  return whole.length <= wholeDigits && fraction.replace(/0+$/, '').length <= decimals ? decimal : undefined
}

/** A value short enough for a message. */
function shown(value: WireValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
