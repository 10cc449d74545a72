import { addDays, earlier, type IsoDate, isoDateOf, later } from '../../domain/dates.js'
import type { ProjectGraph } from '../../domain/project.js'
import { type Element, element } from '../../xml/element.js'
import type { Mapping } from './mapping.js'
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

/** Works out the life cycle; no project is held for want of a date that can be derived. */
export function lifeCycle(graph: ProjectGraph, mapping: Mapping): LifeCycle {
  const { project } = graph
  const status = activityStatus(graph, mapping)
  const plannedStart = plannedStartOf(graph, mapping)
  const actualStart = actualStartOf(graph, status, plannedStart, mapping.day)
  const actualEnd = status === '4' ? actualEndOf(graph, actualStart ?? plannedStart, mapping) : undefined
  let plannedEnd = project.deadline
  if (plannedEnd && plannedEnd < plannedStart) {
    mapping.notice('deadline-unusable', 'deadline', `expected a day from ${plannedStart}, got ${plannedEnd}`)
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

/** The one table from (paused, active, status) to ActivityStatus. */
export function activityStatus({ project, months }: ProjectGraph, mapping: Mapping): ActivityStatus {
  if (project.paused) return '6'
  switch (project.status) {
    case 'active':
      // The source took an open project off the site without calling it funded or retired: suspended.
      if (!project.active) return '6'
      if (project.approvedDate && months.length === 0 && isoDateOf(project.approvedDate) > mapping.day) {
        mapping.changesOn(isoDateOf(project.approvedDate))
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

function plannedStartOf(graph: ProjectGraph, mapping: Mapping): IsoDate {
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
  mapping.notice('start-date-derived', 'approvedDate', `expected a date, got none; ${earliest} is reported`)
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

function actualEndOf(graph: ProjectGraph, start: IsoDate, mapping: Mapping): IsoDate {
  const { project } = graph
  const lastReport = graph.reports[0]?.publishedAt ?? project.dateOfMostRecentReport
  const source = lastReport ? 'its last report' : project.modifiedDate ? 'its last change' : 'its start'
  const derived = lastReport ?? project.modifiedDate
  const end = later(derived ? isoDateOf(derived) : start, start)
  mapping.notice('end-date-derived', 'status', `expected an end date, got none; the day of ${source} is reported`)
  return earlier(end, mapping.day)
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

/** The day after. */
export function dayAfter(day: IsoDate): IsoDate {
  return addDays(day, 1)
}
