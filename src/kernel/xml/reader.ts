import { setImmediate as nextTurn } from 'node:timers/promises'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { ServiceError } from '../errors.js'
import { type Attributes, type Element, textElement } from './element.js'
import { convertToUtf8 } from './encoding.js'
import { createUtf8Decoder } from './utf8.js'
import { escapeText } from './writer.js'

/** What one result may grow to; reading a larger one stops with `request-too-large`. */
export type XmlLimits = {
  /** Nesting of elements, the root being 1. */
  readonly depth: number
  /** Elements in one result, and attributes in one result. */
  readonly elements: number
  /** Attributes of one element. */
  readonly attributes: number
  /** UTF-16 code units of one result, markup included. */
  readonly characters: number
}

/** Limits of a request body (wire.md 1.8). */
const bodyLimits: XmlLimits = { depth: 64, elements: 10_000, attributes: 100, characters: 65_536 }

/** Limits of one record of a file of any size: the 60 MiB that no IATI consumer reads beyond. */
export const recordLimits: XmlLimits = { depth: 64, elements: 1_000_000, attributes: 100, characters: 62_914_560 }

type ParseOptions = Pick<StreamOptions, 'onUnboundPrefix' | 'linesBefore'> & { readonly dropLayout?: boolean }

/**
 * Reads a whole small document into its root element.
 *
 * Any DOCTYPE, undefined entity, unbound prefix, illegal character (U+0000 included) or declared encoding other than
 * UTF-8 throws `request-malformed`; a limit throws `request-too-large`; both name line and column.
 *
 * White space between elements is dropped. An element that has both children and other character data keeps both, so
 * that a validator can report it; the position of the text among the children is not kept. CDATA is character data;
 * comments and processing instructions are dropped. With `dropLayout`, blanks around the CDATA of an element are dropped
 * too: they are a pretty-printer's, not part of a password. Sections that follow one another are one, since `]]>` in a text takes two.
 */
export function parseElement(
  source: string | Buffer,
  limits: XmlLimits = bodyLimits,
  { dropLayout = false, onUnboundPrefix, linesBefore = 0 }: ParseOptions = {},
): Element {
  if (source.length > limits.characters) throw tooLarge(`is longer than ${limits.characters} characters`)
  let root: Element | undefined
  const reading = createReading({
    ...{ depth: 0, dropLayout, limits, onUnboundPrefix, linesBefore: () => linesBefore },
    onElement: (found) => (root = found),
  })
  const decoder = createUtf8Decoder()
  for (const piece of piecesOf(source)) reading.write(typeof piece === 'string' ? piece : decoder.decode(piece))
  reading.write(decoder.end())
  reading.close()
  if (!root) throw new ServiceError('request-malformed', 'the document has no element')
  return root
}

/** An element that was dropped because it exceeds a limit. */
type OversizeElement = {
  /** The element with its first children. */
  readonly element: Element
  /** The limit, as the end of a sentence: `has more than 1000 elements`. */
  readonly reason: string
}

export type StreamOptions = {
  /** How deep the yielded elements lie: 1 (default) is each child of the root. */
  readonly depth?: number
  readonly limits?: XmlLimits
  /** The document has been converted to UTF-8 already and may declare another encoding. */
  readonly isConverted?: boolean
  /** Added to the lines of elements: the lines before the document, where it was cut out of a larger one. */
  readonly linesBefore?: number
  /** Called where white space stands before the XML declaration; it is passed over. Without it, too. */
  readonly onLateDeclaration?: (line: number) => void
  /** Called once, before the first element; may throw to refuse the document. */
  readonly onRoot?: (name: string, attributes: Attributes, line: number) => void
  /** Called for character data other than white space outside the yielded elements. */
  readonly onStrayText?: (line: number) => void
  /** Called in place of yielding an element that exceeds a limit. Without it, reading stops at such an element. */
  readonly onOversize?: (oversize: OversizeElement) => void
  /** Called where a prefix is not declared. Without it, reading stops there. */
  readonly onUnboundPrefix?: ((prefix: string) => void) | undefined
  /** Called before each element is yielded, with its text as the document has it. */
  readonly onSource?: (source: string) => void
  /** Each text is a child without a name, too, so that an element is written with all that it has in its place. */
  readonly isMixed?: boolean
}

// Characters passed to the parser at a time: at most so much is parsed beyond a limit, and without a turn for other work.
const pieceSize = 65_536

/** The source in pieces for the parser. */
function* piecesOf<T extends string | Buffer>(source: T): Generator<T> {
  for (let start = 0; start < source.length; start += pieceSize) {
    const end = start + pieceSize
    yield (typeof source === 'string' ? source.slice(start, end) : source.subarray(start, end)) as T
  }
}

/**
 * Yields each complete element at the given depth (0: the root), with its line, from a document of any size in memory that
 * depends only on the largest element. Bytes may be in any encoding that `convertToUtf8` reads. Other work gets a turn
 * between the pieces; nothing is read ahead of the consumer. Everything found before an error is yielded before it is
 * thrown; errors are those of {@link parseElement}.
 */
export async function* streamElements(
  chunks: AsyncIterable<Buffer | string>,
  options: StreamOptions = {},
): AsyncGenerator<Element, void, undefined> {
  const {
    depth = 1,
    limits = recordLimits,
    onOversize,
    onSource,
    onLateDeclaration,
    linesBefore = 0,
    ...others
  } = options
  let found: ({ element: Element; source: string } | OversizeElement)[] = []
  let lines = linesBefore
  const reading = createReading({
    ...others,
    isConverted: true,
    linesBefore: () => lines,
    depth,
    limits,
    keepsSource: onSource !== undefined,
    onElement: (element, source) => found.push({ element, source }),
    ...(onOversize && { onOversize: (oversize) => found.push(oversize) }),
  })
  const decoder = createUtf8Decoder()
  const begin = startOfDocument((blank) => {
    const late = blank.split('\n').length - 1
    lines += late
    onLateDeclaration?.(lines + 1)
  })
  for await (const chunk of options.isConverted ? chunks : inUtf8(chunks)) {
    for (const piece of piecesOf(chunk)) {
      let failure: unknown
      try {
        reading.write(begin(typeof piece === 'string' ? piece : decoder.decode(piece)))
      } catch (error) {
        failure = error
      }
      for (const one of found) {
        if ('reason' in one) onOversize?.(one)
        else {
          onSource?.(one.source)
          yield one.element
        }
      }
      found = []
      if (failure !== undefined) throw failure
      await nextTurn()
    }
  }
  reading.write(begin(decoder.end(), true))
  reading.close()
}

/** Bytes in UTF-8; texts as they are. */
async function* inUtf8(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer | string> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return
  async function* all() {
    yield first.value as Buffer
    yield* { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<Buffer>
  }
  yield* typeof first.value === 'string' ? all() : convertToUtf8(all())
}

const declaration = '<?xml'

/**
 * Passes over the white space before an XML declaration, which templates leave there; it is told once. The other white space
 * before the root stays.
 */
function startOfDocument(onBlank: (blank: string) => void): (text: string, isEnd?: boolean) => string {
  let held: string | undefined = ''
  return (text, isEnd = false) => {
    if (held === undefined) return text
    const all: string = held + text
    const rest = all.trimStart()
    if (!isEnd && rest.length < declaration.length && declaration.startsWith(rest)) {
      held = all
      return ''
    }
    held = undefined
    const blank = all.slice(0, all.length - rest.length).replace('\uFEFF', '')
    if (blank === '' || !/^<\?xml\s/.test(rest)) return all
    onBlank(blank)
    return rest
  }
}

type ReadingOptions = Omit<StreamOptions, 'depth' | 'limits' | 'onSource' | 'onLateDeclaration' | 'linesBefore'> & {
  readonly linesBefore?: () => number
  readonly depth: number
  readonly dropLayout?: boolean
  readonly keepsSource?: boolean
  readonly limits: XmlLimits
  /** `source` is the element's text in the document where `keepsSource` is set, else empty. */
  readonly onElement: (element: Element, source: string) => void
}

type Open = { name: string; attributes: Attributes; children: Element[]; text: string; line: number }

// A dropped element keeps so many children, because its first ones identify it.
const keptChildren = 8
// Characters of one tag: a parser keeps all attributes of a tag until its end.
const mostTagCharacters = 262_144
// The parser keeps every open element, also of one that is dropped.
const mostDroppedDepth = 1_000

function addChild(parent: Open, child: Element): void {
  if (parent.children === noChildren) parent.children = [child]
  else parent.children.push(child)
}

/** One document being read: saxes events in, complete elements out. */
function createReading(options: ReadingOptions) {
  const {
    depth,
    dropLayout,
    limits,
    isConverted = false,
    isMixed = false,
    keepsSource = false,
    onElement,
    onRoot,
    onStrayText,
    onOversize,
    onUnboundPrefix,
    linesBefore = () => 0,
  } = options
  const parser = new SaxesParser({
    xmlns: true,
    ...(onUnboundPrefix && {
      resolvePrefix: (prefix: string) => {
        if (prefix === '') return undefined
        onUnboundPrefix(prefix)
        return `unbound:${prefix}`
      },
    }),
  })
  // Elements above `depth` are only counted; those from it on are built.
  let level = 0
  const open: Open[] = []
  let elements = 0
  let attributeCount = 0
  let startLine = 1
  // Where the CDATA since the last tag lies in its element's text; undefined where other text divides it.
  let section: { readonly from: number; readonly to: number } | undefined
  let sections = 0
  // Where the element being built (or the last thing outside one) began: bounds what the parser itself may buffer.
  let mark = 0
  // Where the tag being read began; -1 outside tags.
  let tagStart = -1
  let written = 0
  // The document from `sourceStart` on where its text is kept, and where the element being built begins.
  let source = ''
  let sourceStart = 0
  let elementStart = 0
  // The element being dropped, until its end tag.
  let oversize: OversizeElement | undefined
  // A finished element waits for the parser's next step: at a wrong end tag, saxes first closes what is open and only
  // then fails.
  let finished: { element: Element; end: number } | undefined

  // saxes stores each handler as a property of its parser: with more than these, V8 makes that object a slow dictionary,
  // and reading takes four times as long. So errors are caught in `write`, and the declaration is read at the root.
  parser.on('doctype', () => {
    throw malformed('a DOCTYPE is not accepted')
  })
  parser.on('opentagstart', () => {
    deliver()
    startLine = parser.line + linesBefore()
    tagStart = parser.position
    if (level < depth || oversize) {
      mark = parser.position
      elementStart = mark
      if (level >= mostDroppedDepth) throw tooLarge(`nests deeper than ${mostDroppedDepth} elements`, position())
      return
    }
    if (level === depth) {
      elements = 0
      attributeCount = 0
      mark = parser.position
      elementStart = sourceStart + source.lastIndexOf('<', mark - sourceStart - 1)
    }
    elements += 1
    if (level + 1 > limits.depth) refuse(`nests deeper than ${limits.depth} elements`)
    else if (elements > limits.elements) refuse(`has more than ${limits.elements} elements`)
  })
  parser.on('opentag', (tag) => {
    tagStart = -1
    sections = 0
    if (level === 0) checkDeclaration()
    level += 1
    if (oversize) return
    const before = attributeCount
    const attributes = level === 1 || level > depth ? attributesOf(tag) : noAttributes
    if (level === 1) onRoot?.(tag.name, attributes, startLine)
    if (level > depth) open.push({ name: tag.name, attributes, children: noChildren, text: '', line: startLine })
    if (attributeCount - before > limits.attributes)
      refuse(`has an element with more than ${limits.attributes} attributes`)
    else if (attributeCount > limits.elements) refuse(`has more than ${limits.elements} attributes`)
  })
  parser.on('text', addText)
  parser.on('cdata', (text) => {
    const from = open.at(-1)?.text.length ?? 0
    const isOne = sections++ === 0 || section?.to === from
    section = isOne ? { from: sections === 1 ? from : (section?.from ?? from), to: from + text.length } : undefined
    addText(text)
  })
  parser.on('closetag', () => {
    deliver()
    level -= 1
    if (oversize) {
      mark = parser.position
      if (level === depth) {
        onOversize?.(oversize)
        oversize = undefined
      }
      return
    }
    const closed = open.pop()
    if (!closed) return
    if (closed.children.length > 0 && isBlank(closed.text)) closed.text = ''
    if (dropLayout && sections > 0 && section) {
      const { from, to } = section
      if (isBlank(closed.text.slice(0, from) + closed.text.slice(to))) closed.text = closed.text.slice(from, to)
    }
    sections = 0
    const parent = open.at(-1)
    if (parent) addChild(parent, closed)
    else {
      finished = { element: closed, end: parser.position }
      mark = parser.position
    }
  })

  function deliver(): void {
    if (!finished) return
    const { element, end } = finished
    finished = undefined
    onElement(element, source.slice(elementStart - sourceStart, end - sourceStart))
  }

  /** Drops the element being built when the caller wants to go on after it, else throws. */
  function refuse(reason: string, at = parser.position): void {
    const [element] = open
    if (!onOversize || !element) throw tooLarge(reason, position())
    oversize = { element: { ...element, children: element.children.slice(0, keptChildren) }, reason }
    open.length = 0
    mark = at
  }

  function addText(text: string): void {
    if (oversize) {
      mark = parser.position
      return
    }
    const current = open.at(-1)
    if (current) {
      current.text += text
      if (isMixed) addChild(current, { ...textElement('', text), markup: escapeText(text) })
    } else {
      mark = parser.position
      // Outside the root saxes reports white space only and refuses anything else.
      if (!isBlank(text)) onStrayText?.(parser.line + linesBefore())
    }
  }

  function checkDeclaration(): void {
    const { encoding, version } = parser.xmlDecl
    if (!isConverted && encoding !== undefined && encoding.toUpperCase() !== 'UTF-8') {
      throw malformed(`the declared encoding is ${encoding}; only UTF-8 is read`)
    }
    if (version !== undefined && version !== '1.0') throw malformed(`the XML version is ${version}; only 1.0 is read`)
  }

  function attributesOf(tag: SaxesTagNS): Attributes {
    let attributes: Record<string, string> | undefined
    const most = attributeCount + limits.attributes
    for (const name in tag.attributes) {
      attributeCount += 1
      if (attributeCount > most) break
      const value = tag.attributes[name]?.value ?? ''
      attributes ??= {}
      // A plain assignment to this one name would set the prototype and lose the attribute.
      if (name === '__proto__') Object.defineProperty(attributes, name, { value, enumerable: true })
      else attributes[name] = value
    }
    return attributes ?? noAttributes
  }

  /** Runs the parser; its own errors get a code, those of the handlers stay as they are. */
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
    return { line: parser.line + linesBefore(), column: parser.column + 1 }
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
      if (keepsSource) {
        // Outside of elements the last thing may be the first character of a tag.
        const from = Math.max(sourceStart, open.length > 0 || tagStart >= 0 ? elementStart : mark - 1)
        source = source.slice(from - sourceStart) + text
        sourceStart = from
      }
      parse(() => parser.write(text))
      written += text.length
      if (tagStart >= 0 && written - tagStart > mostTagCharacters) {
        throw tooLarge(`has a tag longer than ${mostTagCharacters} characters`, position())
      }
      if (written - mark <= limits.characters) return
      if (oversize || open.length === 0) {
        throw tooLarge(`has a part longer than ${limits.characters} characters`, position())
      }
      // Between two pieces, the parser has counted the last one twice.
      refuse(`is longer than ${limits.characters} characters`, written)
    },
    close(): void {
      parse(() => parser.close())
    },
  }
}

// Most elements have no children and many no attributes: one empty value for all of them saves a third of the memory.
const noChildren = Object.freeze([]) as readonly Element[] as Element[]
const noAttributes: Attributes = Object.freeze({})

const notBlank = /[^ \t\r\n]/

function isBlank(text: string): boolean {
  return !notBlank.test(text)
}

function tooLarge(what: string, at?: { line: number; column: number }): ServiceError {
  const where = at ? ` (line ${at.line}, column ${at.column})` : ''
  return new ServiceError('request-too-large', `the document ${what}${where}`)
}
