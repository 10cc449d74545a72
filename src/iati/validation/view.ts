import { type IsoDate, type IsoInstant, parseWireDateTime } from '../../kernel/dates.js'
import type { Element } from '../../kernel/xml/element.js'
import { type Day, parseDay } from './days.js'
import type { Strictness } from './findings.js'
import { dayPartOf, isOfType } from './simple-types.js'
import { isForeign } from './structure.js'

/** What the rules need to know besides the record itself. */
export type RecordContext = {
  /** The current day in UTC: dates of past events may not be after it. */
  readonly today: IsoDate
  /** The current instant: times of past events may not be after it. Without it only days are compared. */
  readonly now?: IsoInstant
  /**
   * False for the files of other publishers, or for those elements that came from one: severities are then those of the
   * official validator. Default: true.
   */
  readonly strict?: Strictness
  /** The publisher's identifier, when every record must have it as `reporting-org/@ref`. */
  readonly reportingOrgRef?: string
  /** Identifiers of registered publishers, which are valid whatever their form (official rules 1.x.8, 1.x.13). */
  readonly registeredOrganisations?: ReadonlySet<string>
}

const dayMilliseconds = 86_400_000

/**
 * Whether an `xsd:dateTime` lies after the current instant, or after the current day where the instant is not given or
 * the text has no time zone. A text that is not an `xsd:dateTime` does not.
 */
export function isAfterNow(text: string, { today, now }: RecordContext): boolean {
  if (!isOfType('dateTime', text)) return false
  const instant = parseWireDateTime(text)?.getTime()
  if (instant !== undefined && now !== undefined) return instant > Date.parse(now)
  const day = instant === undefined ? parseDay(dayPartOf(text) ?? '') : Math.floor(instant / dayMilliseconds)
  return day !== undefined && day > (parseDay(today) ?? Number.POSITIVE_INFINITY)
}

/** A record laid out for the rules: its elements by name, each list in document order. */
export type RecordView = {
  readonly root: Element
  readonly context: RecordContext
  /** The current day of the context. */
  readonly today: Day
  /** The direct children of the record with this name. */
  children(name: string): readonly Element[]
  /** All elements of the record with this name, at any depth. */
  all(name: string): readonly Element[]
}

const none: readonly Element[] = []

export function viewOf(root: Element, context: RecordContext): RecordView {
  const children = new Map<string, Element[]>()
  for (const child of root.children) if (!isForeign(child)) file(children, child)
  const all = new Map<string, Element[]>()
  const visit = ({ children }: Element): void => {
    for (let index = 0; index < children.length; index++) {
      const child = children[index] as Element
      if (isForeign(child)) continue
      file(all, child)
      if (child.children.length > 0) visit(child)
    }
  }
  visit(root)
  return {
    root,
    context,
    today: parseDay(context.today) ?? Number.POSITIVE_INFINITY,
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
  const { children } = parent
  for (let index = 0; index < children.length; index++) {
    const child = children[index] as Element
    if (child.name === name && !isForeign(child)) return child
  }
  return undefined
}

/** The children with this name. */
export function childrenOf(parent: Element, name: string): Element[] {
  return parent.children.filter((child) => child.name === name && !isForeign(child))
}

/** The day in an attribute of type `xsd:date`; undefined when it is absent or malformed, which the structure reports. */
export function dayOf(text: string | undefined): Day | undefined {
  return text === undefined ? undefined : parseDay(text)
}

/** Whether the element has a narrative with words in it. */
export function hasWords(element: Element): boolean {
  return element.children.some((child) => child.name === 'narrative' && /\S/.test(child.text))
}
