import { addDays, addMonths, earlier, type IsoDate, isoDateOf, later } from '../../kernel/dates.js'
import { type CurrencyCode, minorUnitExponent, splitByLargestRemainder, toMinorUnits } from '../../kernel/money.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { endOf, type LifeCycle } from './life-cycle.js'
import type { MappingContext } from './mapping-context.js'
import { periodElements, valueElement } from './values.js'

type Period = { readonly start: IsoDate; readonly end: IsoDate }

/** `budget` [0..*]: the funding goal, original (1) and revised (2), in periods (iati.md 8.1, rule 7.5.3). */
export function budgets(graph: ProjectGraph, cycle: LifeCycle, context: MappingContext): Element[] {
  const { goal, originalGoal = goal } = graph.project
  const { currency } = context.config
  const places = minorUnitExponent(currency)
  const original = originalGoal === undefined ? 0n : toMinorUnits(originalGoal, places)
  const current = goal === undefined ? original : toMinorUnits(goal, places)
  if (original <= 0n && current <= 0n) return []
  const periods = budgetPeriods(graph, cycle, context)
  const lengths = periods.map(lengthInDays)
  return [
    ...(original > 0n ? [{ type: '1', total: original }] : []),
    ...(current > 0n && current !== original ? [{ type: '2', total: current }] : []),
  ].flatMap(({ type, total }) => {
    const amounts = splitByLargestRemainder(total, lengths)
    return periods.map((period, index) => budget(type, period, amounts[index] ?? 0n, currency))
  })
}

function budgetPeriods(graph: ProjectGraph, cycle: LifeCycle, context: MappingContext): Period[] {
  const start = cycle.plannedStart
  const end = endOf(cycle)
  if (end) return yearsBetween(start, later(end, start))
  // Open-ended: a running project has its goal in the current 12 months, another one in those of its last activity.
  const running = cycle.status === '1' || cycle.status === '2'
  const period = yearOf(start, running ? later(context.day, start) : later(lastActivity(graph, context.day), start))
  if (running) context.changesOn(addDays(period.end, 1))
  return [period]
}

function lastActivity({ project, months, reports, disbursements }: ProjectGraph, day: IsoDate): IsoDate {
  const known = [
    project.modifiedDate && isoDateOf(project.modifiedDate),
    months.at(-1)?.lastOn,
    disbursements.at(-1)?.disbursedOn,
    reports[0] && isoDateOf(reports[0].publishedAt),
    project.firstSeenOn,
  ].filter((one) => one !== undefined)
  return earlier(known.reduce(later), day)
}

/** Periods of 12 months from `start`, the last one cut at `end`. */
function yearsBetween(start: IsoDate, end: IsoDate): Period[] {
  const periods: Period[] = []
  for (let year = 0; ; year++) {
    const from = addMonths(start, 12 * year)
    if (from > end) return periods
    periods.push({ start: from, end: earlier(addDays(addMonths(start, 12 * (year + 1)), -1), end) })
  }
}

/** The period of 12 months, counted from `start`, that `day` lies in. */
function yearOf(start: IsoDate, day: IsoDate): Period {
  let year = Number(day.slice(0, 4)) - Number(start.slice(0, 4))
  if (addMonths(start, 12 * year) > day) year -= 1
  return { start: addMonths(start, 12 * year), end: addDays(addMonths(start, 12 * (year + 1)), -1) }
}

function lengthInDays({ start, end }: Period): bigint {
  return BigInt((Date.parse(end) - Date.parse(start)) / 86_400_000 + 1)
}

function budget(type: string, period: Period, units: bigint, currency: CurrencyCode): Element {
  return element('budget', { type, status: '1' }, [
    ...periodElements(period.start, period.end),
    valueElement(units, currency, period.start),
  ])
}
