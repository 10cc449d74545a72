// biome-ignore-all lint/suspicious/noControlCharactersInRegex: PostgreSQL does not store U+0000
import type { FieldProblem } from '../../domain/errors.js'
import type { Element } from '../../xml/element.js'

/**
 * A record in a shape common to XML and JSON: objects, lists, texts and booleans. Numbers are texts, exactly as they
 * were written, so that money and coordinates lose no digit.
 */
export type WireValue = string | boolean | null | readonly WireValue[] | WireObject
export type WireObject = { readonly [name: string]: WireValue }

// What PostgreSQL cannot store as text: U+0000 and surrogates without their other half.
const unstorable = /\u0000|[\uD800-\uDFFF]/gu
const suspicious = /[\u0000\uD800-\uDFFF]/

/** The text without U+0000, unpaired surrogates replaced by U+FFFD. */
export function storableText(text: string): string {
  if (!suspicious.test(text)) return text
  return text.replace(unstorable, (found) => (found === '\u0000' ? '' : '\uFFFD'))
}

/**
 * An XML element as a wire value (wire.md 1.5): attributes and child elements become keys, repeated children a
 * list, an element with neither its text.
 */
export function fromElement(element: Element): WireValue {
  const attributes = Object.entries(element.attributes)
  if (attributes.length === 0 && element.children.length === 0) return storableText(element.text)
  const values = new Map<string, WireValue>(attributes.map(([name, value]) => [name, storableText(value)]))
  const lists = new Map<string, WireValue[]>()
  for (const child of element.children) {
    const value = fromElement(child)
    const list = lists.get(child.name)
    if (list) list.push(value)
    else lists.set(child.name, [value])
  }
  for (const [name, list] of lists) values.set(name, list.length === 1 ? (list[0] ?? '') : list)
  return Object.fromEntries(values)
}

/** What reading a JSON record gives: the value, or why it cannot be read. */
export type JsonReading = { readonly value: WireValue } | { readonly problem: FieldProblem }

/** Reads the text of one JSON record; refuses invalid JSON and keys named `__proto__`. */
export function fromJsonText(text: string): JsonReading {
  try {
    // Parsed twice: as it is, so that only valid JSON passes, and with numbers quoted, so that they stay exact.
    JSON.parse(text)
    const value = normalise(JSON.parse(quoteNumbers(text)))
    return { value }
  } catch (error) {
    if (error instanceof ForbiddenKey) {
      return { problem: { field: '__proto__', expected: 'no key of this name', got: 'a key of this name' } }
    }
    if (!(error instanceof SyntaxError)) throw error
    return { problem: { field: 'record', expected: 'valid JSON', got: error.message.slice(0, 200) } }
  }
}

class ForbiddenKey extends Error {}

function normalise(value: unknown): WireValue {
  if (typeof value === 'string') return storableText(value)
  if (value === null || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(normalise)
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value)
  if (entries.some(([name]) => name === '__proto__')) throw new ForbiddenKey()
  return Object.fromEntries(entries.map(([name, inner]) => [storableText(name), normalise(inner)]))
}

const numberToken = /-?\d[\d.eE+-]*/y

/** The JSON text with every number token outside strings put in quotes. */
function quoteNumbers(text: string): string {
  let out = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = endOfString(text, at)
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      numberToken.lastIndex = at
      const token = numberToken.exec(text)?.[0] ?? text.charAt(at)
      out += `${text.slice(copied, at)}"${token}"`
      at += token.length
      copied = at
    } else {
      at++
    }
  }
  return out + text.slice(copied)
}

/** The position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) return at + 1
  }
  return text.length
}
