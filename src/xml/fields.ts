import { XMLParser } from 'fast-xml-parser'
import { ServiceError } from '../domain/errors.js'
import { parseElement, type XmlLimits } from './reader.js'

/** Element content as JSON would say it: text, or an object of the children (an array where a name repeats). */
export type FieldValue = string | { readonly [name: string]: FieldValue | FieldValue[] }

/** One small document as names and texts: its root's name and what the root holds. Attributes and prefixes are dropped. */
export type Fields = { readonly root: string; readonly value: FieldValue }

// Everything stays text as it came, in order: references are decoded below, CDATA is kept apart from them.
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  cdataPropName: '#cdata',
})

// With `preserveOrder` a node is an object with one member: its name and what it holds.
type Node = Readonly<Record<string, unknown>>

/**
 * Reads one request body into values. The strict reader guards the door: what it refuses (`request-malformed`,
 * `request-too-large`) never reaches the lenient parser that makes the values, and neither do entities, since only the
 * five of XML and character references are left of them.
 */
export function parseFields(source: Buffer, limits: XmlLimits): Fields {
  parseElement(source, limits)
  let nodes: Node[]
  try {
    nodes = parser.parse(source) as Node[]
  } catch (cause) {
    // Names that an object cannot safely hold.
    throw new ServiceError('request-malformed', 'the document uses an element name that is not accepted', { cause })
  }
  for (const node of nodes) {
    const [name, content] = memberOf(node)
    if (Array.isArray(content) && !isText(name)) return { root: localName(name), value: toValue(content as Node[]) }
  }
  throw new ServiceError('request-malformed', 'the document has no element')
}

function toValue(nodes: readonly Node[]): FieldValue {
  const fields = Object.create(null) as Record<string, FieldValue | FieldValue[]>
  let hasChildren = false
  let text = ''
  for (const node of withoutLayout(nodes)) {
    const [member, content] = memberOf(node)
    if (member === '#text') text += decodeReferences(String(content))
    else if (member === '#cdata') for (const part of content as Node[]) text += String(memberOf(part)[1])
    else {
      const name = localName(member)
      hasChildren = true
      const value = toValue(content as Node[])
      const earlier = fields[name]
      if (earlier === undefined) fields[name] = value
      else fields[name] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value]
    }
  }
  return hasChildren ? fields : text
}

// Blanks around the only CDATA section are a pretty-printer's, not part of a password.
function withoutLayout(nodes: readonly Node[]): readonly Node[] {
  const sections = nodes.filter((node) => '#cdata' in node)
  const onlyBlanks = nodes.every((node) => '#cdata' in node || /^[ \t\r\n]*$/.test(String(node['#text'] ?? '-')))
  return sections.length === 1 && onlyBlanks ? sections : nodes
}

// Names count without their prefix: the strict reader has seen that it is bound.
function localName(name: string): string {
  const local = name.slice(name.indexOf(':') + 1)
  if (local === '__proto__') {
    throw new ServiceError('request-malformed', 'the document uses an element name that is not accepted')
  }
  return local
}

function memberOf(node: Node): [name: string, content: unknown] {
  return Object.entries(node)[0] ?? ['#text', '']
}

function isText(name: string): boolean {
  return name === '#text' || name === '#cdata'
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

// The guard has seen to it that every reference is one of these and names a legal character.
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(amp|lt|gt|quot|apos));/g, (_whole, hex, decimal, name) => {
    if (name !== undefined) return named[name] ?? ''
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
