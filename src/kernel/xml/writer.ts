// biome-ignore-all lint/suspicious/noControlCharactersInRegex: XML forbids or escapes control characters
import type { Attributes, Element } from './element.js'

// Characters that XML 1.0 (section 2.2) forbids even as references, lone surrogates included; with the `u` flag a
// surrogate class matches only unpaired ones. U+007F-0084/0086-009F are legal but discouraged, and kept.
const illegal = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDFFF]/gu
const suspicious = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

// One search finds texts without special characters: nearly all of the hundreds of texts in an activity.
const uncleanText = /[&<>\r\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/
const uncleanAttribute = /["&<>\u0000-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

/** The text without characters that no XML 1.0 document may hold. */
export function legalText(text: string): string {
  return suspicious.test(text) ? text.replace(illegal, '') : text
}

/**
 * Character data: `&`, `<` and `>` as entities, a carriage return as `&#xD;` (a parser would otherwise turn it into a
 * newline, XML 1.0 section 2.11).
 */
export function escapeText(text: string): string {
  if (!uncleanText.test(text)) return text
  return legalText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;')
}

/** An attribute value for double quotes; tab and line breaks as references, or a parser would make them spaces (3.3.3). */
export function escapeAttribute(value: string): string {
  if (!uncleanAttribute.test(value)) return value
  return legalText(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;')
}

function writeAttributes(attributes: Attributes): string {
  let out = ''
  for (const name in attributes) out += `${attributeStart(name)}${escapeAttribute(attributes[name] ?? '')}"`
  return out
}

/** The parts of tags that depend on the name only. */
type Tags = { readonly start: string; readonly open: string; readonly close: string; readonly empty: string }

// The standard and the wire format have a few hundred names; the limit keeps names of foreign data from filling memory.
const mostNames = 2_000
const tagsByName = new Map<string, Tags>()
const attributeStarts = new Map<string, string>()

// Stryker disable all: cache state leaks between mutants, and a text is the same from the cache or made anew.
function tagsOf(name: string): Tags {
  const known = tagsByName.get(name)
  if (known) return known
  const tags = { start: `<${name}`, open: `<${name}>`, close: `</${name}>`, empty: `<${name}/>` }
  if (tagsByName.size < mostNames) tagsByName.set(name, tags)
  return tags
}

function attributeStart(name: string): string {
  const known = attributeStarts.get(name)
  if (known !== undefined) return known
  const start = ` ${name}="`
  if (attributeStarts.size < mostNames) attributeStarts.set(name, start)
  return start
}
// Stryker restore all

/**
 * An element around content that is already markup, always with both tags. `content` must come from this writer or from
 * `escapeText`, so that the result is well-formed.
 */
export function enclose(name: string, content: string, attributes?: Attributes): string {
  const tags = tagsOf(name)
  const open = attributes ? `${tags.start}${writeAttributes(attributes)}>` : tags.open
  return open + content + tags.close
}

/** The same element with its text written once, for one that stands in many places. */
export function prewritten(element: Element): Element {
  // Not enumerable, so that a changed copy (`{ ...element, attributes }`) does not keep the text of the original.
  return Object.defineProperty({ ...element }, 'markup', { value: writeElement(element) })
}

/** The element as text, an empty one as `<a/>`. */
export function writeElement(element: Element): string {
  if (element.markup !== undefined) return element.markup
  const { children, text } = element
  const tags = tagsOf(element.name)
  const attributes = writeAttributes(element.attributes)
  if (children.length > 0) {
    let out = attributes === '' ? tags.open : `${tags.start}${attributes}>`
    for (const child of children) out += writeElement(child)
    return out + tags.close
  }
  if (text === '') return attributes === '' ? tags.empty : `${tags.start}${attributes}/>`
  const open = attributes === '' ? tags.open : `${tags.start}${attributes}>`
  return open + escapeText(text) + tags.close
}
