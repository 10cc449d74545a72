import { XMLParser } from 'fast-xml-parser'
import { ServiceError } from '../errors.js'
import { type Element, element, textElement } from './element.js'
import { parseElement, type XmlLimits } from './reader.js'
import { writeElement } from './writer.js'

/** Element content as in JSON: text, or an object of the children (an array where a name repeats). */
type FieldValue = string | { readonly [name: string]: FieldValue | FieldValue[] }

/** One small document as names and texts: its root's name and what the root holds. Attributes and prefixes are dropped. */
export type Fields = { readonly root: string; readonly value: FieldValue }

// Texts stay as they are; `htmlEntities` is for the one numeric reference that the writer makes, a carriage return.
const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: true,
  htmlEntities: true,
})

/**
 * Reads one request body into values. The lenient parser sees only what the strict reader has understood and the writer
 * has written again: elements and text, without declaration, comments, instructions, CDATA and attributes. Throws
 * `request-malformed` and `request-too-large` as the reader does.
 */
export function parseFields(source: Buffer, limits: XmlLimits): Fields {
  const root = withoutMarkup(parseElement(source, limits, { dropLayout: true }))
  try {
    const values = parser.parse(writeElement(root)) as Record<string, FieldValue>
    return { root: root.name, value: values[root.name] ?? '' }
  } catch (cause) {
    // Names that an object cannot safely hold.
    throw new ServiceError('request-malformed', 'the document uses an element name that is not accepted', { cause })
  }
}

/** Names count without their prefix: the strict reader has seen that it is bound. */
function withoutMarkup({ name, children, text }: Element): Element {
  const localName = name.slice(name.indexOf(':') + 1)
  return children.length > 0 ? element(localName, undefined, children.map(withoutMarkup)) : textElement(localName, text)
}
