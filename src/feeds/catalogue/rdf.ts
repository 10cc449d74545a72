import { type Element, element, textElement } from '../../xml/element.js'
import { writeElement } from '../../xml/writer.js'

/** A node of a graph: its address, its class, and what is said of it. */
export type RdfNode = {
  readonly id: string
  readonly type: string
  readonly properties: readonly (readonly [property: string, value: RdfValue])[]
}

/** The address of a node, or a text in a language or of a type. */
export type RdfValue =
  | { readonly id: string }
  | { readonly text: string; readonly language: string }
  | { readonly text: string; readonly type: string }

/** Names of classes, properties and types are written with these prefixes. */
export type Prefixes = Readonly<Record<string, string>>

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

export function toJsonLd(nodes: readonly RdfNode[], prefixes: Prefixes): string {
  const graph = nodes.map(({ id, type, properties }) => {
    const node: Record<string, unknown> = { '@id': id, '@type': type }
    for (const name of new Set(properties.map(([property]) => property))) {
      node[name] = properties.filter(([property]) => property === name).map(([, value]) => jsonLdValue(value))
    }
    return node
  })
  return `${JSON.stringify({ '@context': prefixes, '@graph': graph }, null, 2)}\n`
}

function jsonLdValue(value: RdfValue): object {
  if ('id' in value) return { '@id': value.id }
  return 'language' in value
    ? { '@value': value.text, '@language': value.language }
    : { '@value': value.text, '@type': value.type }
}

export function toTurtle(nodes: readonly RdfNode[], prefixes: Prefixes): string {
  const heads = Object.entries(prefixes).map(([prefix, address]) => `@prefix ${prefix}: <${address}> .`)
  const bodies = nodes.map(({ id, type, properties }) => {
    const lines = properties.map(([property, value]) => `${property} ${turtleValue(value)}`)
    return `${turtleIri(id)} ${[`a ${type}`, ...lines].join(' ;\n  ')} .`
  })
  return `${heads.join('\n')}\n\n${bodies.join('\n\n')}\n`
}

function turtleValue(value: RdfValue): string {
  if ('id' in value) return turtleIri(value.id)
  // The escapes of JSON are escapes of Turtle, too.
  const text = JSON.stringify(value.text)
  return 'language' in value ? `${text}@${value.language}` : `${text}^^${value.type}`
}

function turtleIri(iri: string): string {
  return `<${iri.replace(/[\s<>"{}|^`\\]/g, (sign) => encodeURIComponent(sign))}>`
}

export function toRdfXml(nodes: readonly RdfNode[], prefixes: Prefixes): string {
  const namespaces = Object.entries({ ...prefixes, rdf }).map(([prefix, address]) => [`xmlns:${prefix}`, address])
  const whole = (name: string) =>
    name.replace(/^\w+(?=:)/, (prefix) => prefixes[prefix] ?? prefix).replace(/:(?=\w+$)/, '')
  const described = nodes.map(({ id, type, properties }) =>
    element(
      type,
      { 'rdf:about': id },
      properties.map(([property, value]): Element => {
        if ('id' in value) return element(property, { 'rdf:resource': value.id })
        const attribute = 'language' in value ? { 'xml:lang': value.language } : { 'rdf:datatype': whole(value.type) }
        return textElement(property, value.text, attribute)
      }),
    ),
  )
  const root = element('rdf:RDF', Object.fromEntries(namespaces), described)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root)}\n`
}
