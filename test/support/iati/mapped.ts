import { newIdentifier, toActivity } from '../../../src/iati/mapping/activity.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { aGraph, amount, day, mappingConfig, usd } from '../values/builders.js'

/** The day of the run in tests of the mapping. */
export const today = day('2026-11-21')

/** What differs from the graph of the builders. */
export type Changes = NonNullable<Parameters<typeof aGraph>[0]>

/** The activity of such a graph: what is written, what is reported, and until when it holds. */
export function mapped(changes: Changes, on = today, config = mappingConfig) {
  const graph = aGraph(changes)
  const activity = toActivity(graph, config, on, newIdentifier(config, graph.project))
  return {
    validUntil: activity.validUntil,
    totals: activity.totals,
    /** The children with this name, as text. */
    all: (name: string) =>
      activity.element.children.filter((child) => child.name === name).map((child) => writeElement(child)),
    /** `field: detail` of the notices with this code. */
    notices: (code: string) =>
      activity.notices.filter((one) => one.code === code).map(({ path, detail }) => `${path}: ${detail}`),
  }
}

/** The iso-dates of an activity by type. */
export function activityDatesOf(changes: Changes, on = today): Readonly<Record<string, string>> {
  const found = mapped(changes, on).all('activity-date')
  return Object.fromEntries(found.map((text) => [/type="(\d)"/.exec(text)?.[1], /iso-date="([^"]+)"/.exec(text)?.[1]]))
}

/** A payout of the currency of the builders. */
export const payout = (reference: string, on: string, value = '10.00') => ({
  reference,
  disbursedOn: day(on),
  amount: amount(value),
  currency: usd,
})
