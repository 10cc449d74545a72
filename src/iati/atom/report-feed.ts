import type { ProgressReport, ProjectGraph } from '../../kernel/project.js'
import { safeHtmlOf } from '../../kernel/report-html.js'
import { safeAddress } from '../../kernel/safe-address.js'
import { type Element, element, textElement } from '../../kernel/xml/element.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { absoluteUrl } from '../absolute-url.js'
import { projectFeedPath, reportsArchivePath, reportsFeedPath } from '../addresses.js'
import type { MappingConfig } from '../mapping/mapping-config.js'
import type { Worded } from '../mapping/narrative.js'
import { partOf, sentence } from '../mapping/sentences.js'
import { plainText } from '../plain-text.js'

const namespace = 'http://www.w3.org/2005/Atom'
const historyNamespace = 'http://purl.org/syndication/history/1.0'
const atomType = 'application/atom+xml'
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

export type FeedConfig = { readonly baseUrl: string; readonly publisherName: string; readonly language: string }

export function toFeedConfig({ baseUrl, language, reportingOrg }: MappingConfig): FeedConfig {
  return { baseUrl, language, publisherName: reportingOrg.name }
}

/** An Atom document, with what its listing needs. */
export type ReportFeed = {
  readonly text: string
  readonly entries: number
  /** `updated` of the feed: the newest `updated` of its entries (RFC 4287 section 4.2.15). */
  readonly updatedAt: Date
}

/** A project's reports as an Atom feed (RFC 4287), newest first; undefined without any: `updated` comes from them. */
export function projectReportFeed(graph: ProjectGraph, config: FeedConfig): ReportFeed | undefined {
  const { project, organisation } = graph
  const address = `${config.baseUrl}${projectFeedPath(project.id)}`
  const page = webAddress(project.progressReportLink)
  const { language = config.language } = project
  return feed(graph.reports, config, {
    language,
    address,
    id: page ?? address,
    title: sentence(language, 'projectReports', plainText(project.title)),
    author: organisation?.name ?? config.publisherName,
    alternate: page ?? webAddress(project.projectLink),
  })
}

/**
 * The feed of the newest reports of all projects, newest first; undefined while there are none. Older reports are in
 * `newestArchive` and the archives before it (RFC 5005 section 4).
 */
export function recentReportFeed(
  reports: readonly ProgressReport[],
  config: FeedConfig,
  newestArchive?: number,
): ReportFeed | undefined {
  const current = `${config.baseUrl}${reportsFeedPath}`
  return feed(reports, config, {
    ...allReportsHead(config),
    address: current,
    links: newestArchive === undefined ? [] : [archiveLink('prev-archive', newestArchive, config)],
  })
}

/** An archive document (RFC 5005 section 4) of that feed, under the same id (iati.md 18.3); undefined without reports. */
export function reportArchive(
  reports: readonly ProgressReport[],
  config: FeedConfig,
  archive: number,
  previous: number | undefined,
): ReportFeed | undefined {
  const current = `${config.baseUrl}${reportsFeedPath}`
  return feed(reports, config, {
    ...allReportsHead(config),
    address: `${config.baseUrl}${reportsArchivePath(archive)}`,
    archive: true,
    links: [
      element('link', { rel: 'current', type: atomType, href: current }),
      ...(previous === undefined ? [] : [archiveLink('prev-archive', previous, config)]),
    ],
  })
}

/** The title of a feed that `projectReportFeed` wrote, from the beginning of its text. */
export function titleOfFeed(text: string): string {
  const [, title = ''] = /<title type="text"[^>]*>([^<]*)</.exec(text) ?? []
  return title.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#xD;', '\r').replaceAll('&amp;', '&')
}

/** The title of the project of which `projectReportFeed` wrote a feed. */
export function projectOfFeed(text: string): string {
  return partOf('projectReports', titleOfFeed(text))
}

function allReportsHead(config: FeedConfig): Omit<FeedHead, 'address' | 'links'> {
  return {
    id: `${config.baseUrl}${reportsFeedPath}`,
    language: config.language,
    title: sentence(config.language, 'reports', config.publisherName),
    author: config.publisherName,
    alternate: `${config.baseUrl}/`,
  }
}

function archiveLink(rel: string, archive: number, config: FeedConfig): Element {
  return element('link', { rel, type: atomType, href: `${config.baseUrl}${reportsArchivePath(archive)}` })
}

type FeedHead = {
  readonly address: string
  readonly id: string
  readonly language: string
  readonly title: Worded
  readonly author: string
  readonly alternate: string | undefined
  readonly archive?: boolean
  readonly links?: readonly Element[]
}

/** The reports that an entry can be made of: their page has an address and their instants are on the calendar. */
export function writableReports(reports: readonly ProgressReport[]): ProgressReport[] {
  const isOnCalendar = (instant: Date) => instant >= firstInstant && instant <= lastInstant
  return reports.filter(
    ({ url, publishedAt, updatedAt }) => webAddress(url) && isOnCalendar(publishedAt) && isOnCalendar(updatedAt),
  )
}

const firstInstant = new Date('1000-01-01T00:00:00Z')
const lastInstant = new Date('9999-12-31T23:59:59Z')

/** The text as it is, where it is an http or https address. */
function webAddress(text: string | undefined): string | undefined {
  return text !== undefined && absoluteUrl(text) !== undefined ? text : undefined
}

function feed(found: readonly ProgressReport[], config: FeedConfig, head: FeedHead): ReportFeed | undefined {
  const reports = writableReports(found)
  const [first, ...rest] = reports
  if (!first) return undefined
  let { updatedAt } = first
  for (const report of rest) if (report.updatedAt > updatedAt) updatedAt = report.updatedAt
  const attributes = {
    xmlns: namespace,
    ...(head.archive && { 'xmlns:fh': historyNamespace }),
    'xml:base': `${config.baseUrl}/`,
    'xml:lang': head.language,
  }
  const [spoken, title] = head.title
  const root = element('feed', attributes, [
    head.archive ? element('fh:archive', undefined) : undefined,
    textElement('id', head.id),
    textElement('title', title, { type: 'text', ...(spoken !== head.language && { 'xml:lang': spoken }) }),
    textElement('updated', timestamp(updatedAt)),
    person('author', head.author),
    element('link', { rel: 'self', type: atomType, href: head.address }),
    head.alternate ? element('link', { rel: 'alternate', type: 'text/html', href: head.alternate }) : undefined,
    ...(head.links ?? []),
    ...reports.map((report) => entry(report, head.language)),
  ])
  return { text: `${declaration}${writeElement(root)}\n`, entries: reports.length, updatedAt }
}

/** One report. Its links are its pictures only: clients show every link of an entry as a picture (wire.md 9.2). */
function entry(report: ProgressReport, outer: string): Element {
  const { language = outer } = report
  return element('entry', language === outer ? undefined : { 'xml:lang': language }, [
    textElement('id', report.url),
    textElement('title', plainText(report.title), { type: 'text' }),
    report.authorName ? person('author', report.authorName) : undefined,
    textElement('published', timestamp(report.publishedAt)),
    textElement('updated', timestamp(report.updatedAt)),
    textElement('content', safeHtmlOf(report), { type: 'html' }),
    ...writableImages(report).map(({ url, mediaType }) =>
      element('link', { rel: 'enclosure', ...(mediaType && { type: mediaType }), href: absoluteUrl(url) ?? url }),
    ),
  ])
}

/** The pictures whose address is one of the web. */
export function writableImages({ images }: ProgressReport): ProgressReport['images'] {
  return images.filter(({ url }) => safeAddress(url) !== '')
}

function person(role: 'author', name: string): Element {
  return element(role, undefined, [textElement('name', plainText(name))])
}

/** RFC 3339 in UTC, written with a numeric offset as the API's dates are (wire.md 1.6). */
function timestamp(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}+00:00`
}
