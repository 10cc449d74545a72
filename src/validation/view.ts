import { type IsoDate, type IsoInstant, isoDateOf, parseWireDateTime } from '../domain/dates.js'
import type { Element } from '../xml/element.js'
import { isForeign } from './structure.js'

/** What the rules must know besides the record itself. */
export type RecordContext = {
  /** The current day in UTC: dates of what has happened may not lie after it. */
  readonly today: IsoDate
  /** The current instant: times of what has happened may not lie after it. Without it only days are compared. */
  readonly now?: IsoInstant
  /** The publisher's identifier, when every record must have it as `reporting-org/@ref`. */
  readonly reportingOrgRef?: string
  /** Identifiers of registered publishers: they stand as they are, whatever their form (official rules 1.x.8, 1.x.13). */
  readonly registeredOrganisations?: ReadonlySet<string>
}

/** Whether an `xsd:dateTime` lies after now (or, where the instant of now is not given, after today). */
export function isAfterNow(text: string, { today, now }: RecordContext): boolean {
  const instant = parseWireDateTime(text.trim())
  if (instant && now !== undefined) return instant.getTime() > Date.parse(now)
  const day = instant ? isoDateOf(instant) : dayOf(text)
  return day !== undefined && day > today
}

/** A record laid out for the rules: its elements by name, each list in document order. */
export type RecordView = {
  readonly root: Element
  readonly context: RecordContext
  /** The direct children of the record with this name. */
  children(name: string): readonly Element[]
  /** All elements of the record with this name, at any depth. */
  all(name: string): readonly Element[]
}

const none: readonly Element[] = []

export function viewOf(root: Element, context: RecordContext): RecordView {
  const children = new Map<string, Element[]>()
  for (const child of root.children) file(children, child)
  const all = new Map<string, Element[]>()
  const visit = (element: Element): void => {
    for (const child of element.children) {
      if (isForeign(child)) continue
      file(all, child)
      if (child.children.length > 0) visit(child)
    }
  }
  visit(root)
  return {
    root,
    context,
    children: (name) => children.get(name) ?? none,
    all: (name) => all.get(name) ?? none,
  }
}

function file(byName: Map<string, Element[]>, element: Element): void {
  const same = byName.get(element.name)
  if (same) same.push(element)
  else byName.set(element.name, [element])
}

/** The first child with this name. */
export function childOf(parent: Element, name: string): Element | undefined {
  for (const child of parent.children) if (child.name === name) return child
  return undefined
}

/** The children with this name. */
export function childrenOf(parent: Element, name: string): Element[] {
  return parent.children.filter((child) => child.name === name)
}

const dayPattern = /^\s*(\d{4}-\d{2}-\d{2})/

/** The day of an `xsd:date`, its zone cut off; undefined when there is none (its form is the structure's business). */
export function dayOf(text: string | undefined): IsoDate | undefined {
  if (text === undefined) return undefined
  return dayPattern.exec(text)?.[1] as IsoDate | undefined
}

/** The `iso-date` of a child. */
export function dateOf(parent: Element, name: string): IsoDate | undefined {
  return dayOf(childOf(parent, name)?.attributes['iso-date'])
}

/** Whether the element has a narrative with words in it. */
export function hasWords(element: Element): boolean {
  return element.children.some((child) => child.name === 'narrative' && /\S/.test(child.text))
}
