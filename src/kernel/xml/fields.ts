import { XMLParser } from 'fast-xml-parser'
import { ServiceError } from '../errors.js'
import { type Element, element, textElement } from './element.js'
import { parseElement, type XmlLimits } from './reader.js'
import { writeElement } from './writer.js'

/** Element content as in JSON: text, or an object of the children (an array where a name repeats). */
type FieldValue = string | { readonly [name: string]: FieldValue | FieldValue[] }

/** One small document as names and texts: its root's name and what the root holds. Attributes and prefixes are dropped. */
export type Fields = { readonly root: string; readonly value: FieldValue }

/**
 * Reads one request body into values. The lenient parser sees only what the strict reader has understood and the writer
 * has written again: elements, without declaration, comments, instructions, CDATA and attributes, and the number of each
 * text in place of it, since a text of 60,000 `>` would take it 13 ms of the event loop. Throws `request-malformed` and
 * `request-too-large` as the reader does.
 */
export function parseFields(source: Buffer, limits: XmlLimits): Fields {
  const texts: string[] = []
  const root = outline(parseElement(source, limits, { dropLayout: true }), texts)
  const parser = new XMLParser({
    ...{ ignoreAttributes: true, parseTagValue: false, trimValues: false, processEntities: false },
    tagValueProcessor: (_name, number) => texts[Number(number)],
  })
  try {
    const values = parser.parse(writeElement(root)) as Record<string, FieldValue>
    return { root: root.name, value: values[root.name] ?? '' }
  } catch (cause) {
    // Names that an object cannot safely hold.
    throw new ServiceError('request-malformed', 'the document uses an element name that is not accepted', { cause })
  }
}

/** The elements with the numbers of their texts. Names count without their prefix: the strict reader has seen that it is bound. */
function outline({ name, children, text }: Element, texts: string[]): Element {
  const localName = name.slice(name.indexOf(':') + 1)
  if (children.length > 0)
    return element(
      localName,
      undefined,
      children.map((child) => outline(child, texts)),
    )
  return textElement(localName, text === '' ? '' : String(texts.push(text) - 1))
}
