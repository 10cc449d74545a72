import type { ProjectReports } from '../../../catalogue/sql/progress-reports.js'
import { dateTime, type Format } from '../../../catalogue/wire/write/wire-value.js'
import { writableImages, writableReports } from '../../../iati/atom/report-feed.js'
import type { ProgressReport } from '../../../kernel/project.js'
import { safeHtmlOf } from '../../../kernel/report-html.js'
import { safeAddress } from '../../../kernel/safe-address.js'
import { type Element, element, textElement } from '../../../kernel/xml/element.js'
import { legalText, writeElement } from '../../../kernel/xml/writer.js'

/** A project's reports, for an Atom feed (RFC 4287) or the same in JSON (wire.md 9). */
export type ReportFeedInput = {
  readonly project: ProjectReports
  /** Public address of the platform, without a slash at its end. */
  readonly baseUrl: string
  readonly publisherName: string
}

/** The document; JSON has the same as Atom, with plain strings and lists that are always arrays. */
export function reportFeedDocument(format: Format, input: ReportFeedInput): string {
  return format === 'xml' ? atomDocument(toFeed(input)) : JSON.stringify(jsonFeed(toFeed(input)))
}

type Feed = ReturnType<typeof toFeed>

function toFeed({ project, baseUrl, publisherName }: ReportFeedInput) {
  const self = `${baseUrl}/api/public/projectservice/projects/${project.id}/reports`
  return {
    base: `${baseUrl}/`,
    self,
    id: safeAddress(project.progressReportLink ?? '') || self,
    title: `Project reports: ${project.title}`,
    updated: newest(project, writableReports(project.reports)),
    author: project.organisationName ?? publisherName,
    entries: writableReports(project.reports),
  }
}

// A feed without entries has `updated` too (RFC 4287 section 4.1.1).
function newest({ changedAt }: ProjectReports, reports: readonly ProgressReport[]): Date {
  return reports.length === 0 ? changedAt : new Date(Math.max(...reports.map((report) => report.updatedAt.getTime())))
}

function atomDocument(feed: Feed): string {
  const root = element('feed', { xmlns: 'http://www.w3.org/2005/Atom', 'xml:base': feed.base }, [
    textElement('id', feed.id),
    textElement('title', feed.title, { type: 'text' }),
    textElement('updated', dateTime(feed.updated).text),
    person(feed.author),
    element('link', { rel: 'self', href: feed.self }),
    ...feed.entries.map(atomEntry),
  ])
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root)}`
}

// An entry links its pictures only, since clients show every link as a picture.
function atomEntry(report: ProgressReport): Element {
  return element('entry', undefined, [
    textElement('id', report.url),
    textElement('title', report.title, { type: 'text' }),
    report.authorName === undefined ? undefined : person(report.authorName),
    textElement('published', dateTime(report.publishedAt).text),
    textElement('updated', dateTime(report.updatedAt).text),
    textElement('content', safeHtmlOf(report), { type: 'html' }),
    ...writableImages(report).map(({ url, mediaType }) =>
      element('link', { rel: 'enclosure', ...(mediaType && { type: mediaType }), href: url }),
    ),
  ])
}

function person(name: string): Element {
  return element('author', undefined, [textElement('name', name)])
}

function jsonFeed(feed: Feed) {
  return {
    attributes: { 'xml:base': feed.base },
    id: feed.id,
    title: legalText(feed.title),
    updated: dateTime(feed.updated).text,
    authors: [{ name: legalText(feed.author) }],
    links: [{ href: feed.self, rel: 'self' }],
    entries: feed.entries.map((report) => ({
      id: report.url,
      title: legalText(report.title),
      authors: report.authorName === undefined ? [] : [{ name: legalText(report.authorName) }],
      published: dateTime(report.publishedAt).text,
      updated: dateTime(report.updatedAt).text,
      content: legalText(safeHtmlOf(report)),
      links: writableImages(report).map(({ url, mediaType }) => ({
        href: url,
        rel: 'enclosure',
        ...(mediaType !== undefined && { type: mediaType }),
      })),
    })),
  }
}
