import { earlier, type IsoDate, isoDateOf, later } from '../../kernel/dates.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import type { MappingContext } from './mapping-context.js'
import { coded, narrative } from './narrative.js'

/** Codes of ActivityStatus that a project can have here. */
export type ActivityStatus = '1' | '2' | '3' | '4' | '6'

/** Status and dates that agree with each other (iati.md 4). */
export type LifeCycle = {
  readonly status: ActivityStatus
  /** activity-date type 1. */
  readonly plannedStart: IsoDate
  /** Type 2; absent while no money has been paid out of an open project. */
  readonly actualStart?: IsoDate
  /** Type 3; absent for open-ended projects. */
  readonly plannedEnd?: IsoDate
  /** Type 4, only for closed projects; derived, since the wire record has none. */
  readonly actualEnd?: IsoDate
}

/** Derives dates that are missing, with a notice, so that none holds the activity (iati.md 4.3). */
export function lifeCycle(graph: ProjectGraph, context: MappingContext): LifeCycle {
  const { project } = graph
  const status = activityStatus(graph, context)
  const plannedStart = plannedStartOf(graph, context)
  const actualStart = actualStartOf(graph, status, plannedStart, context.day)
  const actualEnd = status === '4' ? actualEndOf(graph, actualStart ?? plannedStart, context) : undefined
  let plannedEnd = project.deadline
  if (plannedEnd && plannedEnd < plannedStart) {
    context.notice('deadline-unusable', 'deadline', `expected a day from ${plannedStart}, got ${plannedEnd}`)
    plannedEnd = undefined
  }
  return {
    status,
    plannedStart,
    ...(actualStart && { actualStart }),
    ...(plannedEnd && { plannedEnd }),
    ...(actualEnd && { actualEnd }),
  }
}

/** ActivityStatus from (paused, active, status). */
export function activityStatus({ project, months }: ProjectGraph, context: MappingContext): ActivityStatus {
  if (project.paused) return '6'
  switch (project.status) {
    case 'active':
      // Open, but taken off the site: suspended.
      if (!project.active) return '6'
      if (project.approvedDate && months.length === 0 && isoDateOf(project.approvedDate) > context.day) {
        context.changesOn(isoDateOf(project.approvedDate))
        return '1'
      }
      return '2'
    case 'funded':
      return '3'
    case 'retired':
      return '4'
    default:
      return project.status satisfies never
  }
}

function plannedStartOf(graph: ProjectGraph, context: MappingContext): IsoDate {
  const { project } = graph
  if (project.approvedDate) return isoDateOf(project.approvedDate)
  const known = [
    project.modifiedDate && isoDateOf(project.modifiedDate),
    graph.months[0]?.month,
    graph.disbursements[0]?.disbursedOn,
    project.dateOfMostRecentReport && isoDateOf(project.dateOfMostRecentReport),
    ...graph.reports.map((report) => isoDateOf(report.publishedAt)),
    project.firstSeenOn,
  ].filter((day) => day !== undefined)
  const earliest = known.reduce(earlier)
  context.notice('start-date-derived', 'approvedDate', `expected a date, got none; ${earliest} is reported`)
  return earliest
}

/** First payout, else (once funding is over) the first month of gifts, else the planned start. Never in the future. */
function actualStartOf(
  graph: ProjectGraph,
  status: ActivityStatus,
  plannedStart: IsoDate,
  day: IsoDate,
): IsoDate | undefined {
  const payout = graph.disbursements.find((one) => one.disbursedOn <= day)?.disbursedOn
  if (payout) return payout
  if (status !== '3' && status !== '4') return undefined
  const firstGift = graph.months.find((month) => month.kind === 'gift' && month.lastOn <= day)
  const start = firstGift ? later(firstGift.month, plannedStart) : plannedStart
  return start <= day ? start : undefined
}

function actualEndOf(graph: ProjectGraph, start: IsoDate, context: MappingContext): IsoDate {
  const { project } = graph
  const lastReport = graph.reports[0]?.publishedAt ?? project.dateOfMostRecentReport
  const source = lastReport ? 'its last report' : project.modifiedDate ? 'its last change' : 'its start'
  const derived = lastReport ?? project.modifiedDate
  const end = later(derived ? isoDateOf(derived) : start, start)
  context.notice('end-date-derived', 'status', `expected an end date, got none; the day of ${source} is reported`)
  return earlier(end, context.day)
}

/** `activity-status` [1]. */
export function activityStatusElement(cycle: LifeCycle): Element {
  return coded('activity-status', cycle.status)
}

/** `activity-date` [1..*], by type; at most one of each. */
export function activityDates(cycle: LifeCycle): Element[] {
  const date = (type: string, day: IsoDate | undefined, note?: string) =>
    day && element('activity-date', { type, 'iso-date': day }, [narrative(note)])
  return [
    date('1', cycle.plannedStart),
    date('2', cycle.actualStart),
    date('3', cycle.plannedEnd),
    date('4', cycle.actualEnd, 'Derived from the last progress report or the last change of the record.'),
  ].filter((one) => one !== undefined)
}

/** The last day that the project is about, where it has one. */
export function endOf(cycle: LifeCycle): IsoDate | undefined {
  return cycle.actualEnd ?? cycle.plannedEnd
}
