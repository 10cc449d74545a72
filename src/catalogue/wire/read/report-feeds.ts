import { plainText } from '../../../iati/plain-text.js'
import { expectedDay, type IsoDate, isoDateOf, parseWireDateTime } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import type { ReportRecord } from '../../../kernel/record.js'
import { reportHtmlProblem, sanitizeReportHtml, withAbsoluteLinks } from '../../../kernel/report-html.js'
import type { Element } from '../../../kernel/xml/element.js'
import { escapeText, writeElement } from '../../../kernel/xml/writer.js'
import { createYielder } from '../../../kernel/yielder.js'
import { isObject, objectsOf, type ParsedValue, storableText } from './parsed-value.js'
import { languageCode } from './publication-fields.js'
import { firstCharacter, parseXml, readDocument, unusable } from './upstream-documents.js'

/** The readable reports of a feed, and the problems of the others. */
export type ReportReading = { readonly reports: readonly ReportRecord[]; readonly problems: readonly FieldProblem[] }

/** An entry of a feed, unchecked. */
export type FeedEntry = {
  readonly id?: string | undefined
  readonly title?: string | undefined
  readonly author?: string | undefined
  readonly published?: string | undefined
  readonly updated?: string | undefined
  readonly html: string
  /** Of its text: a code of ISO 639-1. */
  readonly language?: string | undefined
  /** What addresses in the entry are relative to (XML Base). */
  readonly base?: string | undefined
  readonly links: readonly { readonly href: string; readonly rel?: string; readonly type?: string }[]
}

/**
 * Reads the progress reports of a project, in Atom or its JSON variant (wire.md 9), and sanitises their HTML before it
 * enters the store. A report whose HTML is too large is refused by name. Throws `upstream-unusable` for another document.
 */
export async function readReportFeed(body: Buffer, today: IsoDate): Promise<ReportReading> {
  const { base, entries } = await (firstCharacter(body) === '<' ? fromAtom(body) : fromJson(body))
  const yieldIfDue = createYielder()
  const problems: FieldProblem[] = []
  const reports: ReportRecord[] = []
  let charactersLeft = mostHtmlCharacters
  for (const [index, entry] of entries.entries()) {
    const reading = toReport(entry, base, charactersLeft, today)
    if ('url' in reading) {
      reports.push(reading)
      charactersLeft -= entry.html.length
    } else problems.push({ ...reading, field: `entry ${index + 1}/${reading.field}` })
    await yieldIfDue()
  }
  return { reports, problems }
}

// HTML of all reports of one project.
const mostHtmlCharacters = 4_000_000

function toReport(
  entry: FeedEntry,
  base: string | undefined,
  charactersLeft: number,
  today: IsoDate,
): ReportRecord | FieldProblem {
  const url = toWebAddress(entry.id, entry.base ?? base)
  if (url === undefined) return { field: 'id', expected: "the web address of the report's page", ...got(entry.id) }
  const published = parseWireDateTime(entry.published?.trim() ?? '')
  const updated = parseWireDateTime(entry.updated?.trim() ?? '')
  const publishedAt = published ?? updated
  if (publishedAt === undefined) {
    return { field: 'published', expected: 'a date and time with offset', ...got(entry.published) }
  }
  for (const [field, instant] of Object.entries({ published: publishedAt, updated })) {
    const expected = instant && expectedDay(isoDateOf(instant), 'fact', today)
    if (expected) return { field, expected, got: instant.toISOString() }
  }
  const problem = reportHtmlProblem(entry.html)
  if (problem) return { field: 'content', ...problem }
  if (entry.html.length > charactersLeft) {
    const expected = `at most ${mostHtmlCharacters} characters of HTML in all reports of a project`
    return { field: 'content', expected, got: 'more' }
  }
  const author = entry.author?.trim()
  const images = entry.links.flatMap(({ href, rel, type }) => {
    const address = rel === 'self' || rel === 'alternate' ? undefined : toWebAddress(href, base)
    return address === undefined ? [] : [{ url: address, ...(type && { mediaType: type }) }]
  })
  return {
    url,
    title: entry.title?.trim() || url,
    ...(author && { authorName: author }),
    ...(entry.language && { language: entry.language }),
    publishedAt,
    updatedAt: updated ?? publishedAt,
    contentHtml: sanitizeReportHtml(entry.html),
    images,
  }
}

function got(value: string | undefined): { got?: string } {
  return value === undefined ? {} : { got: value.slice(0, 120) }
}

/** The absolute web address that a text stands for. */
export function toWebAddress(text: string | undefined, base: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  // An absolute address stays unchanged, since it identifies the report.
  if (/^https?:\/\//i.test(trimmed)) return URL.canParse(trimmed) ? trimmed : undefined
  if (base === undefined || !URL.canParse(trimmed, base)) return undefined
  const url = new URL(trimmed, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined
}

type Feed = { readonly base: string | undefined; readonly entries: readonly FeedEntry[] }

async function fromAtom(body: Buffer): Promise<Feed> {
  const root = await parseXml(body, (child) => (/^(entry|link)$/.test(localName(child)) ? child : undefined), true)
  if (localName(root) !== 'feed') throw unusable(`an XML document whose root is ${root.name}, not an Atom feed`)
  const base = baseOf(
    root,
    root.children.map(selfOf).find((self) => self !== undefined),
  )
  const entries = root.children.filter((child) => child && localName(child) === 'entry')
  return { base, entries: entries.flatMap((entry) => (entry ? toFeedEntry(entry, base, languageIn(root)) : [])) }
}

/** The address of the feed itself, if a child of the feed names it: what is relative without another base is relative to it. */
export function selfOf(child: Element | undefined): string | undefined {
  if (!child || localName(child) !== 'link' || child.attributes.rel !== 'self') return undefined
  return toWebAddress(child.attributes.href, undefined)
}

/** The base of what is in an element, where `outer` is that of the element (XML Base). */
export function baseOf({ attributes }: Pick<Element, 'attributes'>, outer: string | undefined): string | undefined {
  const own = attributes['xml:base']
  return own !== undefined && URL.canParse(own, outer) ? new URL(own, outer).href : outer
}

/** The language of what is in an element, where `outer` is that of the element (xml:lang); undefined for one that IATI lacks. */
export function languageIn({ attributes }: Pick<Element, 'attributes'>, outer?: string): string | undefined {
  const own = attributes['xml:lang']
  return own === undefined ? outer : languageCode.parse(own.trim())
}

/** Reads an entry of an Atom feed. */
export function toFeedEntry(entry: Element, feedBase: string | undefined, feedLanguage: string | undefined): FeedEntry {
  const base = baseOf(entry, feedBase)
  const content = childrenOf(entry, 'content')[0] ?? childrenOf(entry, 'summary')[0]
  const [author] = childrenOf(entry, 'author')
  const [title] = childrenOf(entry, 'title')
  const [published, updated] = [textOf(entry, 'published'), textOf(entry, 'updated')]
  return {
    id: textOf(entry, 'id'),
    title: title && plainText(htmlOf(title)),
    author: author && textOf(author, 'name'),
    published,
    // What was written ahead is last changed before its publication.
    updated: Date.parse(updated ?? '') < Date.parse(published ?? '') ? published : updated,
    html: content ? withAbsoluteLinks(htmlOf(content), baseOf(content, base)) : '',
    language: content ? languageIn(content, languageIn(entry, feedLanguage)) : languageIn(entry, feedLanguage),
    base,
    links: childrenOf(entry, 'link').flatMap((link) => {
      const { href, rel, type } = link.attributes
      if (href === undefined) return []
      const address = toWebAddress(href, baseOf(link, base)) ?? href
      return [{ href: address, ...(rel && { rel }), ...(type && { type: storableText(type) }) }]
    }),
  }
}

function localName({ name }: { readonly name: string }): string {
  return name.slice(name.indexOf(':') + 1)
}

function childrenOf(parent: Element, name: string): Element[] {
  return parent.children.filter((child) => localName(child) === name)
}

function textOf(parent: Element, name: string): string | undefined {
  const [found] = childrenOf(parent, name)
  return found && storableText(found.text)
}

/** RFC 4287, 4.1.3: `html` is escaped markup, `xhtml` a div, everything else text. */
function htmlOf(content: Element): string {
  const type = content.attributes.type ?? 'text'
  if (type === 'xhtml') return storableText(content.children.map((child) => writeElement(child)).join(''))
  return storableText(type === 'html' || type === 'text/html' ? content.text : escapeText(content.text))
}

async function fromJson(body: Buffer): Promise<Feed> {
  const document = await readDocument(body)
  const feed = isObject(document.feed) ? document.feed : document
  const list = feed.entries ?? feed.entry
  if (list === undefined && feed.id === undefined) throw unusable('JSON that is not a feed')
  const { attributes } = feed
  const own = isObject(attributes) ? plain(attributes['xml:base']) : undefined
  const self = objectsOf(feed.links ?? feed.link).find((link) => plain(link.rel) === 'self')
  const base = own ?? toWebAddress(plain(self?.href), undefined)
  const entries = objectsOf(list).map(
    (entry): FeedEntry => ({
      id: plain(entry.id),
      title: plain(entry.title),
      author: plain(objectsOf(entry.authors ?? entry.author)[0]?.name),
      published: plain(entry.published),
      updated: plain(entry.updated),
      html: withAbsoluteLinks(plain(entry.content) ?? '', base),
      links: objectsOf(entry.links ?? entry.link).flatMap((link) => {
        const href = plain(link.href)
        const rel = plain(link.rel)
        const type = plain(link.type)
        return href === undefined ? [] : [{ href, ...(rel && { rel }), ...(type && { type }) }]
      }),
    }),
  )
  return { base, entries }
}

/** A text, or the text inside an object that some renderings make of `type` and value. */
function plain(value: ParsedValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  return isObject(value) ? plain(value.value ?? value.content) : undefined
}
