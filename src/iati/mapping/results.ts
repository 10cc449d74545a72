import { earlier, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import type { ProgressReport, ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { leadOf } from '../plain-text.js'
import { reportLink, titleOfReport } from './document-links.js'
import type { LifeCycle } from './life-cycle.js'
import type { MappingContext } from './mapping-context.js'
import { narrated, type Text, textOf } from './narrative.js'
import { sentenceElement } from './sentences.js'
import { periodElements } from './values.js'

// Limits of an activity's size; the feed has all reports (iati.md 11.1).
const maxPeriods = 20
const maxLeadCharacters = 2000

/** `result` [0..1] from the progress reports (iati.md 11.1), periods oldest first. */
export function results(graph: ProjectGraph, cycle: LifeCycle, context: MappingContext): Element | undefined {
  const published = graph.reports.filter((report) => {
    const day = isoDateOf(report.publishedAt)
    if (day > context.day) context.changesOn(day)
    return day <= context.day
  })
  if (published.length === 0) return undefined
  const periods = published.slice(0, maxPeriods).map((report, index) => {
    const before = published[index + 1]
    return period(report, before ? isoDateOf(before.publishedAt) : cycle.plannedStart, context)
  })
  return element('result', { type: '1' }, [
    sentenceElement('title', context.language, 'progress'),
    element('indicator', { measure: '5' }, [
      sentenceElement('title', context.language, 'indicator'),
      ...periods.reverse(),
    ]),
  ])
}

function period(report: ProgressReport, since: IsoDate, context: MappingContext): Element {
  const end = isoDateOf(report.publishedAt)
  const { language } = context
  const leads = textOf(report, 'html', report.contentHtml, language).map(([own, html]): Text[number] => [
    own,
    leadOf(html, maxLeadCharacters),
  ])
  return element('period', undefined, [
    ...periodElements(earlier(since, end), end),
    element('actual', undefined, [
      narrated('comment', leads, language) ?? narrated('comment', titleOfReport(report, context), language),
      reportLink(report, context),
    ]),
  ])
}
