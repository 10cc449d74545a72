/**
 * One XML element as a value: mapping makes it, validation checks it, the writer turns it into text. Attributes and children
 * are written in their order. `text` is character data. An element has text or children; it has both only when it was read
 * from a document with mixed content, which IATI 2.03 and the wire format do not have.
 */
export type Element = {
  readonly name: string
  readonly attributes: Attributes
  readonly children: readonly Element[]
  readonly text: string
  /** Line of the source document, when the element was read from one. */
  readonly line?: number
  /** Its text, stored for an element that is written many times; see `prewritten`. */
  readonly markup?: string
}

export type Attributes = Readonly<Record<string, string>>

const none: Attributes = Object.freeze({})
const noChildren: readonly Element[] = Object.freeze([])

/** An element with children; absent (`undefined`) children are left out. */
export function element(
  name: string,
  attributes: Attributes | undefined,
  children: readonly (Element | undefined)[] = noChildren,
): Element {
  const present = children.includes(undefined) ? children.filter((child) => child !== undefined) : children
  return { name, attributes: attributes ?? none, children: present as readonly Element[], text: '' }
}

/** An element with character data. */
export function textElement(name: string, text: string, attributes?: Attributes): Element {
  return { name, attributes: attributes ?? none, children: noChildren, text }
}
