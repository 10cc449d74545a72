/**
 * One XML element as a value: what mapping makes, validation reads and the writer turns into text. Attribute order and
 * child order are the order of writing. `text` is character data; an element has text or children, never both (IATI 2.03
 * and the wire format know no mixed content), except where the reader met a document that has both.
 */
export type Element = {
  readonly name: string
  readonly attributes: Attributes
  readonly children: readonly Element[]
  readonly text: string
  /** Line of the source document, when the element was read from one. */
  readonly line?: number
  /** What the writer makes of it, kept by an element that stands in many places; see `prewritten`. */
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
