import type { FieldProblem } from '../../../kernel/errors.js'
import { reportFields } from '../../../kernel/nouns/report.js'
import { reportHtmlProblem, sanitizeReportHtml } from '../../../kernel/report-html.js'
import { fieldAndLanguage } from '../../../kernel/texts.js'
import { type ImportedReport, projectsOfLinks, saveReports } from '../../sql/imported-reports.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import type { RowOf } from '../fields.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { fieldsInFiles, statedIn } from '../noun-fields.js'
import { unknownProject } from './money.js'

const reportKindFields = fieldsInFiles(reportFields, 'progress_report')

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

function check(
  { project, projectLinks, published, updated, html, texts }: ReportRow,
  saving: ImportSaving,
): FieldProblem[] {
  const problems: FieldProblem[] = []
  if ((project ?? saving.project ?? projectLinks) === undefined) {
    problems.push({ field: 'project', expected: 'the number of the project, or its page in projectLinks' })
  }
  if (updated && updated < published) {
    problems.push({ field: 'updated', expected: 'an instant that is not before published', got: updated.toISOString() })
  }
  for (const [field, text] of [['html', html] as const, ...Object.entries(texts ?? {}).filter(isHtml)]) {
    const problem = reportHtmlProblem(text)
    if (problem) problems.push({ field, ...problem })
  }
  return problems
}

function isHtml([key]: readonly [string, string]): boolean {
  return fieldAndLanguage(key)?.field === 'html'
}

function withoutProject({ project, projectLinks = [] }: ReportRow): FieldProblem {
  if (project !== undefined) return unknownProject(project)
  const expected = 'one that is the projectLink or progressReportLink of a project, or --project'
  return { field: 'projectLinks', expected, got: projectLinks.join(' ').slice(0, 200) }
}

/** The report that a row is. */
export function reportOf(row: ReportRow, projectId: number): ImportedReport {
  return {
    ...statedIn(reportFields, row),
    projectId,
    id: row.id,
    externalId: row.externalId,
    updatedAt: row.updated ?? row.published,
    contentHtml: sanitizeReportHtml(row.html),
    ...(row.texts && {
      texts: Object.fromEntries(
        Object.entries(row.texts).flatMap((one) =>
          one[1] === '' ? [] : [[one[0], isHtml(one) ? sanitizeReportHtml(one[1]) : one[1]]],
        ),
      ),
    }),
    images: (row.images ?? []).map(({ url, mediaType }) => ({ url, ...(mediaType !== undefined && { mediaType }) })),
  }
}
