import { addDays, addMonths, earlier, type IsoDate, isoDateOf, later } from '../../domain/dates.js'
import {
  type CurrencyCode,
  fromMinorUnits,
  minorUnitExponent,
  splitByLargestRemainder,
  toMinorUnits,
} from '../../domain/money.js'
import type { ProjectGraph } from '../../domain/project.js'
import { type Element, element, textElement } from '../../xml/element.js'
import { dayAfter, endOf, type LifeCycle } from './life-cycle.js'
import type { Mapping } from './mapping.js'

type Period = { readonly start: IsoDate; readonly end: IsoDate }

/**
 * `budget` [0..*] from the funding goal (iati.md 8.1): indicative, in periods of at most 12 months (rule 7.5.3) that
 * do not overlap. A project with an end spreads its goal over its periods by days; an open-ended one has the goal in the
 * period of 12 months that is running. A goal that was changed is the revised budget (type 2) beside the original (1).
 */
export function budgets(graph: ProjectGraph, cycle: LifeCycle, mapping: Mapping): Element[] {
  const { goal, originalGoal = goal } = graph.project
  const { currency } = mapping.config
  const places = minorUnitExponent(currency)
  const original = originalGoal === undefined ? 0n : toMinorUnits(originalGoal, places)
  const current = goal === undefined ? original : toMinorUnits(goal, places)
  if (original <= 0n && current <= 0n) return []
  const periods = budgetPeriods(graph, cycle, mapping)
  const lengths = periods.map(lengthInDays)
  return [
    ...(original > 0n ? [{ type: '1', total: original }] : []),
    ...(current > 0n && current !== original ? [{ type: '2', total: current }] : []),
  ].flatMap(({ type, total }) => {
    const amounts = splitByLargestRemainder(total, lengths)
    return periods.map((period, index) => budget(type, period, fromMinorUnits(amounts[index] ?? 0n, places), currency))
  })
}

function budgetPeriods(graph: ProjectGraph, cycle: LifeCycle, mapping: Mapping): Period[] {
  const start = cycle.plannedStart
  const end = endOf(cycle)
  if (end) return yearsBetween(start, later(end, start))
  // Open-ended: a running project's goal is that of the current 12 months, a dormant one's that of its last activity.
  const running = cycle.status === '1' || cycle.status === '2'
  const period = yearOf(start, running ? later(mapping.day, start) : later(lastActivity(graph, mapping.day), start))
  if (running) mapping.changesOn(dayAfter(period.end))
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

function budget(type: string, period: Period, amount: string, currency: CurrencyCode): Element {
  return element('budget', { type, status: '1' }, [
    element('period-start', { 'iso-date': period.start }),
    element('period-end', { 'iso-date': period.end }),
    textElement('value', amount, { currency, 'value-date': period.start }),
  ])
}
