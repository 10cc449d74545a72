import { addDays, addMonths, earlier, type IsoDate, isoDateOf, later } from '../../kernel/dates.js'
import { type CurrencyCode, minorUnitExponent, splitByLargestRemainder, toMinorUnits } from '../../kernel/money.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { type Attributes, type Element, element } from '../../kernel/xml/element.js'
import type { LifeCycle } from './life-cycle.js'
import type { MappingContext } from './mapping-context.js'
import { periodElements, valueElement } from './values.js'

type Period = { readonly start: IsoDate; readonly end: IsoDate }

/** `budget` [0..*]: the funding goal, original (1) and revised (2), in periods (iati.md 8.1, rule 7.5.3). */
export function budgets(graph: ProjectGraph, cycle: LifeCycle, context: MappingContext): Element[] {
  const { currency } = context.config
  const { original, current } = goalsOf(graph, currency)
  if (original <= 0n && current <= 0n) return []
  const periods = budgetPeriods(graph, cycle, context)
  if (periods.length === 0) return []
  const lengths = periods.map(lengthInDays)
  const status = context.codeOf('budget-status')
  return [
    ...(original > 0n ? [{ type: '1', total: original }] : []),
    ...(current > 0n && current !== original ? [{ type: '2', total: current }] : []),
  ].flatMap(({ type, total }) => {
    const amounts = splitByLargestRemainder(total, lengths)
    return periods.map((period, index) =>
      budget({ type, ...(status && { status }) }, period, amounts[index] ?? 0n, currency),
    )
  })
}

/** Whether the project has ever had a funding goal. */
export function hasGoal(graph: ProjectGraph, currency: CurrencyCode): boolean {
  const { original, current } = goalsOf(graph, currency)
  return original > 0n || current > 0n
}

/** The goals in minor units; none is 0. */
function goalsOf({ project }: ProjectGraph, currency: CurrencyCode): { original: bigint; current: bigint } {
  const { goal, originalGoal = goal } = project
  const places = minorUnitExponent(currency)
  const original = originalGoal === undefined ? 0n : toMinorUnits(originalGoal, places)
  return { original, current: goal === undefined ? original : toMinorUnits(goal, places) }
}

/** The periods that the goal is for; none where a period would be a guess (iati.md 8.3). */
function budgetPeriods(graph: ProjectGraph, cycle: LifeCycle, context: MappingContext): Period[] {
  const { plannedStart: start, plannedEnd } = cycle
  if (plannedEnd) return yearsBetween(start, plannedEnd)
  if (cycle.status === '1' || cycle.status === '2') {
    // Open-ended: the goal is that of the current 12 months.
    const period = yearOf(start, later(context.day, start))
    context.changesOn(addDays(period.end, 1))
    return [period]
  }
  if (cycle.startDerivedFrom === 'record' || cycle.status === '5') {
    const missing = cycle.startDerivedFrom === 'record' ? 'no start' : 'no money and no report'
    context.notice('budget-unknown', 'goal', `expected a deadline, got none, and ${missing}; no budget is reported`)
    return []
  }
  const firstYear = addDays(addMonths(start, 12), -1)
  const end = later(start, earlier(firstYear, newestDayOf(graph) ?? firstYear))
  context.notice('budget-period-derived', 'deadline', `expected a day, got none; ${start} to ${end} is reported`)
  return [{ start, end }]
}

/** The newest day that the record names for itself. */
function newestDayOf({ project, months, reports, disbursements }: ProjectGraph): IsoDate | undefined {
  const known = [
    project.modifiedDate && isoDateOf(project.modifiedDate),
    project.dateOfMostRecentReport && isoDateOf(project.dateOfMostRecentReport),
    months.findLast(({ kind }) => kind !== 'opening')?.lastOn,
    disbursements.at(-1)?.disbursedOn,
    reports[0] && isoDateOf(reports[0].publishedAt),
  ].filter((one) => one !== undefined)
  return known.length === 0 ? undefined : known.reduce(later)
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

function budget(attributes: Attributes, period: Period, units: bigint, currency: CurrencyCode): Element {
  return element('budget', attributes, [
    ...periodElements(period.start, period.end),
    valueElement(units, currency, period.start),
  ])
}
