import { type Attributes, type Element, element, textElement } from '../../kernel/xml/element.js'
import { plainText } from '../plain-text.js'

/** A `narrative` in the activity's language; undefined when no words are left. */
export function narrative(text: string | undefined): Element | undefined {
  if (text === undefined) return undefined
  const words = plainText(text)
  return words === '' ? undefined : textElement('narrative', words)
}

/** An element that holds one narrative; undefined when no words are left (never an empty element). */
export function narrated(name: string, text: string | undefined, attributes?: Attributes): Element | undefined {
  const words = narrative(text)
  return words && element(name, attributes, [words])
}

/** An element that holds our own words, which need no cleaning. */
export function worded(name: string, words: string): Element {
  return element(name, undefined, [textElement('narrative', words)])
}

/** An element with only a `code`. */
export function coded(name: string, code: string, attributes?: Attributes): Element {
  return element(name, attributes ? { code, ...attributes } : { code })
}
