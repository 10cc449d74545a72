import type { Pause } from '../../kernel/yielder.js'
import { firstAt, having, placesIn } from './places.js'

/** Where words are found, those that say most about a project first. */
export const searchedFields = ['title', 'partner', 'group', 'place', 'text'] as const
export type SearchedField = (typeof searchedFields)[number]

/** The texts of one project by field; what it has in common with others is added when searching. */
export type SearchedTexts = { readonly [Field in Exclude<SearchedField, 'group'>]: readonly string[] }

/** A part of a search: a word of which any part is looked for, or words that stand together. */
export type Term = { readonly words: readonly string[]; readonly isPhrase: boolean }

// Terms of a search that count, and words of a phrase.
const mostTerms = 8
const mostPhraseWords = 16
// A letter of a script without spaces is a word.
const wordPattern = /^(?:.{2,}|\P{ASCII})$/u
const unspaced = /^[\p{sc=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+$/u
const phrasePattern = /["“”„«»]([^"“”„«»]*)["“”„«»]/g

// Of Arabic letters those that people write for each other; normalization parts an alef from its hamza.
const folded = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' },
  ...{ ة: 'ه', ٱ: 'ا', ى: 'ي', ی: 'ي', ک: 'ك' },
}

// The article of an Arabic word, also behind a letter that is joined to it.
const article = /(^| )(?:[وفبك]?ال|لل)(?=\p{L}{3})/gu

// Nearly all English: its letters have no accents, and what else it has is no part of a word.
const plain = /^[\0-\x7f\xa0\xab\xbb\u2010-\u2027\u2030-\u203e]*$/

/** Small letters without accents, words separated by one blank, without quotes, punctuation and Arabic articles. */
export function searchable(text: string): string {
  // In a quarter of the time.
  if (plain.test(text))
    return text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, ' ')
      .trim()
  const words = text
    .normalize('NFKD')
    .replace(/[\p{M}\u0640]/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđıςةٱىیک]/g, (letter) => folded[letter as keyof typeof folded])
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return words.includes('ل') ? words.replace(article, '$1') : words
}

/** The terms of a search that count, rare ones first: phrases, which stand in quotes, then words, long ones first. */
export function termsOf(text: string): Term[] {
  const phrases = [...text.matchAll(phrasePattern)]
    .map(([, inner = '']) => searchable(inner))
    .filter((one) => one !== '')
  const words = searchable(text.replace(phrasePattern, ' '))
    .split(' ')
    .filter((word) => wordPattern.test(word))
    .sort((a, b) => b.length - a.length)
  return [
    ...[...new Set(phrases)].map((phrase) => ({
      words: phrase.split(' ').slice(0, mostPhraseWords),
      // Where no blanks part words, a word in quotes is part of another as without them.
      isPhrase: !unspaced.test(phrase),
    })),
    ...[...new Set(words)].map((word) => ({ words: [word], isPhrase: false })),
  ].slice(0, mostTerms)
}

/** Tells whether a searchable text has a term. */
export function testOf(term: Term): (text: string) => boolean {
  const phrase = phraseOf(term)?.join(' ')
  const hasPhrase = (text: string) =>
    phrase !== undefined && text.includes(phrase) && ` ${text} `.includes(` ${phrase} `)
  const [word = ''] = term.words
  return term.isPhrase ? hasPhrase : (text) => text.includes(word) || hasPhrase(text)
}

/** The words that stand together in what a term finds: "womens" finds "women's" too. */
function phraseOf({ words, isPhrase }: Term): readonly string[] | undefined {
  const [, owner] = /^(.{2,})s$/u.exec(words[0] ?? '') ?? []
  return isPhrase ? words : owner === undefined ? undefined : [owner, 's']
}

/** Points of a field in which a term is found. */
export function pointsOf(field: SearchedField): number {
  return searchedFields.length - searchedFields.indexOf(field)
}

/** The bit of a field. */
export function bitOf(field: SearchedField): number {
  return 1 << (searchedFields.length - 1 - searchedFields.indexOf(field))
}

// Numbers below it mark in a row where a text of a field begins; a word has its number above.
const marks = searchedFields.length
const textBit = bitOf('text')
// Bytes of numbers read before other work gets a turn: about a millisecond.
const bytesTogether = 100_000

// Lengths of words that may be mistyped: shorter ones are near to too many others.
const shortestMistyped = 4
const longestMistyped = 40
// Words that are compared, or put into lists, before other work gets a turn: about a millisecond.
const wordsTogether = 10_000

/**
 * Finds projects by their words and phrases, by their places in an order that is chosen once. Each is kept as the numbers of its
 * words in their order, each word with the places that have it; both in as few bytes as a number takes.
 */
export class TextIndex {
  readonly #numbers = new Map<string, number>()
  /** Every word on a line of its own, by number, and where each begins; the first line is empty. */
  #dictionary = '\n'
  readonly #starts: number[] = []
  #rows = new Uint8Array(1 << 16)
  readonly #ends: number[] = [0]
  readonly #rowOfPlace: Uint32Array
  /** Its words and those of names with their places in both, by `keysOf` them; made when a word is first mistyped. */
  #alike: AlikeWords | undefined
  /** Of words that stand in titles, partners and places, and of words of longer texts. */
  #names = new Postings([])
  #texts = new Postings([])

  private constructor(rowOfPlace: Uint32Array) {
    this.#rowOfPlace = rowOfPlace
  }

  /** The rows in their order, some at a time. */
  static async of(
    batches: AsyncIterable<readonly SearchedTexts[]>,
    rowOfPlace: Uint32Array,
    pause: Pause,
  ): Promise<TextIndex> {
    const index = new TextIndex(rowOfPlace)
    for await (const rows of batches) {
      for (const row of rows) index.#add(row)
      await pause()
    }
    await index.#order(pause)
    return index
  }

  /** Adds the bits of the fields in which the project at each place has the term to `found`; false where none has it. */
  async find(term: Term, found: Uint8Array, pause: Pause): Promise<boolean> {
    const phrase = phraseOf(term)
    const isWord = !term.isPhrase && (await this.#findWord(term.words[0] ?? '', found, pause))
    return (phrase !== undefined && (await this.#findPhrase(phrase, found, pause))) || isWord
  }

  /**
   * Of the words here and `names`, which are the same each time, the one that a letter more, less, another or two swapped make of
   * `word`; of several the one that most projects have. Undefined where there is none.
   */
  async nearest(word: string, names: () => readonly string[], pause: Pause): Promise<string | undefined> {
    if (word.length < shortestMistyped || word.length > longestMistyped) return undefined
    this.#alike ??= alike(new Set([...names(), ...this.#numbers.keys()]))
    let nearest: string | undefined
    let [most, first] = [-1, -1]
    let read = 0
    for (let length = word.length - 1; length <= word.length + 1; length++) {
      for (const key of keysOf(word, length)) {
        for (const [at, known] of this.#alike.get(key) ?? []) {
          if (++read % wordsTogether === 0) await pause()
          if (!isNear(word, known)) continue
          const number = this.#numbers.get(known) ?? -1
          const weight = this.#names.bytesOf(number) + this.#texts.bytesOf(number)
          if (weight > most || (weight === most && at < first)) [nearest, most, first] = [known, weight, at]
        }
      }
    }
    return nearest
  }

  #add(texts: SearchedTexts): void {
    let at = this.#ends.at(-1) ?? 0
    for (const field of ['title', 'partner', 'place', 'text'] as const) {
      for (const text of texts[field]) {
        const words = searchable(text).split(' ')
        this.#rows = withRoom(this.#rows, at + mostBytes * (words.length + 1))
        at = write(this.#rows, at, searchedFields.indexOf(field))
        for (const word of words) if (word !== '') at = write(this.#rows, at, this.#numberOf(word) + marks)
      }
    }
    this.#ends.push(at)
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word)
    if (known !== undefined) return known
    this.#starts.push(this.#dictionary.length)
    this.#dictionary += `${word}\n`
    this.#numbers.set(word, this.#numbers.size)
    return this.#numbers.size - 1
  }

  /** Makes the lists of places of each word: first how long each is, then what is in it. */
  async #order(pause: Pause): Promise<void> {
    const words = this.#numbers.size
    const addTo = (names: PostingSizes | Postings, texts: PostingSizes | Postings) =>
      this.#eachWord((place, number, bits) => {
        if (bits > textBit) names.add(number, place, bits & ~textBit)
        if ((bits & textBit) !== 0) texts.add(number, place, textBit)
      }, pause)
    const [names, texts] = [new PostingSizes(words), new PostingSizes(words)]
    await addTo(names, texts)
    this.#names = new Postings(names.sizes)
    this.#texts = new Postings(texts.sizes)
    await addTo(this.#names, this.#texts)
  }

  /** Each word of each place once, with the bits of the fields that have it. */
  async #eachWord(see: (place: number, number: number, bits: number) => void, pause: Pause): Promise<void> {
    const bits = new Uint8Array(this.#numbers.size)
    const known: number[] = []
    let read = 0
    for (const [place, row] of this.#rowOfPlace.entries()) {
      let field = 0
      for (const number of numbersIn(this.#rows, this.#ends[row] ?? 0, this.#ends[row + 1] ?? 0)) {
        if (number < marks) field = fieldBits[number] ?? 0
        else {
          if (bits[number - marks] === 0) known.push(number - marks)
          bits[number - marks] = (bits[number - marks] ?? 0) | field
        }
      }
      for (const number of known) {
        see(place, number, bits[number] ?? 0)
        bits[number] = 0
      }
      read += known.length
      known.length = 0
      if (read < wordsTogether) continue
      read = 0
      await pause()
    }
  }

  /** Whether `find` finds a word or a part of one. */
  has(part: string): boolean {
    for (const [number, isBeginning] of this.#wordsWith(part)) {
      if (this.#names.bytesOf(number) > 0 || (isBeginning && this.#texts.bytesOf(number) > 0)) return true
    }
    return false
  }

  /** The words that have a part, and whether it is searched for as their beginning. */
  *#wordsWith(part: string): Generator<readonly [number: number, isBeginning: boolean]> {
    // Scripts without spaces have no beginnings of words.
    const isAnywhere = /^\P{ASCII}+$/u.test(part)
    const words = this.#dictionary
    for (let at = words.indexOf(part); at >= 0; at = words.indexOf(part, at)) {
      const number = firstAt(this.#starts, at + 1) - 1
      yield [number, isAnywhere || this.#starts[number] === at]
      at = words.indexOf('\n', at)
    }
  }

  /** Any part of a word of a name; the beginning of a word of a text, where "art" would find every "start". */
  async #findWord(part: string, found: Uint8Array, pause: Pause): Promise<boolean> {
    let [isFound, read] = [false, 0]
    for (const [number, isBeginning] of this.#wordsWith(part)) {
      const bytes = this.#names.read(number, found) + (isBeginning ? this.#texts.read(number, found) : 0)
      isFound ||= bytes > 0
      // A word itself takes as long as some places.
      read += 100 + bytes
      if (read < bytesTogether) continue
      read = 0
      await pause()
    }
    return isFound
  }

  /** Whole words, one after the other, in one text. */
  async #findPhrase(phrase: readonly string[], found: Uint8Array, pause: Pause): Promise<boolean> {
    const numbers = phrase.flatMap((word) => this.#numbers.get(word) ?? [])
    if (numbers.length < phrase.length) return false
    const distinct = new Set(numbers)
    if (numbers.length === 1) {
      for (const number of distinct) {
        this.#names.read(number, found)
        this.#texts.read(number, found)
      }
      return true
    }
    // Of the places that have the first words, those that have the next one too.
    let places = new Uint32Array()
    const bits = new Uint8Array(found.length)
    for (const [at, number] of [...distinct].entries()) {
      this.#names.read(number, bits.fill(0))
      this.#texts.read(number, bits)
      places = at === 0 ? placesIn(bits) : having(places, bits)
      await pause()
    }
    const room = new Uint8Array(mostBytes * numbers.length)
    const wanted = room.subarray(
      0,
      numbers.reduce((at, number) => write(room, at, number + marks), 0),
    )
    let [all, read] = [0, 0]
    for (const place of places) {
      const row = this.#rowOfPlace[place] ?? -1
      const fields = this.#fieldsWith(row, wanted)
      found[place] = (found[place] ?? 0) | fields
      all |= fields
      read += (this.#ends[row + 1] ?? 0) - (this.#ends[row] ?? 0)
      if (read < bytesTogether) continue
      read = 0
      await pause()
    }
    return all !== 0
  }

  /** The bits of the fields of a row in which these numbers, as they are written, follow each other. */
  #fieldsWith(row: number, wanted: Uint8Array): number {
    const bytes = this.#rows
    const to = this.#ends[row + 1] ?? 0
    let bits = 0
    let field = 0
    for (let at = this.#ends[row] ?? 0; at < to; at++) {
      const first = bytes[at] ?? 0
      if (first < marks) field = fieldBits[first] ?? 0
      else if (first === wanted[0] && isAt(bytes, at, wanted)) bits |= field
      while ((bytes[at] ?? 0) > 127) at++
    }
    return bits
  }
}

const fieldBits = searchedFields.map(bitOf)

type AlikeWords = ReadonlyMap<string, readonly (readonly [place: number, word: string])[]>

function alike(words: ReadonlySet<string>): AlikeWords {
  const found = new Map<string, (readonly [number, string])[]>()
  for (const [place, word] of [...words].entries()) {
    for (const key of keysOf(word, word.length)) {
      const others = found.get(key) ?? []
      others.push([place, word])
      found.set(key, others)
    }
  }
  return found
}

/** What a word shares with all of a length that are near to it: the first or the last letter, which a mistake leaves as it is. */
function keysOf(word: string, length: number): readonly string[] {
  return [`${length} ${word[0]}`, `${length}${word.at(-1)}`]
}

/** Whether a letter added, left out or replaced, or two neighbours swapped, make one word of the other. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false
  let from = 0
  while (a[from] === b[from]) from++
  const [restA, restB] = [a.slice(from), b.slice(from)]
  return (
    restA.slice(1) === restB.slice(1) ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    (restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
  )
}

function isAt(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let at = 1; at < wanted.length; at++) if (bytes[from + at] !== wanted[at]) return false
  return true
}

/** How many bytes the places of each word take in `Postings`. */
class PostingSizes {
  readonly sizes: Uint32Array
  readonly #last: Uint32Array

  constructor(words: number) {
    this.sizes = new Uint32Array(words)
    this.#last = new Uint32Array(words)
  }

  add(word: number, place: number, bits: number): void {
    this.sizes[word] = (this.sizes[word] ?? 0) + sizeOf(posting(place - (this.#last[word] ?? 0), bits))
    this.#last[word] = place
  }
}

/** The places that have each word, each as its distance from the one before with its bits. */
class Postings {
  readonly #bytes: Uint8Array
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array
  readonly #last: Uint32Array

  constructor(sizes: ArrayLike<number>) {
    this.#starts = new Uint32Array(sizes.length)
    let total = 0
    for (let word = 0; word < sizes.length; word++) {
      this.#starts[word] = total
      total += sizes[word] ?? 0
    }
    this.#ends = this.#starts.slice()
    this.#bytes = new Uint8Array(total)
    this.#last = new Uint32Array(sizes.length)
  }

  add(word: number, place: number, bits: number): void {
    const at = this.#ends[word] ?? 0
    this.#ends[word] = write(this.#bytes, at, posting(place - (this.#last[word] ?? 0), bits))
    this.#last[word] = place
  }

  /** How many bytes the places of a word take: more, the more places there are. */
  bytesOf(word: number): number {
    return (this.#ends[word] ?? 0) - (this.#starts[word] ?? 0)
  }

  /** Adds the bits of a word's places to `found`; returns how many bytes were read. */
  read(word: number, found: Uint8Array): number {
    const [from = 0, to = 0] = [this.#starts[word], this.#ends[word]]
    const numbers = numbersIn(this.#bytes, from, to)
    let place = 0
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] ?? 0
      place += number >>> marks
      found[place] = (found[place] ?? 0) | (number & allBits)
    }
    return to - from
  }
}

const allBits = (1 << marks) - 1

function posting(distance: number, bits: number): number {
  return (distance << marks) | bits
}

// A number of 32 bits, as seven bits a byte, the lowest first.
const mostBytes = 5

function sizeOf(number: number): number {
  return number < 1 << 7 ? 1 : number < 1 << 14 ? 2 : number < 1 << 21 ? 3 : number < 1 << 28 ? 4 : mostBytes
}

/** Writes a number; returns where the next one goes. */
function write(bytes: Uint8Array, from: number, number: number): number {
  let at = from
  let rest = number
  for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128
  bytes[at++] = rest
  return at
}

let read = new Uint32Array(1 << 12)

/** Reads the numbers of a range into an array that the next call fills again. */
function numbersIn(bytes: Uint8Array, from: number, to: number): Uint32Array {
  if (read.length < to - from) read = new Uint32Array(2 * (to - from))
  let count = 0
  for (let at = from; at < to; ) {
    let number = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      number |= (byte & 127) << shift
      if (byte < 128) break
    }
    read[count++] = number
  }
  return read.subarray(0, count)
}

function withRoom(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (length <= bytes.length) return bytes
  const larger = new Uint8Array(Math.ceil(1.5 * length))
  larger.set(bytes)
  return larger
}
