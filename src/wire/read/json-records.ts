import { TextDecoder } from 'node:util'
import { ServiceError } from '../../domain/errors.js'

/** One record cut out of a JSON document: its text, or why it was not taken; `line` is where it begins. */
export type JsonCut =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly tooLarge: 'characters' | 'depth' }

/** The largest record in characters, and the deepest nesting inside one. */
export const recordLimits = { characters: 4 * 1024 * 1024, depth: 64 }

/**
 * Cuts the project records out of a JSON document of any size: the elements of `projects.project`, of `project`, or of
 * a top-level array; a single object in their place is one record. Memory is bounded by the largest record. Record
 * texts are only delimited here, not checked. Throws `input-unusable` when the text around the records is not JSON of
 * one of these shapes, when the document ends early, or when it is not UTF-8.
 */
export async function* cutJsonRecords(
  chunks: AsyncIterable<Uint8Array>,
  limits = recordLimits,
): AsyncGenerator<JsonCut> {
  const cutter = new Cutter(limits)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of chunks) yield* cutter.push(decode(decoder, chunk))
  yield* cutter.push(decode(decoder))
  cutter.end()
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (error) {
    throw new ServiceError('input-unusable', 'the JSON document must be UTF-8, it has bytes that are not', {
      cause: error,
    })
  }
}

// Where records may be, by the key that leads to them; everything else is skipped.
const ways: Readonly<Record<Role, Readonly<Record<string, Role>>>> = {
  root: { projects: 'envelope', project: 'records' },
  envelope: { project: 'records' },
  records: {},
}

type Role = 'root' | 'envelope' | 'records'

// The syntax of the text around the records, in RFC 8259's terms.
type Expecting = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing'

const quote = 0x22
const backslash = 0x5c
const newline = 0x0a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

function endsScalar(code: number): boolean {
  return (
    code === 0x2c || code === closeBracket || code === closeBrace || code === 0x20 || (code >= 0x09 && code <= 0x0d)
  )
}

class Cutter {
  readonly #limits: typeof recordLimits
  /** The objects and arrays around the current position that lead to records. */
  readonly #open: { readonly kind: 'object' | 'array'; readonly role: Role }[] = []
  #expecting: Expecting = 'value'
  /** What the value after the current key is: part of the way to the records, or of no interest. */
  #role: Role | 'skipped' = 'root'
  #line = 1

  // The value that is being passed over, a record or a skipped one, and a key.
  #inside: 'record' | 'skipped' | 'key' | undefined
  #parts: string[] = []
  #length = 0
  #depth = 0
  #deepest = 0
  #inString = false
  #escaped = false
  #ended = false
  #startLine = 1

  constructor(limits: typeof recordLimits) {
    this.#limits = limits
  }

  *push(text: string): Generator<JsonCut> {
    for (let at = 0; at < text.length; ) {
      if (this.#inside !== undefined) {
        const end = this.#pass(text, at)
        this.#keep(text, at, end)
        at = end
        if (this.#ended) yield* this.#finish()
        continue
      }
      const character = text.charAt(at)
      if (character === '\n') this.#line++
      if (' \n\t\r'.includes(character)) at++
      else at += this.#step(character)
    }
  }

  end(): void {
    if (this.#expecting !== 'nothing' || this.#inside !== undefined) this.#fail('the rest of the document', 'its end')
  }

  /** One significant character outside passed-over values; returns how many characters it has used (0: look again). */
  #step(character: string): 0 | 1 {
    const top = this.#open.at(-1)
    switch (this.#expecting) {
      case 'value':
      case 'value-or-end':
        if (character === ']' && this.#expecting === 'value-or-end') return this.#close(character)
        return this.#startValue(character)
      case 'key':
      case 'key-or-end':
        if (character === '}' && this.#expecting === 'key-or-end') return this.#close(character)
        if (character !== '"') return this.#fail('a key in quotes', character)
        this.#begin('key')
        return 0
      case 'colon':
        if (character !== ':') return this.#fail('a colon', character)
        this.#expecting = 'value'
        return 1
      case 'comma-or-end':
        if (character !== ',') return this.#close(character)
        this.#expecting = top?.kind === 'array' ? 'value' : 'key'
        return 1
      case 'nothing':
        return this.#fail('nothing after the end of the document', character)
    }
  }

  #startValue(character: string): 0 | 1 {
    const role = this.#role
    const top = this.#open.at(-1)
    if (top === undefined && character !== '{' && character !== '[') {
      return this.#fail('a JSON object or array of projects', character)
    }
    const inArray = top?.kind === 'array'
    if (character === '[' && role !== 'skipped' && !inArray) {
      this.#open.push({ kind: 'array', role: 'records' })
      this.#role = 'records'
      this.#expecting = 'value-or-end'
      return 1
    }
    if (character === '{' && (role === 'root' || role === 'envelope')) {
      this.#open.push({ kind: 'object', role })
      this.#expecting = 'key-or-end'
      return 1
    }
    if (',:]}'.includes(character)) return this.#fail('a value', character)
    this.#begin(inArray || (role === 'records' && character === '{') ? 'record' : 'skipped')
    return 0
  }

  #close(character: string): 1 {
    const top = this.#open.at(-1)
    const closing = top?.kind === 'array' ? ']' : '}'
    if (top === undefined || character !== closing) this.#fail(`a comma or ${closing}`, character)
    this.#open.pop()
    this.#expecting = this.#open.length === 0 ? 'nothing' : 'comma-or-end'
    return 1
  }

  #begin(what: 'record' | 'skipped' | 'key'): void {
    this.#inside = what
    this.#parts = []
    this.#length = 0
    this.#depth = 0
    this.#deepest = 0
    this.#inString = false
    this.#escaped = false
    this.#ended = false
    this.#startLine = this.#line
  }

  /** Passes over the current value from `at`; returns the position after it, or after the chunk if it goes on. */
  #pass(text: string, at: number): number {
    for (let index = at; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (this.#inString) {
        if (code === newline) this.#line++
        if (this.#escaped) this.#escaped = false
        else if (code === backslash) this.#escaped = true
        else if (code === quote) this.#inString = false
        if (this.#inString || this.#depth > 0) continue
        return this.#endAt(index + 1)
      }
      // A bare word or number ends before what follows it.
      if (this.#depth === 0 && endsScalar(code)) return this.#endAt(index)
      if (code === newline) this.#line++
      else if (code === quote) this.#inString = true
      else if (code === openBrace || code === openBracket) this.#deepest = Math.max(this.#deepest, ++this.#depth)
      else if ((code === closeBrace || code === closeBracket) && --this.#depth === 0) return this.#endAt(index + 1)
    }
    return text.length
  }

  #endAt(position: number): number {
    this.#ended = true
    return position
  }

  #keep(text: string, from: number, to: number): void {
    this.#length += to - from
    if (this.#inside === 'skipped') return
    if (this.#length > this.#limits.characters || this.#deepest > this.#limits.depth) this.#parts = []
    else this.#parts.push(text.slice(from, to))
  }

  *#finish(): Generator<JsonCut> {
    const inside = this.#inside
    const text = this.#parts.join('')
    this.#inside = undefined
    this.#parts = []
    if (inside === 'key') {
      this.#role = this.#roleOf(text)
      this.#expecting = 'colon'
      return
    }
    this.#expecting = 'comma-or-end'
    if (inside === 'skipped') return
    const line = this.#startLine
    if (this.#length > this.#limits.characters) yield { line, tooLarge: 'characters' }
    else if (this.#deepest > this.#limits.depth) yield { line, tooLarge: 'depth' }
    else yield { line, text }
  }

  #roleOf(key: string): Role | 'skipped' {
    const role = this.#open.at(-1)?.role ?? 'records'
    const way = ways[role]
    const name = key.slice(1, -1)
    return Object.hasOwn(way, name) ? (way[name] ?? 'skipped') : 'skipped'
  }

  #fail(expected: string, got: string): never {
    throw new ServiceError(
      'input-unusable',
      `line ${this.#line} of the JSON document: expected ${expected}, got ${got}`,
    )
  }
}
