import { earlier, type IsoDate, isoDateOf } from '../../domain/dates.js'
import type { ProgressReport, ProjectGraph } from '../../domain/project.js'
import { type Element, element } from '../../xml/element.js'
import { leadOf } from '../plain-text.js'
import { reportLink } from './document-links.js'
import type { LifeCycle } from './life-cycle.js'
import type { Mapping } from './mapping.js'
import { narrated } from './narrative.js'

// Caps that hold an activity's size; the feed of the reports has them all (iati.md 10.1, 11.1).
const mostPeriods = 20
const mostLeadCharacters = 2000

/**
 * `result` [0..*] from the progress reports (iati.md 11.1): one output with one qualitative indicator (measure 5,
 * hence no `@value`), a period per report from the report before it, oldest first.
 */
export function results(graph: ProjectGraph, cycle: LifeCycle, mapping: Mapping): Element | undefined {
  const published = graph.reports.filter((report) => {
    const day = isoDateOf(report.publishedAt)
    if (day > mapping.day) mapping.changesOn(day)
    return day <= mapping.day
  })
  if (published.length === 0) return undefined
  const periods = published.slice(0, mostPeriods).map((report, index) => {
    const before = published[index + 1]
    return period(report, before ? isoDateOf(before.publishedAt) : cycle.plannedStart, mapping)
  })
  return element('result', { type: '1' }, [
    narrated('title', 'Progress of the project'),
    element('indicator', { measure: '5' }, [
      narrated('title', 'Progress as reported by the implementing partner'),
      ...periods.reverse(),
    ]),
  ])
}

function period(report: ProgressReport, since: IsoDate, mapping: Mapping): Element {
  const end = isoDateOf(report.publishedAt)
  return element('period', undefined, [
    element('period-start', { 'iso-date': earlier(since, end) }),
    element('period-end', { 'iso-date': end }),
    element('actual', undefined, [
      narrated('comment', leadOf(report.contentHtml, mostLeadCharacters)) ?? narrated('comment', report.title),
      reportLink(report, mapping),
    ]),
  ])
}
