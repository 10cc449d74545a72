import { type IsoDate, isoDateOf } from '../../kernel/dates.js'
import type { Photo, ProgressReport, ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { absoluteUrl } from '../absolute-url.js'
import { projectFeedPath } from '../addresses.js'
import { isActiveCode } from '../standard/index.js'
import type { MappingContext } from './mapping-context.js'
import { coded, narrated, type Text, textOf } from './narrative.js'
import { sentencesAbout } from './sentences.js'

// Limits of an activity's size; the link to the feed covers what they leave out (iati.md 10.1).
const maxReports = 20
const maxPhotos = 5

type DocumentLink = {
  readonly url: string
  readonly format: string
  readonly title: Text
  /** Code of DocumentCategory: A08 results, A12 activity web page, or the assumed one. */
  readonly category: string
  readonly date?: IsoDate
  /** The language of a document of the platform's own. */
  readonly language?: string
}

/** `document-link` [0..*]: project page, additional document, reports and their feed, photos with consent. */
export function documentLinks(graph: ProjectGraph, context: MappingContext): Element[] {
  const links = [
    ...pages(graph, context),
    ...additionalDocument(graph, context),
    ...reports(graph, context),
    ...photos(graph, context),
  ]
  const seen = new Set<string>()
  return links.flatMap((link) => {
    const url = usableUrl(link.url, context)
    // The same address in the same category is written once.
    if (!url || seen.has(`${link.category} ${url}`)) return []
    seen.add(`${link.category} ${url}`)
    return [documentLink({ ...link, url }, context)]
  })
}

/** The link to a report's page; undefined when its address is not usable. */
export function reportLink(report: ProgressReport, context: MappingContext): Element | undefined {
  const url = absoluteUrl(report.url)
  return url === undefined ? undefined : documentLink({ ...reportPage(report, context), url }, context)
}

/** The title of a report in its languages. */
export function titleOfReport(report: ProgressReport, { language }: MappingContext): Text {
  return textOf(report, 'title', report.title, language)
}

function reportPage(report: ProgressReport, context: MappingContext): DocumentLink {
  const { url, publishedAt, language = context.language } = report
  const title = titleOfReport(report, context)
  return { url, format: 'text/html', title, category: 'A08', date: isoDateOf(publishedAt), language }
}

function titleOf({ project }: ProjectGraph, { language }: MappingContext): Text {
  return textOf(project, 'title', project.title, language)
}

function pages(graph: ProjectGraph, context: MappingContext): DocumentLink[] {
  const url = graph.project.projectLink
  if (!url) return []
  const { language } = context
  return [{ url, format: 'text/html', title: titleOf(graph, context), category: 'A12', language }]
}

const formats: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  rtf: 'application/rtf',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  mp4: 'video/mp4',
}

const extensionPattern = /\.([A-Za-z0-9]{2,5})(?:[?#].*)?$/

/** The media type by file name extension, if it is on the FileFormat list. */
function formatOf(url: string): string | undefined {
  const extension = extensionPattern.exec(url)?.[1]?.toLowerCase()
  const format = extension && formats[extension]
  return format && isActiveCode('FileFormat', format) ? format : undefined
}

// Extensions of picture formats that the FileFormat list lacks.
const unlistedPictures = /\.(?:webp|avif|heic|heif|jxl|svg|bmp|tiff?|ico)(?:[?#].*)?$/i

function additionalDocument(graph: ProjectGraph, context: MappingContext): DocumentLink[] {
  const url = graph.project.additionalDocumentation
  if (!url) return []
  const format = formatOf(url)
  if (!format) {
    context.notice('format-unknown', 'additionalDocumentation', `expected a known file name extension, got ${url}`)
    return []
  }
  if (absoluteUrl(url) !== undefined) context.assumeDefault('document-category', 'ASSUMED_DOCUMENT_CATEGORY')
  return [
    {
      url,
      format,
      title: sentencesAbout('document', titleOf(graph, context)),
      category: context.config.assumed.documentCategory,
    },
  ]
}

function reports(graph: ProjectGraph, context: MappingContext): DocumentLink[] {
  const { project } = graph
  const links: DocumentLink[] = []
  if (graph.reports.length > 0) {
    links.push({
      url: `${context.config.baseUrl}${projectFeedPath(project.id)}`,
      format: 'application/atom+xml',
      title: sentencesAbout('feed', titleOf(graph, context)),
      category: 'A08',
    })
  }
  if (project.progressReportLink && (project.numberOfReports ?? graph.reports.length) > 0) {
    links.push({
      url: project.progressReportLink,
      format: 'text/html',
      title: sentencesAbout('reports', titleOf(graph, context)),
      category: 'A08',
      language: context.language,
    })
  }
  for (const report of graph.reports.slice(0, maxReports)) {
    links.push(reportPage(report, context))
  }
  return links
}

function photos(graph: ProjectGraph, context: MappingContext): DocumentLink[] {
  return graph.photos
    .filter((photo) => photo.consent)
    .slice(0, maxPhotos)
    .flatMap((photo) => {
      const url = bestRendition(photo, context)
      if (!url) return []
      return [
        {
          url,
          // Renditions without an extension are JPEG files.
          format: formatOf(url) ?? 'image/jpeg',
          title: photo.title
            ? ([[context.language, photo.title]] as const)
            : sentencesAbout('photo', titleOf(graph, context)),
          category: 'A08' as const,
          ...(photo.takenOn && { date: photo.takenOn }),
        },
      ]
    })
}

/** The best rendition in a listed format (webp is not); undefined with a notice when there is none. */
function bestRendition({ renditions }: Photo, context: MappingContext): string | undefined {
  const { large, extraLarge, original, medium } = renditions
  const offered = [large, extraLarge, original, medium].filter((url) => url !== undefined)
  const best = offered.find((url) => !unlistedPictures.test(url))
  if (best === undefined && offered[0] !== undefined) {
    context.notice('format-unknown', 'photos', `expected a JPEG, PNG or GIF rendition, got ${offered[0]}`)
  }
  return best
}

/** The address absolute and percent-encoded; undefined with a notice if it is not one. */
function usableUrl(url: string, context: MappingContext): string | undefined {
  const usable = absoluteUrl(url)
  if (usable === undefined) {
    context.notice('link-unusable', 'document-link', `expected an absolute http or https address, got ${url}`)
  }
  return usable
}

function documentLink(
  { url, format, title, category, date, language }: DocumentLink,
  { language: own }: MappingContext,
): Element {
  return element('document-link', { url, format }, [
    narrated('title', title, own) ?? narrated('title', [[own, url]], own),
    coded('category', category),
    language === undefined ? undefined : coded('language', language),
    date && element('document-date', { 'iso-date': date }),
  ])
}
