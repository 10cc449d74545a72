import {
  type ContentFact,
  type SimpleType,
  type StructureFacts,
  simpleTypes,
} from '../../../../src/iati/standard/facts.js'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../../src/kernel/xml/reader.js'

type TypeFact = StructureFacts['types'][number]
type ChildFact = TypeFact['children'][number]
type AttributeFact = TypeFact['attributes'][number]

/** The components of a schema and its includes, by kind and name. */
type Schema = {
  readonly elements: ReadonlyMap<string, Element>
  readonly types: ReadonlyMap<string, Element>
  readonly attributes: ReadonlyMap<string, Element>
}

/**
 * The structure of the two IATI schemas from their XSD texts. Understands what these schemas use (sequences of elements
 * and foreign wildcards, named and anonymous types, references, extension) and throws on anything else, so that no
 * constraint is lost.
 */
export function extractStructure(schemaTexts: {
  activities: string
  organisations: string
  common: string
}): StructureFacts {
  const roots: Record<string, number> = {}
  const types: TypeFact[] = []
  const common = parseElement(schemaTexts.common, recordLimits)
  let version: string | undefined
  for (const [root, text] of [
    ['iati-activities', schemaTexts.activities],
    ['iati-organisations', schemaTexts.organisations],
  ] as const) {
    const document = parseElement(text, recordLimits)
    version ??= document.attributes.version
    if (document.attributes.version !== version) throw unexpected(`two versions, ${version} and`, document)
    const schema = readSchema([document, common])
    roots[root] = typeReader(schema, types)(get(schema.elements, root))
  }
  if (version === undefined) throw new Error('the schema has no version')
  return { version, roots, types }
}

function readSchema(documents: readonly Element[]): Schema {
  const elements = new Map<string, Element>()
  const types = new Map<string, Element>()
  const attributes = new Map<string, Element>()
  const kinds: Record<string, Map<string, Element> | undefined> = {
    element: elements,
    complexType: types,
    attribute: attributes,
  }
  for (const component of documents.flatMap((document) => document.children)) {
    const kind = localName(component)
    if (kind === 'annotation' || kind === 'include' || kind === 'import') continue
    const known = kinds[kind]
    if (!known) throw unexpected('a component', component)
    const name = component.attributes.name ?? ''
    // The including schema comes first and may repeat what the common one declares.
    if (!known.has(name)) known.set(name, component)
  }
  return { elements, types, attributes }
}

/** Returns the number of an element declaration's type, reading it once; a type may contain itself. */
function typeReader(schema: Schema, types: TypeFact[]): (declaration: Element) => number {
  const numbers = new Map<Element | string, number>()

  function typeOf(declaration: Element): number {
    const own = declaration.children.find((child) => localName(child) === 'complexType')
    const typeName = declaration.attributes.type
    if (own) return numbered(own, () => complexType(own))
    if (typeName === undefined) return numbered('any', () => anything)
    if (typeName.startsWith('xsd:')) {
      return numbered(typeName, () => simpleContent(typeName))
    }
    const named = get(schema.types, typeName)
    return numbered(named, () => complexType(named))
  }

  function numbered(key: Element | string, read: () => TypeFact): number {
    const known = numbers.get(key)
    if (known !== undefined) return known
    const number = types.length
    numbers.set(key, number)
    types.push(anything)
    types[number] = read()
    return number
  }

  function complexType(type: Element): TypeFact {
    let content: ContentFact = 'elements'
    let attributes: AttributeFact[] = []
    let children: ChildFact[] = []
    let foreign: 0 | 1 = 0
    if (type.attributes.mixed !== undefined) throw unexpected('mixed content', type)
    for (const part of parts(type)) {
      switch (localName(part)) {
        case 'sequence':
          children.push(...sequence(part))
          break
        case 'attribute':
          attributes.push(attribute(part))
          break
        case 'anyAttribute':
          requireForeign(part)
          foreign = 1
          break
        case 'simpleContent':
        case 'complexContent': {
          const extended = extension(part)
          content = extended.content
          foreign = extended.foreign
          attributes = [...extended.attributes]
          children = [...extended.children]
          break
        }
        default:
          throw unexpected('a part of a type', part)
      }
    }
    const names = children.map(([name]) => name).filter((name) => name !== '*')
    if (new Set(names).size !== names.length) throw unexpected('a name twice in a sequence', type)
    return { content, attributes, foreign, children }
  }

  function extension(content: Element): TypeFact {
    const [only, ...more] = parts(content)
    if (!only || more.length > 0 || localName(only) !== 'extension') throw unexpected('a derivation', content)
    const base = only.attributes.base ?? ''
    const from: TypeFact = base.startsWith('xsd:') ? simpleContent(base) : complexType(get(schema.types, base))
    const added = complexType({ ...only, name: 'xsd:complexType' })
    return {
      content: from.content,
      attributes: [...from.attributes, ...added.attributes],
      foreign: from.foreign || added.foreign,
      children: [...from.children, ...added.children],
    }
  }

  function sequence(particles: Element): ChildFact[] {
    return parts(particles).map((particle): ChildFact => {
      const least = Number(particle.attributes.minOccurs ?? '1')
      const most = particle.attributes.maxOccurs === 'unbounded' ? null : Number(particle.attributes.maxOccurs ?? '1')
      if (localName(particle) === 'any') {
        requireForeign(particle)
        return ['*', least, most, -1]
      }
      if (localName(particle) !== 'element') throw unexpected('a particle', particle)
      const declaration = particle.attributes.ref ? get(schema.elements, particle.attributes.ref) : particle
      return [declaration.attributes.name ?? '', least, most, typeOf(declaration)]
    })
  }

  function attribute(use: Element): AttributeFact {
    const required = use.attributes.use === 'required' ? 1 : 0
    const name = use.attributes.ref ?? use.attributes.name ?? ''
    if (name === 'xml:lang') return [name, 'language', required]
    const declaration = use.attributes.ref ? get(schema.attributes, name) : use
    return [name, simpleType(declaration.attributes.type ?? ''), required]
  }

  return typeOf
}

const anything: TypeFact = { content: 'any', attributes: [], foreign: 1, children: [] }

function simpleContent(type: string): TypeFact {
  return { content: simpleType(type), attributes: [], foreign: 0, children: [] }
}

function simpleType(name: string): SimpleType {
  const found = simpleTypes.find((type) => `xsd:${type}` === name)
  if (!found) throw new Error(`the schema uses a simple type that is not known here: ${name}`)
  return found
}

function requireForeign(wildcard: Element): void {
  const { namespace, processContents } = wildcard.attributes
  if (namespace !== '##other' || processContents !== 'lax') throw unexpected('a wildcard', wildcard)
}

function parts(element: Element): Element[] {
  return element.children.filter((child) => localName(child) !== 'annotation')
}

function localName({ name }: Element): string {
  return name.slice(name.indexOf(':') + 1)
}

function get(components: ReadonlyMap<string, Element>, name: string): Element {
  const found = components.get(name)
  if (!found) throw new Error(`the schema refers to ${name}, which it does not declare`)
  return found
}

function unexpected(what: string, element: Element): Error {
  return new Error(`${what} of the schema is not understood: ${element.name}, line ${element.line}`)
}
