import { type Html, html } from '../../../http/pages/html.js'
import { countText, cut, dayText } from '../../../http/pages/page.js'
import { projectFeedPath } from '../../../iati/addresses.js'
import type { Element } from '../../../kernel/xml/element.js'
import { unescapeText } from '../../../release/read/activity-text.js'
import type { ShownProject } from '../read-project.js'
import type { ShownReport } from '../read-reports.js'
import { child, children } from '../record.js'
import { type Said, saidBy, spoken } from '../said.js'
import { codeHtml, type View } from '../view.js'
import { localAddress } from './parts.js'

/** Reports that the page has, and those that are open to read. */
export const shownReports = 20
const openReports = 2

/** Where the report at a place stands on the page. */
export function reportAnchor(at: number): string {
  return `report-${at + 1}`
}

function documentsOf(activity: Element, arePictures: boolean): readonly Element[] {
  return children(activity, 'document-link').filter(
    ({ attributes }) => attributes.format?.startsWith('image/') === arePictures,
  )
}

export function photoSection({ view, activity }: ShownProject): Html {
  const photos = documentsOf(activity, true)
  if (photos.length === 0) return html``
  const items = photos.map((one) => {
    const title = saidBy(view, activity, child(one, 'title'))
    return html`<li>${picture(view, one.attributes.url ?? '', title, { width: 384, height: 256 })}</li>\n`
  })
  return html`<h2>${view.words.project.photos}</h2><details class="wideopen"><summary>${countText(view, photos.length)}</summary><ul class="photos">
${items}</ul></details>`
}

/** A picture that this service serves, else the way to it. */
function picture(view: View, url: string, title: Said, { width, height }: Readonly<Record<string, number>>): Html {
  const address = localAddress(view, url)
  if (!address) return outside(view, url, title)
  return html`<img src="${address}" alt="${title.text}"${spoken(view, title)} loading="lazy" width="${width}" height="${height}">`
}

function outside(view: View, url: string, title: Said): Html {
  return html`<a href="${safeHref(url)}" rel="external nofollow"${spoken(view, title)}>${title.text}</a> <small>(${view.words.project.elsewhere})</small>`
}

export function safeHref(url: string): string {
  return /^https?:\/\//i.test(url) ? url : '#'
}

/** The title of a report in the reader's language where the record has it, else as the report has it. */
export function reportTitle({ view, activity }: ShownProject, { address, title, language }: ShownReport): Said {
  const link = children(activity, 'document-link').find(({ attributes: { url } }) => url === address)
  const said = saidBy(view, activity, child(link, 'title'))
  return said.text !== '' && said.language === view.language ? said : { text: title, language }
}

/** Documents but the reports, which the page has. */
export function documentSection({ view, activity, entry, reports }: ShownProject): Html {
  const shown = new Set([view.baseUrl + projectFeedPath(entry.project), ...reports.map(({ address }) => address)])
  const others = documentsOf(activity, false).filter(({ attributes: { url = '' } }) => !shown.has(url))
  const items = others.map((one) => {
    const url = one.attributes.url ?? ''
    const title = saidBy(view, activity, child(one, 'title'))
    const address = localAddress(view, url)
    return html`<li>${address ? html`<a href="${address}"${spoken(view, title)}>${title.text}</a>` : outside(view, url, title)} <small>${codeHtml(view, 'DocumentCategory', child(one, 'category')?.attributes.code ?? '')}</small></li>\n`
  })
  return items.length === 0
    ? html``
    : html`<h2>${view.words.project.documents}</h2><ul class="documents">
${items}</ul>`
}

export function reportSection(shown: ShownProject): Html {
  const { view, entry, reports } = shown
  const { words } = view
  if (reports.length === 0) return html``
  const items = reports.slice(0, shownReports).map((report, at) => {
    const shownAs = { text: words.project.picture(cut(report.title, 120)), language: view.language }
    const pictures = report.images.map(({ url }) => picture(view, url, shownAs, { width: 320, height: 213 }))
    const title = reportTitle(shown, report)
    return html`<article class="report" id="${reportAnchor(at)}"><h3${spoken(view, title)}>${title.text}</h3><p class="kind">${dayText(view, report.published)}${report.author && html` · <span dir="auto">${report.author}</span>`}</p>
<div${spoken(view, report)}>${{ html: contentOf(view, report) }}</div>${pictures.length > 0 ? html`<p>${pictures}</p>` : undefined}</article>
`
  })
  const earlier = items.slice(openReports)
  return html`<h2 id="reports">${words.project.reports}</h2>
${items.slice(0, openReports)}${earlier.length > 0 ? html`<details><summary>${words.project.earlier(countText(view, earlier.length))}</summary>${earlier}</details>` : undefined}<p><a href="${projectFeedPath(entry.project)}">${words.project.reports} (Atom)</a></p>`
}

/** The safe HTML of a report: headings below the page's own, pictures of other hosts as links. */
function contentOf(view: View, { html: content }: ShownReport): string {
  return content.replace(/<(\/?)h[1-6]\b/g, '<$1h4').replace(/<img\b[^>]*>/g, (tag) => {
    const url = /\bsrc="([^"]*)"/.exec(tag)?.[1] ?? ''
    const address = localAddress(view, unescapeText(url))
    const alt = /\balt="([^"]*)"/.exec(tag)?.[1] ?? ''
    if (address !== undefined) return `<img src="${address}" alt="${alt}" loading="lazy">`
    return /^https?:/.test(url) ? `<a href="${url}" rel="external nofollow">${alt || url}</a>` : alt
  })
}
