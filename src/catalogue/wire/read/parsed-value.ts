// biome-ignore-all lint/suspicious/noControlCharactersInRegex: PostgreSQL does not store U+0000
import type { Attributes, Element } from '../../../kernel/xml/element.js'

/**
 * A value that was read, in a shape common to XML and JSON. Numbers are texts, exactly as they were written, so that money
 * and coordinates lose no digit.
 */
export type ParsedValue = string | boolean | null | readonly ParsedValue[] | ParsedObject
export type ParsedObject = { readonly [name: string]: ParsedValue }

/** The greatest size of one value of a document, with everything in it; in JSON `characters` counts bytes. */
export type ValueLimits = { readonly depth: number; readonly elements: number; readonly characters: number }

/** Limits of one record of a file of any size. */
export const valueLimits: ValueLimits = { depth: 64, elements: 20_000, characters: 4 * 1024 * 1024 }

export function isObject(value: ParsedValue | undefined): value is ParsedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects of a list; one object in place of a list counts as a list of one. */
export function objectsOf(value: ParsedValue | undefined): ParsedObject[] {
  const items: readonly (ParsedValue | undefined)[] = Array.isArray(value) ? value : [value]
  return items.filter(isObject)
}

// What PostgreSQL cannot store as text: U+0000 and surrogates without their other half.
const unstorable = /\u0000|[\uD800-\uDFFF]/gu
const suspicious = /[\u0000\uD800-\uDFFF]/

/** The text without U+0000, unpaired surrogates replaced by U+FFFD. */
export function storableText(text: string): string {
  if (!suspicious.test(text)) return text
  return text.replace(unstorable, (found) => (found === '\u0000' ? '' : '\uFFFD'))
}

/**
 * The value of an XML element (wire.md 1.5): attributes and child elements become keys, repeated children a list; an
 * element with neither is its text.
 */
export function fromElement({ attributes, children, text }: Element): ParsedValue {
  return fromContent(
    attributes,
    children.map((child) => [child.name, fromElement(child)] as const),
    text,
  )
}

/** The value of an element with these attributes, values of children, and text. */
export function fromContent(
  attributes: Attributes,
  children: readonly (readonly [name: string, value: ParsedValue])[],
  text: string,
): ParsedValue {
  const own = Object.entries(attributes)
  if (own.length === 0 && children.length === 0) return storableText(text)
  const values = new Map<string, ParsedValue>(own.map(([name, value]) => [name, storableText(value)]))
  const lists = new Map<string, ParsedValue[]>()
  for (const [name, value] of children) {
    const list = lists.get(name)
    if (list) list.push(value)
    else lists.set(name, [value])
  }
  for (const [name, list] of lists) values.set(name, list.length === 1 ? (list[0] ?? '') : list)
  return Object.fromEntries(values)
}
