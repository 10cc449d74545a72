import type { Element } from '../../kernel/xml/element.js'
import { legalText } from '../../kernel/xml/writer.js'
import { codeName } from '../standard/index.js'

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
 * has the name from there. `value` reads a code at a path that is more than steps.
 */
export function codeColumns(name: string, path: string, codeList: string, value?: Column['value']): Column[] {
  const code = { ...textColumn(name, path), ...(value && { value }) }
  const own = path.endsWith('@code') ? reader(path.replace(/@code$/, 'narrative')) : () => undefined
  // A code of another vocabulary may be one of the list by chance.
  const isListed = (trail: Trail) => path !== '@code' || (trail.at(-1)?.attributes.vocabulary ?? '1') === '1'
  const nameOf = (trail: Trail) => {
    const value = code.value(trail)
    return value === undefined ? undefined : (own(trail) ?? (isListed(trail) ? codeName(codeList, value) : undefined))
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

/**
 * The part of XPath that the tables need: `/`, `..`, names with one `[@attribute='value']`, also without the attribute
 * (`[not(@attribute) or @attribute='value']`), or `[not(child)]`, `@attribute`.
 */
type Step = { readonly name: string } & Readonly<Record<'without' | 'attribute' | 'equals', string | undefined>>

type Path = { readonly start: number | 'activity'; readonly steps: readonly string[]; readonly attribute?: string }

function parsePath(path: string): Path {
  const names = path.split('/')
  const up = names.filter((name) => name === '..').length
  const attribute = names.at(-1)?.startsWith('@') ? names.at(-1)?.slice(1) : undefined
  const steps = names.filter((name) => name !== '' && name !== '.' && name !== '..' && !name.startsWith('@'))
  return { start: path.startsWith('/') ? 'activity' : up, steps, ...(attribute !== undefined && { attribute }) }
}

function parseStep(step: string): Step {
  const [, name = step, without, attribute, equals = ''] =
    /^([\w-]+)\[(?:not\((@?[\w-]+)\))?(?: or )?(?:@([\w-]+)='(.*)')?\]$/.exec(step) ?? []
  // All have the same members, so that reading them is fast.
  return { name, without, attribute, equals }
}

/** Reads the first value at the path. */
function reader(path: string): (trail: Trail) => string | undefined {
  const { start, steps, attribute } = parsePath(path)
  const finders = steps.map((_, index) => finderOf(steps.slice(0, index + 1)))
  return (trail) => {
    let at = trail[start === 'activity' ? 0 : trail.length - 1 - start]
    for (const find of finders) at = at && find(at)
    return at && readValue(at, attribute)
  }
}

type Finder = (parent: Element) => Element | undefined

const findersByPath = new Map<string, Finder>()

/** Finds the first child at the last of the steps; all columns whose paths begin with these steps have the same finder. */
function finderOf(steps: readonly string[]): Finder {
  const path = steps.join('/')
  const known = findersByPath.get(path)
  if (known) return known
  const step = parseStep(steps.at(-1) ?? '')
  // Several columns of a row ask for the same element, one after the other: the last answer is kept.
  let lastParent: Element | undefined
  let found: Element | undefined
  const finder: Finder = (parent) => {
    if (parent !== lastParent) {
      lastParent = parent
      found = firstAt(step, parent.children)
    }
    return found
  }
  findersByPath.set(path, finder)
  return finder
}

function firstAt(step: Step, children: readonly Element[]): Element | undefined {
  // Not for-of, here and in other loops over all that an activity has: until V8 has optimised them, each step makes an object.
  for (let index = 0; index < children.length; index++) {
    const child = children[index]
    if (child && isAt(step, child)) return child
  }
  return undefined
}

/** Reads every value at the path of elements repeated at its first step. */
function allReader(path: string): (trail: Trail) => string[] {
  const { steps: names, attribute } = parsePath(path)
  const steps = names.map(parseStep)
  return (trail) => {
    let at = [...trail.slice(-1)]
    for (const step of steps) at = at.flatMap(({ children }) => children.filter((child) => isAt(step, child)))
    return at.flatMap((one) => readValue(one, attribute) ?? [])
  }
}

function isAt(step: Step, child: Element): boolean {
  if (child.name !== step.name) return false
  const { name, without, attribute, equals } = step
  // An empty narrative says nothing: the next one may.
  if (name === 'narrative') return /\S/.test(child.text)
  const value = attribute === undefined ? undefined : child.attributes[attribute]
  if (without === undefined) return attribute === undefined || value === equals
  return attribute === undefined ? !child.children.some((one) => one.name === without) : (value ?? equals) === equals
}

/** The value as the XML has it; an empty one counts as none. */
function readValue(element: Element, attribute: string | undefined): string | undefined {
  const value = attribute === undefined ? element.text : element.attributes[attribute]
  return value === undefined || value === '' ? undefined : legalText(value)
}
