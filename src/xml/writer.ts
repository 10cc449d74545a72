import type { Attributes, Element } from './element.js'

// Characters that XML 1.0 (section 2.2) forbids even as references, lone surrogates included; with the `u` flag a
// surrogate class matches only unpaired ones. U+007F-0084/0086-009F are legal but discouraged, and kept.
const illegal = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDFFF]/gu
const suspicious = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

// What is clean is found by one search: nearly every text is, and there are hundreds in an activity.
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
  for (const name in attributes) out += ` ${name}="${escapeAttribute(attributes[name] ?? '')}"`
  return out
}

/**
 * An element around content that is markup already, for texts that are put together from parts; always with both tags.
 * What it makes must be well-formed: `content` comes from this writer or from `escapeText`.
 */
export function enclose(name: string, content: string, attributes?: Attributes): string {
  return `<${name}${attributes ? writeAttributes(attributes) : ''}>${content}</${name}>`
}

/**
 * The element as text. IATI and Atom write an empty element as `<a/>`; the wire format wants `<a></a>`
 * (wire contract 1.4): `selfClose: false`.
 */
export function writeElement(element: Element, options: { selfClose: boolean } = { selfClose: true }): string {
  return write(element, options.selfClose)
}

function write(element: Element, selfClose: boolean): string {
  const { name, children, text } = element
  const open = `<${name}${writeAttributes(element.attributes)}`
  if (children.length > 0) {
    let inner = ''
    for (const child of children) inner += write(child, selfClose)
    return `${open}>${inner}</${name}>`
  }
  if (text !== '') return `${open}>${escapeText(text)}</${name}>`
  return selfClose ? `${open}/>` : `${open}></${name}>`
}
