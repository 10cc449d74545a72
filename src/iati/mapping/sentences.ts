import { readFileSync } from 'node:fs'
import { withFrenchSpaces } from '../../kernel/french-spacing.js'
import type { Element } from '../../kernel/xml/element.js'
import { prewritten } from '../../kernel/xml/writer.js'
import type { Text, Worded } from './narrative.js'
import { narrated } from './narrative.js'
import type words from './sentences.json'

type Keys = keyof typeof words.en
type Form = 'one' | 'other'

/** The sentences that the service writes itself. */
export type Sentence = Exclude<Keys, `donations_${Form}`>

const sentences = read()

/** The sentences by language, each in pieces: every second one is the number of the part that goes there (`{1}`). */
function read(): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const file = readFileSync(new URL('sentences.json', import.meta.url), 'utf8')
  return new Map(
    Object.entries(JSON.parse(file) as Readonly<Record<string, Readonly<Record<string, string>>>>).map(
      ([language, texts]) => [
        language,
        new Map(Object.entries(texts).map(([key, text]) => [key, withFrenchSpaces(text, language).split(/\{(\d)\}/)])),
      ],
    ),
  )
}

/** Whether the service has words for a language. */
function hasWords(language: string): boolean {
  return sentences.has(language)
}

/** A sentence in the language, or in English where the service has no words for it. */
export function sentence(language: string, key: Sentence, ...parts: readonly string[]): Worded {
  const known = hasWords(language) ? language : 'en'
  return [known, filled(sentences.get(known)?.get(key), parts)]
}

const pluralRules = new Map<string, Intl.PluralRules>()

/** The number of donations, as it stands in sentences of the language. */
export function donations(language: string, count: number): string {
  const known = hasWords(language) ? language : 'en'
  const forms = sentences.get(known)
  // A new one for every number took a tenth of a first build.
  const rules = pluralRules.get(known) ?? new Intl.PluralRules(known)
  pluralRules.set(known, rules)
  const form = rules.select(count)
  return filled(forms?.get(`donations_${form}`) ?? forms?.get('donations_other'), [String(count)])
}

function filled(pieces: readonly string[] | undefined, parts: readonly string[]): string {
  if (pieces === undefined) throw new Error('a sentence is missing')
  let text = pieces[0] ?? ''
  for (let at = 1; at < pieces.length; at += 2) text += (parts[Number(pieces[at]) - 1] ?? '') + pieces[at + 1]
  return text
}

/** A sentence about a text in each language of the text that the service has words for; its own one in any case. */
export function sentencesAbout(key: Sentence, text: Text): Text {
  return text.flatMap(([language, words], index) =>
    index === 0 || hasWords(language) ? [sentence(language, key, words)] : [],
  )
}

/** What a sentence with one part says of it, in whatever language it was written. */
export function partOf(key: Sentence, text: string): string {
  for (const texts of sentences.values()) {
    const [before = '', , after = ''] = texts.get(key) ?? []
    if (text.startsWith(before) && text.endsWith(after)) return text.slice(before.length, text.length - after.length)
  }
  return text
}

const written = new Map<string, Element | undefined>()

/** An element with a sentence that has no parts, in an activity of the language; made once. */
export function sentenceElement(name: string, language: string, key: Sentence): Element | undefined {
  const place = `${name} ${language} ${key}`
  if (!written.has(place)) {
    const made = narrated(name, [sentence(language, key)], language)
    written.set(place, made && prewritten(made))
  }
  return written.get(place)
}
