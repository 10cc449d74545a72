import { ParseOption, type XmlAttribute, XmlDocument, XmlElement, XmlXPath } from 'libxml2-wasm'
import { ServiceError } from '../../../src/kernel/errors.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { randomFrom } from '../values/random.js'

/** Where our reader decides otherwise than libxml2, and why; anything else is a defect. */
export const namedDifferences: readonly {
  readonly name: string
  /** Found in what our reader says when it refuses. */
  readonly here?: RegExp
  /** Found in the document that our reader refuses, for whatever it met first. */
  readonly document?: RegExp
  /** Found in every line that libxml2 says when it refuses. */
  readonly libxml2?: RegExp
}[] = [
  { name: 'a DOCTYPE is refused (wire.md 1.8)', here: /a DOCTYPE is not accepted/ },
  { name: 'only XML 1.0 is read', here: /the XML version is|version number must match/ },
  {
    name: 'only UTF-8 is read',
    here: /the declared encoding is|UTF-8/,
    document: /^<\?xml [^>]*encoding=["'](?!utf-8["'])/i,
  },
  { name: 'a prefix must be declared', here: /unbound namespace prefix/ },
  { name: 'the address of a namespace may be any text', libxml2: /is not a valid URI|is not absolute/ },
  { name: 'what follows a colon may begin as no name does', libxml2: /Failed to parse QName/ },
  { name: 'xml:space may have any value', libxml2: /for xml:space/ },
  {
    name: 'a ? may follow the target of a processing instruction, which is dropped',
    libxml2: /ParsePI: PI \S+ space|xmlParsePITarget: invalid name prefix/,
  },
]

/** The first differences among so many generated documents. */
export function listDifferences({ documents, seed }: { documents: number; seed: number }): string[] {
  const differences: string[] = []
  let read = 0
  for (const document of generatedDocuments(seed)) {
    const difference = findDifference(document)
    if (difference !== undefined) differences.push(`${JSON.stringify(document.toString())}: ${difference}`)
    if (++read === documents || differences.length === 10) return differences
  }
  return differences
}

/** What our reader and libxml2 make of a document, where it is not the same and no named difference explains it. */
function findDifference(document: Buffer): string | undefined {
  const ours = readHere(document)
  const theirs = readByLibxml2(document)
  if (typeof ours !== 'string' && typeof theirs !== 'string') {
    // The binding of libxml2 drops a byte order mark at the start of a text.
    const [mine, other] = [ours, theirs].map((read) => JSON.stringify(read).replaceAll('\ufeff', ''))
    return mine === other ? undefined : `here ${mine}, libxml2 ${other}`
  }
  if (typeof ours === 'string' && typeof theirs === 'string') return undefined
  if (typeof ours === 'string') {
    const text = document.toString('latin1')
    const isNamed = namedDifferences.some((named) => named.here?.test(ours) || named.document?.test(text))
    return isNamed ? undefined : `refused here: ${ours}`
  }
  const said = String(theirs)
    .trim()
    .split(/\n(?=\S+: |Invalid)/)
  const isNamed = (line: string) => namedDifferences.some(({ libxml2 }) => libxml2?.test(line))
  return said.every(isNamed) ? undefined : `refused by libxml2: ${theirs}`
}

/** An element as both readers give it: white space between elements left out. */
type Read = readonly [name: string, attributes: readonly string[], text: string, children: readonly Read[]]

function readHere(document: Buffer): Read | string {
  try {
    return fromOurs(parseElement(document, recordLimits))
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

function fromOurs({ name, attributes, text, children }: Element): Read {
  const own = Object.entries(attributes).filter(([attribute]) => !/^xmlns(:|$)/.test(attribute))
  return [name, own.map(([attribute, value]) => `${attribute}=${value}`).sort(), text, children.map(fromOurs)]
}

const options = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE | ParseOption.XML_PARSE_HUGE

function readByLibxml2(bytes: Buffer): Read | string {
  let document: XmlDocument
  try {
    document = XmlDocument.fromBuffer(bytes, { option: options })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  try {
    return fromLibxml2(document.root)
  } finally {
    document.dispose()
  }
}

const content = XmlXPath.compile('text() | *')

function fromLibxml2(element: XmlElement): Read {
  let text = ''
  const children: Read[] = []
  // Walking from node to node would end at a processing instruction.
  for (const node of element.find(content)) {
    if (node instanceof XmlElement) children.push(fromLibxml2(node))
    else text += node.content
  }
  if (children.length > 0 && /^[ \t\r\n]*$/.test(text)) text = ''
  const named = (one: XmlElement | XmlAttribute) => (one.prefix === '' ? one.name : `${one.prefix}:${one.name}`)
  return [named(element), element.attrs.map((one) => `${named(one)}=${one.value}`).sort(), text, children]
}

/** Documents without end, nearly all of XML in them, most of them broken in a few places; the same for the same seed. */
function* generatedDocuments(seed: number): Generator<Buffer> {
  const random = randomFrom(seed)
  const below = (count: number) => Math.floor(random() * count)
  const pick = (from: readonly string[]) => from[below(from.length)] ?? ''

  const markup = (depth: number): string => {
    const name = pick(names)
    const declared = random() < 0.2 ? pick([' xmlns="urn:a"', ' xmlns:p="urn:p"', ' xmlns=""']) : ''
    const attributes =
      declared + Array.from({ length: below(3) }, () => ` ${pick(attributeNames)}=${quoted()}`).join('')
    if (depth === 0 || random() < 0.15) return `<${name}${attributes}/>`
    const content = Array.from({ length: below(4) }, () => (random() < 0.5 ? markup(depth - 1) : pick(pieces)))
    return `<${name}${attributes}>${content.join('')}</${name}>`
  }
  const quoted = () => {
    const quote = random() < 0.5 ? '"' : "'"
    return quote + pick(values) + quote
  }
  const broken = (text: string) => {
    const at = below(text.length + 1)
    const way = random()
    if (way < 0.35) return text.slice(0, at) + text.slice(at + 1 + below(3))
    if (way < 0.7) return text.slice(0, at) + pick(fragments) + text.slice(at)
    const other = below(text.length + 1)
    return text.slice(0, at) + text.slice(other, other + 6) + text.slice(at)
  }

  for (;;) {
    let text = pick(prologues) + markup(3) + pick(epilogues)
    for (let changes = below(4); changes > 0; changes--) text = broken(text)
    const bytes = Buffer.from(text)
    if (random() < 0.05 && bytes.length > 0) bytes[below(bytes.length)] = below(256)
    yield bytes
  }
}

const names = ['a', 'b', 'amount', 'é', '_x', 'x-1', 'a.b', 'xml:a', 'p:q', 'constructor', '__proto__', '名']
const attributeNames = ['x', 'y', 'xml:lang', 'p:z', 'é', '__proto__', 'x']
const values = [
  '',
  '1',
  'urn:p',
  'a b',
  'a\tb\nc',
  '&amp;&lt;',
  '&#10;&#x9;',
  '&quot;',
  "it's",
  'é😀',
  ' x ',
  '>',
  '&#13;',
]
const pieces = [
  ...[
    'text',
    ' ',
    '\n  ',
    '\r\n',
    '\r',
    '\t',
    'é',
    '😀',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\u00a0',
    '&amp;',
    '&lt;b/&gt;',
  ],
  ...['&#65;', '&#x1F600;', '&#13;', '&apos;', '<![CDATA[x<y]]>', '<![CDATA[]]>', '<![CDATA[ ]] > ]]>', '<!-- c -->'],
  ...['<?pi data?>', '<?pi?>', ']]', '>', '"', "'"],
]
const fragments = [
  ...[
    '<',
    '>',
    '&',
    '/',
    '"',
    "'",
    '=',
    ' ',
    ';',
    '#',
    '!',
    '?',
    '-',
    '--',
    ']]>',
    ':',
    '<!--',
    '-->',
    '<![CDATA[',
    '<?xml?>',
  ],
  ...[
    '&#0;',
    '&#x0;',
    '&#xD800;',
    '&#x110000;',
    '&#xFFFE;',
    '&#1;',
    '&nbsp;',
    '&x;',
    '&#x;',
    '&#;',
    '&amp',
    '\u0000',
    '\u0001',
  ],
  ...[
    '\u000b',
    '\u007f',
    '\ufffe',
    '\uffff',
    '\ufffd',
    '<!DOCTYPE a>',
    '<!DOCTYPE a [<!ENTITY x "y">]>',
    '<?XML x?>',
    '</a>',
  ],
  ...[
    '<a>',
    '<1/>',
    '<-/>',
    'xmlns:p="urn:p" ',
    ' x="1"',
    '<?xml version="1.0"?>',
    '\ufeff',
    '<![cdata[',
    '<!ELEMENT a ANY>',
  ],
]
const prologues = [
  ...[
    '',
    '',
    '',
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    "<?xml version='1.0' standalone='yes'?>",
  ],
  ...['\ufeff', '\ufeff<?xml version="1.0"?>', '<!-- before -->', '<?pi before?>', '\n', '<?xml version="2.0"?>'],
  ...['<?xml version="1.0" encoding="ISO-8859-1"?>', '<?xml version="1.0" encoding="utf-8" standalone="no" ?>'],
  ...['<?xml encoding="UTF-8"?>', '<?xml version="1.0" standalone="maybe"?>', '<!DOCTYPE a>'],
]
const epilogues = ['', '', '', '\n', '<!-- after -->', '<?pi after?>', 'text', '<a/>', '\u0000']
