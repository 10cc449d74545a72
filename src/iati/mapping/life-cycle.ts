import { addDays, addMonths, earlier, type IsoDate, isoDateOf, later } from '../../kernel/dates.js'
import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import type { MappingContext } from './mapping-context.js'
import { coded, narratives } from './narrative.js'
import { type Sentence, sentence } from './sentences.js'

/** Codes of ActivityStatus that a project can have here. */
type ActivityStatus = '1' | '2' | '3' | '4' | '5' | '6'

/** Status and dates that agree with each other (iati.md 4). No record states an actual end, so there is none (4.2). */
export type LifeCycle = {
  readonly status: ActivityStatus
  /** activity-date type 1. */
  readonly plannedStart: IsoDate
  /** What the planned start was taken from when the record states none. */
  readonly startDerivedFrom?: StartSource
  /** Type 2; absent where neither a payout nor the first gift is known. */
  readonly actualStart?: IsoDate
  /** What its narrative says of a type 2 that no record states. */
  readonly actualStartNote?: Sentence
  /** Type 3; absent for open-ended projects. */
  readonly plannedEnd?: IsoDate
}

/** The event whose day is the derived start: one of the project, or only of its record. */
type StartSource = 'event' | 'record'

// A later deadline is a placeholder for "no end", such as 9999-12-31.
const longestProjectYears = 60

/** Derives a start that is missing, with a notice, so that it does not hold the activity (iati.md 4.3). */
export function lifeCycle(graph: ProjectGraph, context: MappingContext): LifeCycle {
  const status = activityStatus(graph, context)
  const { day: plannedStart, source } = plannedStartOf(graph, context)
  const { day: actualStart, note: actualStartNote } = actualStartOf(graph, status, plannedStart, context)
  const plannedEnd = plannedEndOf(graph, plannedStart, context)
  return {
    status,
    plannedStart,
    ...(source && { startDerivedFrom: source }),
    ...(actualStart && { actualStart }),
    ...(actualStartNote && { actualStartNote }),
    ...(plannedEnd && { plannedEnd }),
  }
}

function plannedEndOf({ project }: ProjectGraph, start: IsoDate, context: MappingContext): IsoDate | undefined {
  const { deadline } = project
  if (deadline === undefined) return undefined
  const last = addDays(addMonths(start, 12 * longestProjectYears), -1)
  if (deadline >= start && deadline <= last) return deadline
  const expected = deadline < start ? `a day from ${start}` : `a day until ${last}`
  context.notice('deadline-unusable', 'deadline', `expected ${expected}, got ${deadline}`)
  return undefined
}

/** ActivityStatus from (paused, active, status). */
function activityStatus(graph: ProjectGraph, context: MappingContext): ActivityStatus {
  const { project, months } = graph
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
      return hasRun(graph) ? '4' : '5'
    default:
      return project.status satisfies never
  }
}

/** Whether anything is known to have been given, paid or done. */
function hasRun({ project, months, disbursements, reports }: ProjectGraph): boolean {
  return (
    project.numberOfDonations > 0 ||
    project.dateOfMostRecentReport !== undefined ||
    [months, disbursements, reports].some(({ length }) => length > 0)
  )
}

function plannedStartOf(graph: ProjectGraph, context: MappingContext): { day: IsoDate; source?: StartSource } {
  const { project } = graph
  if (project.approvedDate) return { day: isoDateOf(project.approvedDate) }
  const events = [
    // The day of an opening total says when it was read.
    graph.months.find(({ kind }) => kind !== 'opening')?.month,
    graph.disbursements[0]?.disbursedOn,
    project.dateOfMostRecentReport && isoDateOf(project.dateOfMostRecentReport),
    ...graph.reports.map((report) => isoDateOf(report.publishedAt)),
  ].filter((day) => day !== undefined)
  const source = events.length > 0 ? 'event' : 'record'
  const changed = project.modifiedDate && isoDateOf(project.modifiedDate)
  const day = source === 'event' ? events.reduce(earlier) : (changed ?? project.firstSeenOn)
  context.assume('planned-start')
  context.notice('start-date-derived', 'approvedDate', `expected a date, got none; ${day} is reported`)
  return { day, source }
}

/** The first payout, else (once funding is over) the first month of gifts where that is known. Never in the future. */
function actualStartOf(
  graph: ProjectGraph,
  status: ActivityStatus,
  plannedStart: IsoDate,
  context: MappingContext,
): { readonly day?: IsoDate; readonly note?: Sentence } {
  const { day } = context
  const payout = graph.disbursements.find((one) => one.disbursedOn <= day)?.disbursedOn
  if (payout) return { day: payout }
  if (status !== '3' && status !== '4') return {}
  // An opening total has the gifts before the first month, and does not say of which days they are.
  if (graph.months.some(({ kind }) => kind === 'opening')) return {}
  const firstGift = graph.months.find((month) => month.kind === 'gift' && month.lastOn <= day)
  const start = firstGift && later(firstGift.month, plannedStart)
  if (start === undefined || start > day) return {}
  context.assume('actual-start')
  return { day: start, ...(context.edition > 1 && { note: 'startOfGifts' as const }) }
}

/** `activity-status` [1]. */
export function activityStatusElement(cycle: LifeCycle): Element {
  return coded('activity-status', cycle.status)
}

/** `activity-date` [1..*], by type; at most one of each. */
export function activityDates(cycle: LifeCycle, language: string): Element[] {
  const date = (type: string, day: IsoDate | undefined, note?: Sentence) => {
    const words = note === undefined ? [] : narratives([sentence(language, note)], language)
    return day && element('activity-date', { type, 'iso-date': day }, words)
  }
  return [
    date('1', cycle.plannedStart, cycle.startDerivedFrom && startNotes[cycle.startDerivedFrom]),
    date('2', cycle.actualStart, cycle.actualStartNote),
    date('3', cycle.plannedEnd),
  ].filter((one) => one !== undefined)
}

const startNotes = { event: 'startOfEvent', record: 'startOfRecord' } as const
