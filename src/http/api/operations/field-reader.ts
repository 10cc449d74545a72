import { holdsCardNumber } from '../../../kernel/card-number.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { type Decimal, parseDecimal } from '../../../kernel/money.js'
import { type ValueType, valueTypes } from '../../../kernel/values.js'
import { legalText } from '../../../kernel/xml/writer.js'
import type { OpenApiSchema } from '../contract/openapi-schema.js'

const plainDecimal = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

const projectId: ValueType<number> = {
  expected: 'a project identifier, a whole number',
  // No project has such a long number, and a message must not repeat a card's.
  parse: (text) => {
    if (!/^\d{1,30}$/.test(text)) return undefined
    return text.length < 14 ? Number(text) : Number.MAX_SAFE_INTEGER
  },
}

/**
 * Reads the fields of one object of a request leniently (wire.md 6.2): a number may be a text and a text a number, blanks
 * around a text and unknown fields are ignored, and an empty text or `null` is absent. It collects problems without the
 * values, and refuses the number of a payment card in any field, unknown ones too, so that none is stored. The greatest lengths are those of
 * the schema that describes the request.
 */
export class FieldReader {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #schema: OpenApiSchema
  readonly #problems: FieldProblem[]

  constructor(
    fields: Readonly<Record<string, unknown>>,
    path: string,
    schema: OpenApiSchema,
    problems: FieldProblem[],
  ) {
    this.#fields = fields
    this.#path = path
    this.#schema = schema
    this.#problems = problems
  }

  /**
   * A reader of this object; of an empty one, with a problem, when the value is not an object. A card number anywhere in it
   * is a problem, but for the field at `cardPath`.
   */
  static of(
    value: unknown,
    path: string,
    schema: OpenApiSchema,
    problems: FieldProblem[],
    cardPath?: string,
  ): FieldReader {
    refuseCardNumbers(value, path, problems, cardPath)
    if (isObject(value)) return new FieldReader(value, path, schema, problems)
    problems.push({ field: path, expected: 'an object' })
    return new FieldReader({}, path, schema, problems)
  }

  /** Adds a problem, unless the field has one. */
  refuse(name: string, expected: string): void {
    if (this.refused(name)) return
    this.#problems.push({ field: `${this.#path}.${name}`, expected, missing: !this.has(name) })
  }

  /** Whether the field has a problem. */
  refused(name: string): boolean {
    return this.#problems.some(({ field }) => field === `${this.#path}.${name}`)
  }

  /** Whether the field has a value, readable or not. */
  has(name: string): boolean {
    const value = this.#value(name)
    return value !== undefined && !(typeof value === 'string' && value.trim() === '')
  }

  /** The names of fields of this form that ask for something. */
  namesLike(form: RegExp): string[] {
    return Object.keys(this.#fields).filter((name) => form.test(name) && this.asks(name))
  }

  /** Whether the field asks for something: it holds a value that is neither empty nor false. */
  asks(name: string): boolean {
    return asksForSomething(this.#value(name))
  }

  /** The text or number of the field as it came, for a comparison; empty for anything else. */
  said(name: string): string {
    const value = this.#value(name)
    return typeof value === 'object' ? '' : String(value ?? '').trim()
  }

  /** A reader of the object in this field; undefined when it is absent or, with a problem, something else. */
  child(name: string): FieldReader | undefined {
    if (!this.has(name)) return undefined
    const value = this.#value(name)
    if (isObject(value)) return new FieldReader(value, `${this.#path}.${name}`, this.#schemaOf(name), this.#problems)
    this.refuse(name, 'an object')
    return undefined
  }

  /** A reader of an empty object in place of a required one, with a problem. */
  missing(name: string): FieldReader {
    this.refuse(name, 'an object')
    return new FieldReader({}, `${this.#path}.${name}`, this.#schemaOf(name), this.#problems)
  }

  /** The text, of no more characters than the schema allows; undefined when it is absent or, with a problem, something else. */
  text(name: string): string | undefined {
    const length = this.#schemaOf(name).maxLength as number
    if (!this.has(name) || this.refused(name)) return undefined
    const value = this.#value(name)
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text !== 'string') {
      this.refuse(name, 'a text')
      return undefined
    }
    // The answer repeats the text, also in XML.
    const legal = legalText(text).trim()
    if ([...legal].length <= length) return legal === '' ? undefined : legal
    this.refuse(name, `at most ${length} characters`)
    return undefined
  }

  /** As `text`, as an object with the field `key`, or an empty one. */
  optional<Key extends string>(key: Key, name: string): { readonly [K in Key]?: string } {
    const text = this.text(name)
    return (text === undefined ? {} : { [key]: text }) as { readonly [K in Key]?: string }
  }

  /** A required text; empty, with a problem, when it is absent. */
  required(name: string): string {
    const text = this.text(name)
    if (text === undefined) this.refuse(name, 'a text that is not empty')
    return text ?? ''
  }

  /**
   * A required decimal, as a number or a text; undefined, with the problem `expected`, when it is absent or something else.
   * An amount is written in one way: without a sign, blanks or zeros before it.
   */
  decimal(name: string, expected: string): Decimal | undefined {
    const value = this.#value(name)
    const text = typeof value === 'object' ? '' : String(value ?? '')
    const parsed = text.length <= 40 && plainDecimal.test(text) ? parseDecimal(text) : undefined
    if (parsed === undefined) this.refuse(name, expected)
    return parsed
  }

  /** A required record id; 0, with a problem, when it is absent or something else. */
  id(name: string): number {
    return this.#parsed(name, projectId) ?? 0
  }

  /** A boolean, or a text or number that means one; false when absent. */
  boolean(name: string): boolean {
    return this.has(name) && (this.#parsed(name, valueTypes.flag) ?? false)
  }

  #parsed<T>(name: string, { expected, parse }: ValueType<T>): T | undefined {
    const value = this.#value(name)
    const parsed = typeof value === 'object' ? undefined : parse(String(value ?? '').trim())
    if (parsed === undefined) this.refuse(name, expected)
    return parsed
  }

  // A field that is read and not described is a defect.
  #schemaOf(name: string): OpenApiSchema {
    const properties = this.#schema.properties as Readonly<Record<string, OpenApiSchema>> | undefined
    const schema = properties?.[name]
    if (!schema) throw new TypeError(`${this.#path}.${name} is not in the schema of the request`)
    return schema
  }

  #value(name: string): unknown {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined
    return value === null ? undefined : value
  }
}

/** Adds a problem for each text or number that may be the number of a card. Neither values nor such names are repeated. */
function refuseCardNumbers(value: unknown, path: string, problems: FieldProblem[], cardPath: string | undefined): void {
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (holdsCardNumber(name)) refuseCardNumber(path, problems)
      else refuseCardNumbers(member, Array.isArray(value) ? path : `${path}.${name}`, problems, cardPath)
    }
    return
  }
  if (path !== cardPath && holdsCardNumber(String(value ?? ''))) refuseCardNumber(path, problems)
}

function refuseCardNumber(path: string, problems: FieldProblem[]): void {
  if (problems.some(({ field }) => field === path)) return
  const expected = 'no card number: use version 2, donationsclient, with paymentGatewayNonce'
  problems.push({ field: path, expected })
}

function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'object') return Object.values(value).some(asksForSomething)
  return !/^(?:|false|0)$/i.test(String(value).trim())
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
