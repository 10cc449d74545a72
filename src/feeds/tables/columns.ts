import { codeName } from '../../standard/index.js'
import type { Element } from '../../xml/element.js'
import { legalText } from '../../xml/writer.js'

/** The elements from the activity down to the one that a row is about. */
export type Trail = readonly Element[]

export type ColumnType = 'string' | 'date' | 'instant' | 'decimal' | 'integer'

/** A column of a table. */
export type Column = {
  readonly name: string
  readonly type: ColumnType
  /** Decimal places in Parquet; in CSV a decimal is written as in the XML. */
  readonly scale?: number
  /** Whether every row has a value. */
  readonly required?: boolean
  /** Where the value is in the activity: an XPath from the row's element, or from the activity when it begins with `/`. */
  readonly path: string
  /** The code list from which the English name of the code comes. */
  readonly codeList?: string
  readonly value: (trail: Trail) => string | undefined
}

/** Separates the values of an element that is repeated within an activity, as in the tables of other IATI publishers. */
const separator = ';'

export function textColumn(name: string, path: string): Column {
  return column(name, 'string', path)
}

export function dateColumn(name: string, path: string): Column {
  return column(name, 'date', path)
}

export function decimalColumn(name: string, path: string, scale = 4): Column {
  return { ...column(name, 'decimal', path), scale }
}

export function required(one: Column): Column {
  return { ...one, required: true }
}

/**
 * The code, and its English name from the list in a column of the same name and `name`; an element that names its code itself
 * has the name from there.
 */
export function codeColumns(name: string, path: string, codeList: string): Column[] {
  const code = textColumn(name, path)
  const own = path.endsWith('@code') ? reader(path.replace(/@code$/, 'narrative')) : () => undefined
  const nameOf = (trail: Trail) => {
    const value = code.value(trail)
    return value === undefined ? undefined : (own(trail) ?? codeName(codeList, value))
  }
  return [code, { ...code, name: `${name}name`, codeList, value: nameOf }]
}

/** As `codeColumns`, of an element that the activity repeats. */
export function codeListColumns(name: string, path: string, codeList: string): Column[] {
  const codes = allReader(path)
  const names = (trail: Trail) => codes(trail).map((code) => codeName(codeList, code) ?? '')
  const code = listColumn(name, path)
  return [code, { ...code, name: `${name}name`, codeList, value: (trail) => joined(names(trail)) }]
}

/** The values of an element that the activity repeats. */
export function listColumn(name: string, path: string): Column {
  const read = allReader(path)
  return { ...textColumn(name, path), value: (trail) => joined(read(trail)) }
}

export function column(name: string, type: ColumnType, path: string): Column {
  return { name, type, path, value: reader(path) }
}

function joined(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.join(separator)
}

/** The part of XPath that the tables need: `/`, `..`, names with one `[@attribute='value']`, `@attribute`. */
type Step = { readonly name: string; readonly attribute?: string; readonly equals?: string }

type Path = { readonly start: number | 'activity'; readonly steps: readonly Step[]; readonly attribute?: string }

function parsePath(path: string): Path {
  const names = path.split('/')
  const up = names.filter((name) => name === '..').length
  const attribute = names.at(-1)?.startsWith('@') ? names.at(-1)?.slice(1) : undefined
  const steps = names
    .filter((name) => name !== '' && name !== '.' && name !== '..' && !name.startsWith('@'))
    .map((step): Step => {
      const [, name = step, condition, equals] = /^([\w-]+)\[@([\w-]+)='(.*)'\]$/.exec(step) ?? []
      return { name, ...(condition !== undefined && { attribute: condition, equals: equals ?? '' }) }
    })
  return { start: path.startsWith('/') ? 'activity' : up, steps, ...(attribute !== undefined && { attribute }) }
}

/** Reads the first value at the path. */
function reader(path: string): (trail: Trail) => string | undefined {
  const { start, steps, attribute } = parsePath(path)
  return (trail) => {
    let at = trail[start === 'activity' ? 0 : trail.length - 1 - start]
    for (const step of steps) at = at?.children.find((child) => isAt(step, child))
    return at && readValue(at, attribute)
  }
}

/** Reads every value at the path of elements repeated at its first step. */
function allReader(path: string): (trail: Trail) => string[] {
  const { steps, attribute } = parsePath(path)
  return (trail) => {
    let at = [...trail.slice(-1)]
    for (const step of steps) at = at.flatMap(({ children }) => children.filter((child) => isAt(step, child)))
    return at.flatMap((one) => readValue(one, attribute) ?? [])
  }
}

function isAt(step: Step, child: Element): boolean {
  return child.name === step.name && (step.attribute === undefined || child.attributes[step.attribute] === step.equals)
}

/** The value as the XML has it; an empty one counts as none. */
function readValue(element: Element, attribute: string | undefined): string | undefined {
  const value = attribute === undefined ? element.text : element.attributes[attribute]
  return value === undefined || value === '' ? undefined : legalText(value)
}
