import { element, textElement } from '../../kernel/xml/element.js'
import { enclose, writeElement } from '../../kernel/xml/writer.js'

/** A node of a graph: its address, its class, and what is said of it. */
export type RdfNode = {
  readonly id: string
  readonly type: string
  readonly properties: readonly (readonly [property: string, value: RdfValue])[]
}

/** The address of a node, a text in a language, or a date or year of XML Schema. */
export type RdfValue =
  | { readonly id: string }
  | { readonly text: string; readonly language: string }
  | { readonly value: string; readonly type: 'date' | 'gYear' }

/** Names of classes and properties are written with these prefixes. */
export type Prefixes = Readonly<Record<string, string>>

const xsd = 'http://www.w3.org/2001/XMLSchema#'
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

// The writers give a text in parts, a node each: a large publication has thousands of files.

export function* toJsonLd(nodes: Iterable<RdfNode>, prefixes: Prefixes): Generator<string> {
  yield `{\n  "@context": ${indentedJson(prefixes, '  ')},\n  "@graph": [`
  let separator = ''
  for (const { id, type, properties } of nodes) {
    const node: Record<string, unknown> = { '@id': id, '@type': type }
    for (const name of new Set(properties.map(([property]) => property))) {
      node[name] = properties.filter(([property]) => property === name).map(([, value]) => jsonLdValue(value))
    }
    yield `${separator}\n    ${indentedJson(node, '    ')}`
    separator = ','
  }
  yield '\n  ]\n}\n'
}

/** JSON whose further lines begin with `indent`. */
function indentedJson(value: object, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}

function jsonLdValue(value: RdfValue): object {
  if ('id' in value) return { '@id': value.id }
  if ('type' in value) return { '@value': value.value, '@type': xsd + value.type }
  return { '@value': value.text, '@language': value.language }
}

export function* toTurtle(nodes: Iterable<RdfNode>, prefixes: Prefixes): Generator<string> {
  for (const [prefix, address] of Object.entries(prefixes)) yield `@prefix ${prefix}: <${address}> .\n`
  for (const { id, type, properties } of nodes) {
    const lines = properties.map(([property, value]) => `${property} ${turtleValue(value)}`)
    yield `\n${turtleIri(id)} ${[`a ${type}`, ...lines].join(' ;\n  ')} .\n`
  }
}

function turtleValue(value: RdfValue): string {
  if ('id' in value) return turtleIri(value.id)
  if ('type' in value) return `"${value.value}"^^<${xsd}${value.type}>`
  // The escapes of JSON are escapes of Turtle, too.
  return `${JSON.stringify(value.text)}@${value.language}`
}

function turtleIri(iri: string): string {
  return `<${iri.replace(/[\s<>"{}|^`\\]/g, (sign) => encodeURIComponent(sign))}>`
}

export function* toRdfXml(nodes: Iterable<RdfNode>, prefixes: Prefixes): Generator<string> {
  const namespaces = Object.entries({ ...prefixes, rdf }).map(([prefix, address]) => [`xmlns:${prefix}`, address])
  const end = '</rdf:RDF>'
  const root = enclose('rdf:RDF', '', Object.fromEntries(namespaces))
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${root.slice(0, -end.length)}`
  for (const { id, type, properties } of nodes) {
    const children = properties.map(([property, value]) => {
      if ('id' in value) return element(property, { 'rdf:resource': value.id })
      if ('type' in value) return textElement(property, value.value, { 'rdf:datatype': xsd + value.type })
      return textElement(property, value.text, { 'xml:lang': value.language })
    })
    yield writeElement(element(type, { 'rdf:about': id }, children))
  }
  yield `${end}\n`
}
