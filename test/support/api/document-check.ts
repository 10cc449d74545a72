import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import type { Description } from './api-description.js'

type Schema = Readonly<Record<string, unknown>>

/** Compares documents with schemas of the description, in which no other member is allowed than those that it names. */
export class DocumentCheck {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, formats })
  readonly #validators = new Map<Schema, ReturnType<Ajv2020['compile']>>()
  readonly #components: Readonly<Record<string, Schema>>

  constructor({ components }: Description) {
    this.#components = components.schemas ?? {}
    this.#ajv.addSchema(closed({ $id: 'description', components: { schemas: this.#components } }))
  }

  /** What is wrong with a value. */
  json(schema: Schema, value: unknown): string[] {
    let validate = this.#validators.get(schema)
    if (!validate) {
      validate = this.#ajv.compile(closed(schema))
      this.#validators.set(schema, validate)
    }
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    )
  }

  /** What is wrong with a document in XML, by the `xml` rules of the schema. */
  xml(schema: Schema, root: Element): string[] {
    const choices = (this.#resolved(schema).oneOf ?? [schema]) as readonly Schema[]
    const chosen = choices.find((one) => this.#nameOf(one) === root.name)
    if (!chosen) return [`the root element is ${root.name}`]
    const problems: string[] = []
    const value = this.#valueOf(root, chosen, root.name, problems)
    return problems.length > 0 ? problems : this.json(chosen, value)
  }

  /** The value that JSON would have for an element. */
  #valueOf(element: Element, reference: Schema, place: string, problems: string[]): unknown {
    const schema = this.#resolved(reference)
    if (schema.type !== 'object') {
      if (element.children.length > 0 || Object.keys(element.attributes).length > 0) problems.push(`${place} has parts`)
      return scalarOf(element.text, schema)
    }
    const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>
    const value: Record<string, unknown> = {}
    for (const [name, text] of Object.entries(element.attributes)) {
      const own = properties[name]
      if (own && isAttribute(own)) value[name] = scalarOf(text, own)
      else problems.push(`${place}/@${name} is not an attribute in the schema`)
    }
    for (const child of element.children) {
      const own = properties[child.name]
      const at = `${place}/${child.name}`
      if (!own || isAttribute(own)) {
        problems.push(`${at} is not an element in the schema`)
        continue
      }
      const list = this.#resolved(own).type === 'array'
      const item = this.#valueOf(child, list ? (own.items as Schema) : own, at, problems)
      if (list) value[child.name] = [...((value[child.name] ?? []) as unknown[]), item]
      else if (child.name in value) problems.push(`${at} is there twice`)
      else value[child.name] = item
    }
    return value
  }

  #nameOf(reference: Schema): unknown {
    return (this.#resolved(reference).xml as { readonly name?: string } | undefined)?.name
  }

  #resolved(schema: Schema): Schema {
    if (typeof schema.$ref !== 'string') return schema
    return this.#components[schema.$ref.split('/').at(-1) ?? ''] ?? {}
  }
}

function isAttribute(schema: Schema | undefined): boolean {
  return (schema?.xml as { readonly attribute?: boolean } | undefined)?.attribute === true
}

function scalarOf(text: string, { type }: Schema): unknown {
  const types = [type].flat()
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true'
  return text
}

/** The schema with references into `description`, and without members that it does not name. */
function closed(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === '$ref') return [key, `description${String(value)}`]
    if (Array.isArray(value)) return [key, value.map((item) => (isSchema(item) ? closed(item) : item))]
    return [key, isSchema(value) ? closed(value) : value]
  })
  const copy: Record<string, unknown> = Object.fromEntries(entries)
  const isObject = copy.type === 'object' && copy.properties !== undefined && copy.additionalProperties === undefined
  return isObject ? { ...copy, additionalProperties: false } : copy
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  int64: true,
} as const
