import type { FieldProblem } from '../../../kernel/errors.js'
import type { Decimal } from '../../../kernel/money.js'
import { coordinateOf, moneyOf, shownValue, type ValueType, valueTypes } from '../../../kernel/values.js'
import { isObject, objectsOf, type ParsedObject, type ParsedValue } from './parsed-value.js'

/** Characters of one text; those of real projects have some thousands. */
export const mostTextCharacters = 100_000

const money = moneyOf(0, 'a plain decimal from 0, without exponent, of at most 3 decimals')
const count = { ...valueTypes.count, expected: 'a whole number from 0' }
const bigint: ValueType<string> = {
  expected: 'a signed 64-bit integer',
  parse: (text) => {
    const value = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined
    return value !== undefined && BigInt.asIntN(64, value) === value ? value.toString() : undefined
  },
}

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

  /** The value of the field's trimmed text. */
  parsed<T>(field: string, type: ValueType<T>): T | undefined {
    const value = this.value(field)
    const parsed = parseValue(value, type)
    if (value !== undefined && parsed === undefined) this.refuse(field, type.expected, value)
    return parsed
  }

  /** As `parsed`, of a field that must be there; returns `otherwise` after a problem. */
  required<T, O = T>(field: string, type: ValueType<T>, otherwise: O): T | O {
    if (this.value(field) === undefined) this.refuse(field, type.expected, this.#object[field])
    return this.parsed(field, type) ?? otherwise
  }

  requiredId(field: string): number {
    return this.required(field, valueTypes.id, 0)
  }

  requiredBoolean(field: string): boolean {
    return this.required(field, valueTypes.truth, false)
  }

  /** An amount of money that is not negative. */
  money(field: string): Decimal | undefined {
    return this.parsed(field, money)
  }

  requiredMoney(field: string): Decimal {
    return this.required(field, money, '0' as Decimal)
  }

  count(field: string): number | undefined {
    return this.parsed(field, count)
  }

  instant(field: string): Date | undefined {
    return this.parsed(field, valueTypes.instant)
  }

  tryCount(field: string): number | undefined {
    return this.#try(field, count)
  }

  /** A coordinate between -limit and limit. */
  tryCoordinate(field: string, limit: number): Decimal | undefined {
    return this.#try(field, coordinateOf(limit))
  }

  /** A signed 64-bit integer, as text. */
  tryBigint(field: string): string | undefined {
    return this.#try(field, bigint)
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

  #try<T>(field: string, type: ValueType<T>): T | undefined {
    const value = this.value(field)
    const parsed = parseValue(value, type)
    if (value !== undefined && parsed === undefined) this.#known.delete(field)
    return parsed
  }
}

/** Reads a value that is a text or a boolean; undefined for others. */
export function parseValue<T>(value: ParsedValue | undefined, { parse }: ValueType<T>): T | undefined {
  return typeof value === 'string' || typeof value === 'boolean' ? parse(String(value).trim()) : undefined
}

function isEmpty(value: ParsedValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
