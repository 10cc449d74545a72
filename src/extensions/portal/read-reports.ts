import { setImmediate as nextTurn } from 'node:timers/promises'
import { plainText } from '../../iati/plain-text.js'
import { sanitizeReportHtml } from '../../kernel/report-html.js'
import type { Element } from '../../kernel/xml/element.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'

/** A progress report as the release's feeds have it. */
export type ShownReport = {
  readonly address: string
  readonly language: string
  readonly title: string
  readonly author: string | undefined
  readonly published: string
  /** Safe HTML. */
  readonly html: string
  readonly text: string
  readonly images: readonly { readonly url: string }[]
}

/** The reports of a feed of the release, newest first; none when there is no such feed. */
export async function readReports(release: ReadableRelease, address: string): Promise<ShownReport[]> {
  const file = await release.find(address)
  if (!file) return []
  const reports: ShownReport[] = []
  const { children, attributes } = parseElement(await file.identity.bytes(), recordLimits)
  for (const entry of children) {
    if (entry.name !== 'entry') continue
    reports.push(toReport(entry, attributes['xml:lang'] ?? 'en'))
    await nextTurn()
  }
  return reports
}

function toReport(entry: Element, language: string): ShownReport {
  const text = (name: string) => entry.children.find((child) => child.name === name)?.text ?? ''
  const author = entry.children.find((child) => child.name === 'author')?.children[0]?.text
  const html = sanitizeReportHtml(text('content'))
  return {
    address: text('id'),
    language: entry.attributes['xml:lang'] ?? language,
    title: text('title'),
    author,
    published: text('published'),
    html,
    text: plainText(html),
    images: entry.children
      .filter(({ name, attributes }) => name === 'link' && attributes.rel === 'enclosure')
      .map(({ attributes }) => ({ url: attributes.href ?? '' })),
  }
}
