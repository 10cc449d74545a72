import { ServiceError } from '../../../kernel/errors.js'
import type { Element } from '../../../kernel/xml/element.js'
import { streamElements } from '../../../kernel/xml/reader.js'
import { type ParsedObject, valueLimits } from './parsed-value.js'
import { baseOf, languageIn, selfOf, toFeedEntry, toWebAddress } from './report-feeds.js'

const limits = { ...valueLimits, attributes: 100 }

/**
 * The entries of an Atom feed (RFC 4287) of any size as progress reports, each with the links of the feed: one of them is
 * usually the project's page. The address of a report is its id, or where that is none, its alternate link. Memory is
 * bounded by the largest entry. Throws `input-unusable` for another root, and the errors of the XML reader.
 */
export async function* atomEntries(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly line: number; readonly value: ParsedObject }> {
  let base: string | undefined
  let root: Pick<Element, 'attributes'> | undefined
  const feedLinks: string[] = []
  const addLink = (text: string | undefined, of: string | undefined) => {
    const address = toWebAddress(text, of)
    if (address !== undefined && !feedLinks.includes(address)) feedLinks.push(address)
  }
  const onRoot = (name: string, attributes: Readonly<Record<string, string>>) => {
    if (localNameOf(name) !== 'feed') throw new ServiceError('input-unusable', `expected an Atom feed, got ${name}`)
    root = { attributes }
    base = baseOf(root, undefined)
  }
  for await (const child of streamElements(chunks, { depth: 1, limits, onRoot, isMixed: true })) {
    const name = localNameOf(child.name)
    const self = selfOf(child)
    if (self !== undefined && root) base = baseOf(root, self)
    if (name === 'id') addLink(child.text, baseOf(child, base))
    else if (name === 'link' && child.attributes.rel !== 'next') addLink(child.attributes.href, baseOf(child, base))
    else if (name === 'entry')
      yield {
        line: child.line ?? 1,
        value: toReportValue(toFeedEntry(child, base, root && languageIn(root)), feedLinks),
      }
  }
}

function localNameOf(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The entry as the kind reports reads it; what is absent is left to the kind to refuse. */
function toReportValue(
  { id, title, author, published, updated, html, language, base, links }: ReturnType<typeof toFeedEntry>,
  feedLinks: readonly string[],
): ParsedObject {
  const alternate = links.find(({ rel }) => rel === undefined || rel === 'alternate')
  const url = toWebAddress(id, base) ?? toWebAddress(alternate?.href, base) ?? id ?? ''
  const images = links.flatMap(({ href, rel, type }) => {
    const address = rel === 'enclosure' ? toWebAddress(href, base) : undefined
    return address === undefined ? [] : [{ url: address, mediaType: type ?? '' }]
  })
  return {
    url,
    title: title?.trim() || url,
    author: author ?? '',
    published: published ?? updated ?? '',
    updated: updated ?? '',
    html,
    ...(language && { language }),
    images,
    projectLinks: feedLinks,
  }
}
