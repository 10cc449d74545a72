import { setImmediate as nextTurn } from 'node:timers/promises'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { ServiceError } from '../domain/errors.js'
import type { Attributes, Element } from './element.js'
import { createUtf8Decoder } from './utf8.js'

/** What one element with everything in it may grow to; beyond it reading stops with `request-too-large`. */
export type XmlLimits = {
  /** Nesting of elements, the root being 1. */
  readonly depth: number
  /** Elements in one result. */
  readonly elements: number
  /** Attributes of one element. */
  readonly attributes: number
  /** UTF-16 code units of one result, markup included. */
  readonly characters: number
}

/** Limits of a request body (wire.md 1.8). */
export const bodyLimits: XmlLimits = { depth: 64, elements: 10_000, attributes: 100, characters: 65_536 }

/** Limits of one record of a file of any size: the 60 MiB that no IATI consumer reads beyond. */
export const recordLimits: XmlLimits = { depth: 64, elements: 1_000_000, attributes: 100, characters: 62_914_560 }

/**
 * Reads a whole small document into its root element.
 *
 * Any DOCTYPE, undefined entity, unbound prefix, illegal character (U+0000 included) or declared encoding other than
 * UTF-8 throws `request-malformed`; a limit throws `request-too-large`; both name line and column.
 *
 * White space between elements is dropped. An element that has both children and other character data keeps both, so
 * that a validator can complain; where the text stood among the children is not kept. CDATA is character data;
 * comments and processing instructions are dropped.
 */
export function parseElement(source: string | Buffer, limits: XmlLimits = bodyLimits): Element {
  if (source.length > limits.characters) throw tooLarge(`is longer than ${limits.characters} characters`)
  let root: Element | undefined
  const reading = createReading({ depth: 0, limits, onElement: (found) => (root = found) })
  if (typeof source === 'string') reading.write(source)
  else {
    const decoder = createUtf8Decoder()
    reading.write(decoder.decode(source))
    reading.write(decoder.end())
  }
  reading.close()
  if (!root) throw new ServiceError('request-malformed', 'the document has no element')
  return root
}

export type StreamOptions = {
  /** How deep the yielded elements lie: 1 (default) is each child of the root. */
  readonly depth?: number
  readonly limits?: XmlLimits
  /** Called once, before the first element; may throw to refuse the document. */
  readonly onRoot?: (name: string, attributes: Attributes, line: number) => void
  /** Called for character data other than white space outside the yielded elements. */
  readonly onStrayText?: (line: number) => void
}

// Characters handed to the parser at a time; what is found in them is the most that waits for the consumer.
const pieceSize = 65_536

/**
 * Yields each complete element at the given depth, with its line, from a document of any size in memory that depends
 * only on the largest element. Other work gets a turn between the pieces; nothing is read ahead of the consumer.
 * Everything found before an error is yielded before it is thrown; errors are those of {@link parseElement}.
 */
export async function* streamElements(
  chunks: AsyncIterable<Buffer | string>,
  options: StreamOptions = {},
): AsyncGenerator<Element, void, undefined> {
  const { depth = 1, limits = recordLimits, onRoot, onStrayText } = options
  let found: Element[] = []
  const reading = createReading({
    depth,
    limits,
    onElement: (element) => found.push(element),
    ...(onRoot && { onRoot }),
    ...(onStrayText && { onStrayText }),
  })
  const decoder = createUtf8Decoder()
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += pieceSize) {
      let failure: unknown
      try {
        if (typeof chunk === 'string') reading.write(chunk.slice(start, start + pieceSize))
        else reading.write(decoder.decode(chunk.subarray(start, start + pieceSize)))
      } catch (error) {
        failure = error
      }
      yield* found
      found = []
      if (failure !== undefined) throw failure
      await nextTurn()
    }
  }
  reading.write(decoder.end())
  reading.close()
}

type ReadingOptions = {
  readonly depth: number
  readonly limits: XmlLimits
  readonly onElement: (element: Element) => void
  readonly onRoot?: (name: string, attributes: Attributes, line: number) => void
  readonly onStrayText?: (line: number) => void
}

type Open = { name: string; attributes: Attributes; children: Element[]; text: string; line: number }

/** One document being read: saxes events in, complete elements out. */
function createReading({ depth, limits, onElement, onRoot, onStrayText }: ReadingOptions) {
  const parser = new SaxesParser({ xmlns: true })
  // Elements above `depth` are only counted; those from it on are built.
  let level = 0
  const open: Open[] = []
  let elements = 0
  let startLine = 1
  // Where the element being built (or the last thing outside one) began: bounds what the parser itself may buffer.
  let mark = 0
  let written = 0
  // A finished element waits for the parser's next step: at a wrong end tag, saxes first closes what is open and only
  // then fails.
  let finished: Element | undefined

  // saxes keeps each handler as a property of its parser: with more than these, V8 makes that object a slow dictionary,
  // and reading takes four times as long. So errors are caught in `write`, and the declaration is read at the root.
  parser.on('doctype', () => {
    throw malformed('a DOCTYPE is not accepted')
  })
  parser.on('opentagstart', () => {
    deliver()
    startLine = parser.line
    if (level + 1 > limits.depth) throw tooLarge(`nests deeper than ${limits.depth} elements`, position())
    if (level >= depth) {
      if (level === depth) {
        elements = 0
        mark = parser.position
      }
      elements += 1
      if (elements > limits.elements) throw tooLarge(`has more than ${limits.elements} elements`, position())
    } else mark = parser.position
  })
  parser.on('opentag', (tag) => {
    if (level === 0) checkDeclaration()
    const attributes = level === 0 || level >= depth ? attributesOf(tag) : {}
    if (level === 0) onRoot?.(tag.name, attributes, startLine)
    if (level >= depth) open.push({ name: tag.name, attributes, children: [], text: '', line: startLine })
    level += 1
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    deliver()
    level -= 1
    const closed = open.pop()
    if (!closed) return
    if (closed.children.length > 0 && isBlank(closed.text)) closed.text = ''
    const parent = open.at(-1)
    if (parent) parent.children.push(closed)
    else {
      finished = closed
      mark = parser.position
    }
  })

  function deliver(): void {
    if (!finished) return
    const element = finished
    finished = undefined
    onElement(element)
  }

  function addText(text: string): void {
    const current = open.at(-1)
    if (current) current.text = current.text === '' ? text : current.text + text
    else {
      mark = parser.position
      // White space after the root comes through here too; saxes refuses anything else there.
      if (level > 0 && !isBlank(text)) onStrayText?.(parser.line)
    }
  }

  function checkDeclaration(): void {
    const { encoding, version } = parser.xmlDecl
    if (encoding !== undefined && encoding.toUpperCase() !== 'UTF-8') {
      throw malformed(`the declared encoding is ${encoding}; only UTF-8 is read`)
    }
    if (version !== undefined && version !== '1.0') throw malformed(`the XML version is ${version}; only 1.0 is read`)
  }

  function attributesOf(tag: SaxesTagNS): Attributes {
    const attributes: Record<string, string> = {}
    let count = 0
    for (const name in tag.attributes) {
      count += 1
      if (count > limits.attributes) {
        throw tooLarge(`has an element with more than ${limits.attributes} attributes`, position())
      }
      const value = tag.attributes[name]?.value ?? ''
      // A plain assignment to this one name would set the prototype and lose the attribute.
      if (name === '__proto__') Object.defineProperty(attributes, name, { value, enumerable: true })
      else attributes[name] = value
    }
    return attributes
  }

  /** Runs the parser; its own errors get a code, those of the handlers pass. */
  function parse(step: () => void): void {
    try {
      step()
      deliver()
    } catch (error) {
      if (!(error instanceof Error) || error instanceof ServiceError || !/^\d+:\d+: /.test(error.message)) throw error
      throw malformed(error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''))
    }
  }

  function position(): { line: number; column: number } {
    return { line: parser.line, column: parser.column + 1 }
  }

  function malformed(what: string): ServiceError {
    const { line, column } = position()
    return new ServiceError(
      'request-malformed',
      `the document is not readable XML: ${what} (line ${line}, column ${column})`,
    )
  }

  return {
    write(text: string): void {
      if (text === '') return
      parse(() => parser.write(text))
      written += text.length
      if (written - mark > limits.characters) {
        throw tooLarge(`has a part longer than ${limits.characters} characters`, position())
      }
    },
    close(): void {
      parse(() => parser.close())
    },
  }
}

const notBlank = /[^ \t\r\n]/

function isBlank(text: string): boolean {
  return !notBlank.test(text)
}

function tooLarge(what: string, at?: { line: number; column: number }): ServiceError {
  const where = at ? ` (line ${at.line}, column ${at.column})` : ''
  return new ServiceError('request-too-large', `the document ${what}${where}`)
}
