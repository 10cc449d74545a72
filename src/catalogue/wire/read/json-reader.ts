import { Tokenizer, TokenizerError, TokenParser, TokenParserError, TokenType } from '@streamparser/json'
import { type FieldProblem, ServiceError } from '../../../kernel/errors.js'
import { createYielder } from '../../../kernel/yielder.js'
import { type ListNames, projectList } from '../names.js'
import { type ParsedValue, storableText, type ValueLimits, valueLimits } from './parsed-value.js'

/** A value of a JSON document, or its problem; `line` is where it begins. */
export type JsonItem =
  | { readonly line: number; readonly value: ParsedValue }
  | { readonly line: number; readonly problem: FieldProblem }

/**
 * The project records (or those of other `names`) of a JSON document of any size: the elements of `projects.project`, of
 * `project`, of `projects` or of a top-level array; a single object in their place is one record. A record beyond the limits is skipped, so memory is
 * bounded by the largest record. Numbers are texts, exactly as written. Throws `input-unusable` at the first place that is
 * not JSON in UTF-8, since the records behind a syntax error cannot be found reliably, and at the end of a document that has
 * none of these members.
 */
export async function* jsonRecords(
  chunks: AsyncIterable<Uint8Array>,
  limits: ValueLimits = valueLimits,
  names: ListNames = projectList,
): AsyncGenerator<JsonItem> {
  const reading = new JsonReading(recordPlaces(names), limits)
  for await (const chunk of chunks) yield* reading.write(chunk)
  yield* reading.end()
}

/** The value of a small JSON document, as records have values. Throws `input-unusable` when it is not JSON in UTF-8. */
export function parseJson(body: Uint8Array, limits: ValueLimits): JsonItem {
  const steps = parseSteps(body, limits)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** As `parseJson`, of a document of any size; yields to other work. */
export async function parseLargeJson(body: Uint8Array, limits: ValueLimits): Promise<JsonItem> {
  const yieldIfDue = createYielder()
  const steps = parseSteps(body, limits)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await yieldIfDue()
  }
}

// Bytes parsed in a step.
const stepBytes = 65_536

function* parseSteps(body: Uint8Array, limits: ValueLimits): Generator<void, JsonItem> {
  const reading = new JsonReading([[]], limits)
  const items: JsonItem[] = []
  try {
    for (let at = 0; at < body.length; at += stepBytes) {
      items.push(...reading.write(body.subarray(at, at + stepBytes)))
      yield
    }
    items.push(...reading.end())
  } catch (error) {
    if (error instanceof BeyondLimit) return { line: 1, problem: error.problem }
    throw error
  }
  const [item] = items
  if (!item) throw new TypeError('a JSON document that was read to its end has a value')
  return item
}

/** Ends the reading of a document whose only value is beyond a limit. */
class BeyondLimit extends Error {
  readonly problem: FieldProblem

  constructor(problem: FieldProblem) {
    super(problem.expected)
    this.problem = problem
  }
}

/** A place in a document: the keys that lead to it; 0 stands for the items of an array. */
type Place = readonly (string | 0)[]

function recordPlaces({ list, record }: ListNames): readonly Place[] {
  return [[0], [record], [record, 0], [list, 0], [list, record], [list, record, 0]]
}

class ExactNumbers extends Tokenizer {
  protected override parseNumber(text: string): number {
    return text as unknown as number
  }
}

type Token = Parameters<Tokenizer['onToken']>[0]

/** The item that is being read. */
type Open = { readonly line: number; readonly start: number; depth: number; elements: number; problem?: FieldProblem }

class JsonReading {
  readonly #places: readonly Place[]
  readonly #limits: ValueLimits
  readonly #tokenizer = new ExactNumbers()
  /** Checks the grammar around the items; it gets null in place of each item. */
  readonly #outer = new TokenParser({ paths: [], keepStack: false })
  #inner = this.#createInner()
  #open: Open | undefined
  readonly #path: (string | 0)[] = []
  /** Whether the document has a place of items at its top, with items in it or without. */
  #hasPlace: boolean
  #found: JsonItem[] = []
  #lastText = ''
  #lastOffset = 0
  // Lines are counted in the chunk that is being read, up to the beginning of each item.
  #chunk: Uint8Array = new Uint8Array()
  #chunkStart = 0
  #counted = 0
  #line = 1

  constructor(places: readonly Place[], limits: ValueLimits) {
    this.#places = places
    this.#hasPlace = places.some((place) => place.length === 0)
    this.#limits = limits
    this.#tokenizer.onToken = (token) => this.#take(token)
  }

  /** Reads a chunk and returns the items that end in it. */
  write(chunk: Uint8Array): JsonItem[] {
    this.#chunk = chunk
    // The tokenizer does not count a byte order mark in its offsets.
    if (this.#chunkStart === 0 && chunk[0] === 0xef) this.#chunkStart = -3
    this.#parse(() => this.#tokenizer.write(chunk))
    const end = this.#chunkStart + chunk.length
    if (this.#open) this.#limitSize(this.#open, end)
    // The tokenizer keeps the whole of an unfinished string.
    if (end - this.#lastOffset > 2 * this.#limits.characters) {
      throw this.#unusable(`one text is longer than ${2 * this.#limits.characters} bytes`)
    }
    this.#countLines(end)
    this.#chunkStart = end
    return this.#found.splice(0)
  }

  end(): JsonItem[] {
    this.#parse(() => {
      if (!this.#tokenizer.isEnded) this.#tokenizer.end()
    })
    if (!this.#outer.isEnded || this.#open) throw this.#unusable('it ends too early')
    if (!this.#hasPlace) {
      const names = new Set(this.#places.flatMap(([first]) => (typeof first === 'string' ? [first] : [])))
      throw this.#unusable(`expected the member ${[...names].join(' or ')}`)
    }
    return this.#found.splice(0)
  }

  #take(raw: Token): void {
    let token = raw
    this.#lastOffset = token.offset
    if (token.token === TokenType.STRING) {
      this.#lastText = storableText(String(token.value))
      if (this.#lastText !== token.value) token = { ...token, value: this.#lastText }
    }
    if (this.#open) this.#takeInside(this.#open, token)
    else if (this.#beginsItem(token.token)) {
      this.#outer.write(nullToken)
      const open = { line: this.#countLines(token.offset), start: token.offset, depth: 0, elements: 0 }
      this.#open = open
      this.#takeInside(open, token)
    } else this.#takeAround(token)
  }

  #takeInside(open: Open, token: Token): void {
    const { token: type } = token
    if (opens(type)) open.depth++
    else if (closes(type)) open.depth--
    else if (type === TokenType.COLON || type === TokenType.COMMA) open.elements++
    if (!open.problem) this.#limit(open, token)
    if (open.problem && this.#path.length === 0) throw new BeyondLimit(open.problem)
    // The rest of an item beyond a limit is skipped.
    if (!open.problem) this.#inner.write(token)
    else if (open.depth <= 0) this.#finish({ line: open.line, problem: open.problem })
  }

  #limit(open: Open, { token, offset }: Token): void {
    const { depth, elements } = this.#limits
    if (open.depth > depth) open.problem = beyond(`at most ${depth} levels of nesting`, 'a deeper record')
    else if (open.elements > elements) open.problem = beyond(`at most ${elements} elements`, 'a larger record')
    else if (token === TokenType.COLON && this.#lastText === '__proto__') {
      open.problem = { field: '__proto__', expected: 'no key of this name', got: 'a key of this name' }
    } else this.#limitSize(open, offset)
  }

  #limitSize(open: Open, end: number): void {
    const { characters } = this.#limits
    if (end - open.start > characters) open.problem ??= beyond(`at most ${characters} characters`, 'a longer record')
  }

  #takeAround(token: Token): void {
    const { token: type } = token
    if (this.#path.length === 0 && !opens(type) && !closes(type)) {
      throw this.#unusable(`expected a JSON object or array of projects, got ${JSON.stringify(token.value)}`)
    }
    this.#outer.write(token)
    if (type === TokenType.COLON) this.#path[this.#path.length - 1] = this.#lastText
    else if (type === TokenType.COMMA && typeof this.#path.at(-1) === 'string') this.#path[this.#path.length - 1] = ''
    else if (closes(type)) this.#path.pop()
    else if (opens(type) && this.#path.push(type === TokenType.LEFT_BRACKET ? 0 : '') > this.#limits.depth) {
      throw this.#unusable(`it nests deeper than ${this.#limits.depth} levels`)
    }
    if (this.#path.length === 1) this.#hasPlace ||= this.#places.some(([first]) => first === this.#path[0])
  }

  #beginsItem(type: TokenType): boolean {
    if (closes(type) || type === TokenType.COMMA || type === TokenType.COLON) return false
    const path = this.#path
    const leadsTo = (place: Place) => path.every((part, at) => part === place[at])
    const isPlace = this.#places.some((place) => place.length === path.length && leadsTo(place))
    if (typeof path.at(-1) !== 'string' || type === TokenType.LEFT_BRACE) return isPlace
    // An array under a key has places of its own, and null says that there are no records; any other value is in the way.
    const isValue = !opens(type) && type !== TokenType.NULL
    return isValue && this.#places.some(leadsTo)
  }

  #createInner(): TokenParser {
    const inner = new TokenParser({ paths: ['$'], separator: '' })
    inner.onValue = ({ value }) => {
      if (this.#open) this.#finish({ line: this.#open.line, value: value as ParsedValue })
    }
    return inner
  }

  #finish(item: JsonItem): void {
    this.#found.push(item)
    this.#open = undefined
    if ('problem' in item) this.#inner = this.#createInner()
  }

  /** Counts the lines up to an offset of the document. */
  #countLines(end: number): number {
    const newline = 0x0a
    for (let at = this.#counted - this.#chunkStart; at < end - this.#chunkStart; at++) {
      if (this.#chunk[at] === newline) this.#line++
    }
    this.#counted = Math.max(this.#counted, end)
    return this.#line
  }

  #parse(step: () => void): void {
    try {
      step()
    } catch (error) {
      if (error instanceof TokenizerError || error instanceof TokenParserError) throw this.#unusable(error.message)
      const notUtf8 =
        error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      if (notUtf8) throw this.#unusable('it has bytes that are not UTF-8')
      throw error
    }
  }

  #unusable(what: string): ServiceError {
    return new ServiceError('input-unusable', `line ${this.#line} of the JSON document: ${what.slice(0, 200)}`)
  }
}

const nullToken = { token: TokenType.NULL, value: null, offset: 0 } as const

function opens(type: TokenType): boolean {
  return type === TokenType.LEFT_BRACE || type === TokenType.LEFT_BRACKET
}

function closes(type: TokenType): boolean {
  return type === TokenType.RIGHT_BRACE || type === TokenType.RIGHT_BRACKET
}

function beyond(expected: string, got: string): FieldProblem {
  return { field: 'record', expected, got }
}
