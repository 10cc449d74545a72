import { type InLanguages, languagesOf, textIn } from '../../kernel/texts.js'
import { type Attributes, type Element, element, textElement } from '../../kernel/xml/element.js'
import { plainText } from '../plain-text.js'

/** Words in a language. */
export type Worded = readonly [language: string, words: string]

/** What is said in one or in several languages, the record's own first. */
export type Text = readonly Worded[]

/** A field of a record in all of its languages; `otherwise` is that of a record which names none. */
export function textOf(record: InLanguages, field: string, own: string | undefined, otherwise: string): Text {
  const { language = otherwise, texts } = record
  const said: Worded = [language, own ?? '']
  if (!texts) return [said]
  const others = languagesOf(record, [field]).filter((one) => one !== language)
  return [said, ...others.map((one): Worded => [one, textIn(record, field, one) ?? ''])]
}

/** A `narrative` for each language that has words; those in another language than the record's name it. */
export function narratives(text: Text, language: string): Element[] {
  return text.flatMap(([own, said]) => {
    const words = plainText(said)
    return words === '' ? [] : [textElement('narrative', words, own === language ? undefined : { 'xml:lang': own })]
  })
}

/** An element that holds narratives; undefined when no words are left (never an empty element). */
export function narrated(name: string, text: Text, language: string, attributes?: Attributes): Element | undefined {
  const words = narratives(text, language)
  return words.length === 0 ? undefined : element(name, attributes, words)
}

/** An element that holds our own words, which need no cleaning. */
export function worded(name: string, [own, words]: Worded, language: string): Element {
  return element(name, undefined, [textElement('narrative', words, own === language ? undefined : { 'xml:lang': own })])
}

/** An element with only a `code`. */
export function coded(name: string, code: string, attributes?: Attributes): Element {
  return element(name, attributes ? { code, ...attributes } : { code })
}
