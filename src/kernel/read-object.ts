import { parseWireDateTime } from './dates.js'
import { type FieldProblem, problemText } from './errors.js'
import { shownValue, type ValueType } from './values.js'

/** A JSON Schema (2020-12) of one value. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * How a value from outside is read, what a message expects instead of one that cannot be, and how it is described.
 */
export type MemberType<T = unknown> = {
  readonly expected: string
  /** Undefined for any other value. A type that has told a problem at the place, or within it, has told all of them. */
  read(value: unknown, place: ValuePlace): T | undefined
  readonly schema?: JsonSchema
  /** It may be left out; `or null`: null is left out too. */
  readonly optional?: true | 'or null'
  /** Whether a value counts as left out, where that is not as the policy says. */
  readonly isAbsent?: (value: unknown) => boolean
  /** The name of what is read, where that is not the member's. */
  readonly as?: string
  /** A wrong value is no problem: the member stays unknown. */
  readonly orUnknown?: true
}

/** In what the readers of objects differ. */
export type ReadPolicy = {
  /** Whether a member with this value counts as left out; undefined: none does. */
  readonly isAbsent?: (value: unknown) => boolean
  /** Between the names of a path; undefined: a point. */
  readonly separator?: string
  /** Of each path one problem is enough. */
  readonly tellsOnce?: true
  /** What a problem says of the value that came at a path. */
  readonly got: (value: unknown, path: string) => Pick<FieldProblem, 'got' | 'missing'>
  /** What is expected instead of a member that no field reads; undefined: such members are ignored. */
  readonly unknown?: (name: string, names: readonly string[]) => string
}

/** Where a value stands in what is read. */
export class ValuePlace {
  readonly policy: ReadPolicy
  /** What is wrong so far; all places of an object share the list. */
  readonly problems: FieldProblem[]
  readonly #name: string | number
  readonly #parent: ValuePlace | undefined

  constructor(policy: ReadPolicy, problems: FieldProblem[] = [], name: string | number = '', parent?: ValuePlace) {
    this.policy = policy
    this.problems = problems
    this.#name = name
    this.#parent = parent
  }

  /** Its name in problems; made where there is one, since most values are right. */
  get path(): string {
    const above = this.#parent?.path ?? ''
    return above === '' ? `${this.#name}` : `${above}${this.policy.separator ?? '.'}${this.#name}`
  }

  at(name: string | number): ValuePlace {
    return new ValuePlace(this.policy, this.problems, name, this)
  }

  /** Tells that the value here is not the expected one. */
  refuse(expected: string, value: unknown): void {
    if (this.policy.tellsOnce && this.problems.some(({ field }) => field === this.path)) return
    this.problems.push({ field: this.path, expected, ...this.policy.got(value, this.path) })
  }

  /** The value here by its type; undefined, with a problem, when it is another one. */
  read<T>(type: MemberType<T>, value: unknown, said = value): T | undefined {
    const before = this.problems.length
    const read = type.read(value, this)
    if (read === undefined && this.problems.length === before && !type.orUnknown) this.refuse(type.expected, said)
    return read
  }
}

export type MemberTypes = Readonly<Record<string, MemberType>>

export type TypeOf<Type> = Type extends MemberType<infer T> ? T : never

type OptionalIn<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends { readonly optional: true | 'or null' } ? Name : never
}[keyof Members]

export type ObjectOf<Members extends MemberTypes> = {
  readonly [Name in Exclude<keyof Members, OptionalIn<Members>>]: TypeOf<Members[Name]>
} & { readonly [Name in OptionalIn<Members>]?: TypeOf<Members[Name]> }

/** What was read, or everything that is wrong. */
export type ObjectReading<T> =
  | { readonly value: T; readonly problems?: undefined }
  | { readonly value?: undefined; readonly problems: readonly [FieldProblem, ...FieldProblem[]] }

/** Reads an object from outside by the types of its members; `path` is its own name in problems. */
export function readObject<T>(object: MemberType<T>, input: unknown, policy: ReadPolicy, path = ''): ObjectReading<T> {
  const place = new ValuePlace(policy, [], path)
  const value = place.read(object, input)
  const [first, ...others] = place.problems
  return first ? { problems: [first, ...others] } : { value: value as T }
}

/** As `readObject`, of a document of another program. Throws when something in it is wrong. */
export function requireObject<T>(object: MemberType<T>, input: unknown, policy = ofOthers): T {
  const { value, problems } = readObject(object, input, policy)
  if (problems) throw new TypeError(firstProblem(problems))
  return value
}

/** For documents of other programs: they may grow, and one sentence says what is wrong with one. */
export const ofOthers: ReadPolicy = { got: (value) => ({ got: value === undefined ? 'nothing' : shownValue(value) }) }

/** The first problem in a sentence. */
export function firstProblem([problem]: readonly [FieldProblem, ...FieldProblem[]]): string {
  return toldProblem(problem)
}

export function toldProblem(problem: FieldProblem): string {
  return problem.got === undefined ? problemText(problem) : `${problemText(problem)}, got ${problem.got}`
}

export function optional<T>(type: MemberType<T>): MemberType<T> & { readonly optional: true } {
  return { ...type, optional: true }
}

export function orNull<T>(type: MemberType<T>): MemberType<T> & { readonly optional: 'or null' } {
  return { ...type, optional: 'or null' }
}

/** The type with a value for members that are left out. */
export function otherwise<T>({ optional: _, ...type }: MemberType<T>, value: T): MemberType<T> {
  return { ...type, read: (given, place) => (given === undefined ? value : type.read(given, place)) }
}

/** The type with what was read made into something else. */
export function mapped<T, U>(type: MemberType<T>, map: (value: T, place: ValuePlace) => U): MemberType<U> {
  const read: MemberType<U>['read'] = (value, place) => {
    const read = type.read(value, place)
    return read === undefined ? undefined : map(read, place)
  }
  return { ...type, read }
}

/**
 * An object of these members. One that is missing, or is something else, lacks each of them. Members that no field reads or
 * could read are in `unknowns`, by name, where it is named.
 */
export function objectType<const Members extends MemberTypes>(
  members: Members,
  unknowns?: string,
): MemberType<ObjectOf<Members>> {
  const entries = Object.entries<MemberType>(members)
  const names = Object.keys(members)
  const required = entries.flatMap(([name, type]) => (type.optional ? [] : [name]))
  return {
    expected: 'an object',
    read: (value, place) => {
      const { policy } = place
      const given = isRecord(value) ? value : {}
      if (given !== value) place.refuse('an object', value)
      const read: Record<string, unknown> = {}
      const unread: string[] = []
      for (const [name, type] of entries) {
        const own = given[name] !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
        const isAbsent = type.isAbsent ?? policy.isAbsent
        const member = own === undefined || isAbsent?.(own) ? undefined : own
        if (member === undefined ? type.optional : member === null && type.optional === 'or null') continue
        const one = place.at(name).read(type, member, own)
        if (one === undefined && type.orUnknown) unread.push(name)
        else read[type.as ?? name] = one
      }
      if (policy.unknown || unknowns) {
        for (const name of Object.keys(given)) {
          if (Object.hasOwn(members, name) || given[name] === undefined) continue
          unread.push(name)
          const expected = policy.unknown?.(name, names)
          if (expected !== undefined) place.problems.push({ field: place.at(name.slice(0, 100)).path, expected })
        }
        if (unknowns && unread.length > 0) {
          read[unknowns] = Object.fromEntries(unread.sort().map((name) => [name, given[name] ?? null]))
        }
      }
      return read as ObjectOf<Members>
    },
    schema: {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(entries.map(([name, { schema = {} }]) => [name, schema])),
    },
  }
}

/** An object whose members, of any name, are of one type. */
export function recordType<T>(expected: string, member: MemberType<T>): MemberType<Readonly<Record<string, T>>> {
  return {
    expected,
    read: (value, place) => {
      if (!isRecord(value)) return undefined
      const read = Object.entries(value).map(([name, one]) => [name, place.at(name).read(member, one) as T] as const)
      return Object.fromEntries(read)
    },
  }
}

export function listType<T>(item: MemberType<T>, least = 0): MemberType<readonly T[]> {
  return {
    expected: least === 0 ? 'a list' : `a list of at least ${least}`,
    read: (value, place) => {
      if (!Array.isArray(value) || value.length < least) return undefined
      return value.map((one, at) => place.at(at).read(item, one) as T)
    },
    schema: { type: 'array', items: item.schema ?? {}, ...(least > 0 && { minItems: least }) },
  }
}

/** A text of so many characters, without NUL, which PostgreSQL does not store. */
export function textType(least = 0, most = Number.POSITIVE_INFINITY): MemberType<string> {
  return {
    expected: 'a text',
    read: (value, place) => {
      if (typeof value !== 'string') return undefined
      if (value.length < least) place.refuse('a text that is not empty', value)
      else if (value.length > most) place.refuse(`at most ${most} characters`, value)
      else if (value.includes('\0')) place.refuse('a text without NUL', value)
      return value
    },
    schema: { type: 'string', ...(least > 0 && { minLength: least }), ...(most < Infinity && { maxLength: most }) },
  }
}

/** A number, where `fits` is given one for which it holds. */
export function numberType(expected = 'a number', fits: (number: number) => boolean = () => true): MemberType<number> {
  return {
    expected,
    read: (value) => (typeof value === 'number' && Number.isFinite(value) && fits(value) ? value : undefined),
    schema: { type: 'number' },
  }
}

export function wholeType(least = 0, most = Number.MAX_SAFE_INTEGER): MemberType<number> {
  const expected = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`
  return numberType(expected, (number) => Number.isInteger(number) && number >= least && number <= most)
}

export const booleanType: MemberType<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  schema: { type: 'boolean' },
}

export const anyType: MemberType = { expected: 'a value', read: (value) => value, schema: {} }

/** A text that is read by a type of texts. */
export function inText<T>({ expected, parse }: ValueType<T>): MemberType<T> & ValueType<T> {
  return { expected, parse, read: (value) => (typeof value === 'string' ? parse(value) : undefined) }
}

/** An instant as our files write it, in UTC. */
export const utcType = inText({
  expected: 'an instant such as 2026-11-21T09:00:00Z',
  parse: (text) => (text.endsWith('Z') && parseWireDateTime(text) ? text : undefined),
})

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
