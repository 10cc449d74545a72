import type { Element } from '../../../kernel/xml/element.js'
import { type Day, parseDay } from '../days.js'
import { childOf } from '../view.js'

/** The period of a budget or of a result, as days and as written. */
export type Period = {
  readonly element: Element
  readonly from: Day
  readonly to: Day
  readonly start: string
  readonly end: string
}

/** The period of an element; undefined when its start or end is absent or malformed. */
export function periodOf(element: Element): Period | undefined {
  const start = childOf(element, 'period-start')?.attributes['iso-date'] ?? ''
  const end = childOf(element, 'period-end')?.attributes['iso-date'] ?? ''
  const from = parseDay(start)
  const to = parseDay(end)
  return from === undefined || to === undefined ? undefined : { element, from, to, start, end }
}
