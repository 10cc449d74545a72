import { element, textElement } from '../../xml/element.js'
import { writeElement } from '../../xml/writer.js'

/** A node of a graph: its address, its class, and what is said of it. */
export type RdfNode = {
  readonly id: string
  readonly type: string
  readonly properties: readonly (readonly [property: string, value: RdfValue])[]
}

/** The address of a node, or a text in a language. */
export type RdfValue = { readonly id: string } | { readonly text: string; readonly language: string }

/** Names of classes and properties are written with these prefixes. */
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
  return 'id' in value ? { '@id': value.id } : { '@value': value.text, '@language': value.language }
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
  // The escapes of JSON are escapes of Turtle, too.
  return 'id' in value ? turtleIri(value.id) : `${JSON.stringify(value.text)}@${value.language}`
}

function turtleIri(iri: string): string {
  return `<${iri.replace(/[\s<>"{}|^`\\]/g, (sign) => encodeURIComponent(sign))}>`
}

export function toRdfXml(nodes: readonly RdfNode[], prefixes: Prefixes): string {
  const namespaces = Object.entries({ ...prefixes, rdf }).map(([prefix, address]) => [`xmlns:${prefix}`, address])
  const described = nodes.map(({ id, type, properties }) =>
    element(
      type,
      { 'rdf:about': id },
      properties.map(([property, value]) =>
        'id' in value
          ? element(property, { 'rdf:resource': value.id })
          : textElement(property, value.text, { 'xml:lang': value.language }),
      ),
    ),
  )
  const root = element('rdf:RDF', Object.fromEntries(namespaces), described)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root)}\n`
}
