import { XMLBuilder } from 'fast-xml-parser'
import { create } from 'xmlbuilder2'
import type { Element } from '../../src/kernel/xml/element.js'

/** A library that writes a tree of its own; turning our tree into its tree is not measured. */
export type Peer<Tree> = {
  readonly name: string
  toTree(element: Element): Tree
  write(tree: Tree): string
}

type Builder = ReturnType<typeof create>

/** fast-xml-parser's documented object form: attributes with a prefix, elements of one name as an array. */
export const fastXmlParser: Peer<object> = {
  name: "fast-xml-parser's XMLBuilder",
  toTree: (element) => ({ [element.name]: toObject(element) }),
  write: (() => {
    const builder = new XMLBuilder({ ignoreAttributes: false, suppressEmptyNode: true })
    return (tree: object) => String(builder.build(tree))
  })(),
}

/** xmlbuilder2 as its documentation shows it: `ele` by `ele`, then `end`. It takes no ready tree. */
export const xmlbuilder2: Peer<Element> = {
  name: 'xmlbuilder2',
  toTree: (element) => element,
  write: (element) => {
    const document = create()
    addTo(document, element)
    return document.end({ headless: true })
  },
}

/** Adds an element with its content to a node of xmlbuilder2. */
export function addTo(parent: Builder, { name, attributes, children, text }: Element): void {
  const node = parent.ele(name, attributes)
  for (const child of children) addTo(node, child)
  if (text !== '') node.txt(text)
}

function toObject({ attributes, children, text }: Element): object | string {
  const names = Object.keys(attributes)
  if (names.length === 0 && children.length === 0) return text
  const out: Record<string, unknown> = {}
  for (const name of names) out[`@_${name}`] = attributes[name]
  if (text !== '') out['#text'] = text
  // In IATI elements of one name are adjacent, so grouping keeps their order.
  for (const child of children) {
    const value = toObject(child)
    const known = out[child.name]
    if (known === undefined) out[child.name] = value
    else if (Array.isArray(known)) known.push(value)
    else out[child.name] = [known, value]
  }
  return out
}
