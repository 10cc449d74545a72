import { elementRule } from '../../../src/iati/standard/index.js'
import { type Element, element } from '../../../src/kernel/xml/element.js'
import { withChildren } from './iati-records.js'

/** Where the rules of a record are found: the path of its element from the root of the file. */
export function rootPathOf(record: Element): string {
  return record.name === 'iati-activity' ? '/iati-activities/iati-activity' : '/iati-organisations/iati-organisation'
}

/** The first descendant at `path` (`transaction/value`); the record itself for an empty path. */
export function found(record: Element, path: string): Element | undefined {
  if (path === '') return record
  const [name, ...rest] = path.split('/')
  for (const child of record.children) {
    const deeper = child.name === name ? found(child, rest.join('/')) : undefined
    if (deeper) return deeper
  }
  return undefined
}

/** Every descendant at `path`. */
export function allFound(record: Element, path: string): Element[] {
  if (path === '') return [record]
  const [name, ...rest] = path.split('/')
  return record.children.filter((child) => child.name === name).flatMap((child) => allFound(child, rest.join('/')))
}

/** The record with one of its elements (the same object) exchanged; undefined takes it away. */
export function exchanged(record: Element, target: Element, replacement: Element | undefined): Element {
  if (record === target) return replacement ?? record
  return withChildren(record, (children) =>
    children.flatMap((child) => (child === target ? (replacement ?? []) : exchanged(child, target, replacement))),
  )
}

/** The record with a child put into the first element at `path`, at the place that the schema gives it. */
export function placed(record: Element, path: string, child: Element, at?: Element): Element {
  const parent = at ?? found(record, path)
  if (!parent) throw new Error(`the element ${record.name} has no ${path}`)
  const rule = elementRule(path === '' ? rootPathOf(record) : `${rootPathOf(record)}/${path}`)
  const index = rule?.slotOf.get(child.name)?.index
  if (!rule || index === undefined) throw new Error(`the standard knows no ${child.name} in ${path || record.name}`)
  const before = parent.children.findIndex((other) => (rule.slotOf.get(other.name)?.index ?? Infinity) > index)
  const position = before < 0 ? parent.children.length : before
  const more = [...parent.children.slice(0, position), child, ...parent.children.slice(position)]
  return exchanged(record, parent, element(parent.name, parent.attributes, more))
}

/** The record with the children of some names exchanged for others, each at its place. */
export function withOnly(record: Element, names: readonly string[], children: readonly Element[]): Element {
  const kept = withChildren(record, (own) => own.filter(({ name }) => !names.includes(name)))
  return children.reduce((grown, child) => placed(grown, '', child), kept)
}
