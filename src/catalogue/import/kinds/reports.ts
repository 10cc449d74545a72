import type { FieldProblem } from '../../../kernel/errors.js'
import { reportHtmlProblem, sanitizeReportHtml } from '../../../kernel/report-html.js'
import { type ImportedReport, projectsOfLinks, saveReports } from '../../sql/imported-reports.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import * as type from '../field-types.js'
import type { KindFields, RowOf } from '../fields.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { unknownProject } from './money.js'

const reportKindFields = {
  url: {
    type: type.address,
    required: true,
    means: 'Page of the report; it identifies the report and never changes.',
    examples: ['https://platform.example/reports/1', 'https://platform.example/reports/2'],
    api: 'entry/id',
    iati: 'document-link A08; Atom entry/id',
  },
  project: {
    type: type.projectReference,
    means: 'Number or externalId of the project; left out only where projectLinks tells it.',
    examples: ['101', '102'],
  },
  projectLinks: {
    type: type.listOf(type.address),
    means: 'Pages of which one is the projectLink or the progressReportLink of the project.',
    examples: ['', ''],
  },
  externalId: {
    type: type.externalId,
    kept: true,
    means: "The platform's own id of the report, where it is no whole number.",
    examples: ['', ''],
  },
  id: {
    type: type.identifier,
    numbers: 'progress_report',
    means: 'Number of the report. Left out: the one at the end of its address, else one made of the address.',
    examples: ['', ''],
  },
  title: {
    type: type.text,
    required: true,
    means: 'Title.',
    examples: ['The pump runs', 'Desks delivered'],
    api: 'entry/title',
    iati: 'document-link/title; Atom entry/title',
  },
  author: {
    type: type.text,
    means: 'Author.',
    examples: ['Tara Water Trust', ''],
    api: 'entry/author',
    iati: 'Atom entry/author',
  },
  published: {
    type: type.instant,
    day: 'fact',
    required: true,
    means: 'Day or instant of publication.',
    examples: ['2025-06-01T09:30:00+00:00', '2025-07-15'],
    api: 'entry/published, dateOfMostRecentReport',
    iati: 'document-link/document-date, result/indicator/period; Atom entry/published',
  },
  updated: {
    type: type.instant,
    day: 'fact',
    means: 'Day or instant of the last change, not before its publication. Left out: its publication.',
    examples: ['', ''],
    api: 'entry/updated',
    iati: 'Atom entry/updated',
  },
  html: {
    type: type.htmlText,
    required: true,
    means: 'Text as HTML; what could run or restyle a page is removed.',
    examples: ['<p>Water since Monday.</p>', '<p>120 desks.</p>'],
    api: 'entry/content',
    iati: 'result/indicator/period/actual/comment (its beginning); Atom entry/content',
  },
  images: {
    type: type.entriesOf(
      'addresses of pictures with | between them',
      { url: { type: type.address }, mediaType: { type: type.text, optional: true } },
      true,
    ),
    means: 'Addresses of pictures of the report; in NDJSON they may be objects with url and mediaType.',
    examples: ['https://platform.example/img/1.jpg|https://platform.example/img/2.jpg', ''],
    api: 'entry/link',
    iati: 'Atom entry/link rel="enclosure"',
  },
} as const satisfies KindFields

export type ReportRow = RowOf<typeof reportKindFields>

export const reports = defineKind({
  name: 'reports',
  means: 'Progress reports.',
  notes:
    'Atom feeds (RFC 4287) of other platforms are read as they are; `--project` says whose a feed is where its links do not tell. Reports that a file no longer has stay.',
  fields: reportKindFields,
  key: ['url'],
  repeated: 'last',
  check,
  save: async (db, rows, { source, project: projectOfFeeds }) => {
    const byLink = await projectsOfLinks(
      db,
      rows.flatMap(({ project, projectLinks = [] }) => (project === undefined ? projectLinks : [])),
    )
    const projectOf = ({ project, projectLinks = [] }: ReportRow) =>
      project ?? projectOfFeeds ?? projectLinks.flatMap((link) => byLink.get(link) ?? [])[0]
    const projects = await lockProjectSources(
      db,
      rows.flatMap((row) => projectOf(row) ?? []),
    )
    const known = rows.filter((row) => projects.has(projectOf(row) ?? 0))
    const saved = await saveReports(
      db,
      known.map((row) => reportOf(row, projectOf(row) ?? 0)),
      source,
    )
    const outcomes = new Map<ReportRow, RecordOutcome>(known.map((row, index) => [row, saved[index] ?? 'unchanged']))
    return rows.map((row) => outcomes.get(row) ?? withoutProject(row))
  },
})

function check({ project, projectLinks, published, updated, html }: ReportRow, saving: ImportSaving): FieldProblem[] {
  const problems: FieldProblem[] = []
  if ((project ?? saving.project ?? projectLinks) === undefined) {
    problems.push({ field: 'project', expected: 'the number of the project, or its page in projectLinks' })
  }
  if (updated && updated < published) {
    problems.push({ field: 'updated', expected: 'an instant that is not before published', got: updated.toISOString() })
  }
  const problem = reportHtmlProblem(html)
  if (problem) problems.push({ field: 'html', ...problem })
  return problems
}

function withoutProject({ project, projectLinks = [] }: ReportRow): FieldProblem {
  if (project !== undefined) return unknownProject(project)
  const expected = 'one that is the projectLink or progressReportLink of a project, or --project'
  return { field: 'projectLinks', expected, got: projectLinks.join(' ').slice(0, 200) }
}

/** The report that a row is. */
export function reportOf(row: ReportRow, projectId: number): ImportedReport {
  return {
    projectId,
    id: row.id,
    externalId: row.externalId,
    url: row.url,
    title: row.title,
    ...(row.author !== undefined && { authorName: row.author }),
    publishedAt: row.published,
    updatedAt: row.updated ?? row.published,
    contentHtml: sanitizeReportHtml(row.html),
    images: (row.images ?? []).map(({ url, mediaType }) => ({ url, ...(mediaType !== undefined && { mediaType }) })),
  }
}
