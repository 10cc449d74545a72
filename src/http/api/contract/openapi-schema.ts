/** A JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type OpenApiSchema = { readonly [keyword: string]: unknown }

export const values = {
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  /** An identifier that may be larger than a JavaScript number can hold exactly. */
  long: { type: 'integer', format: 'int64' },
  decimal: { type: 'number' },
  amount: { type: 'number', description: 'An amount with two decimals.' },
  instant: { type: 'string', format: 'date-time' },
} as const satisfies Readonly<Record<string, OpenApiSchema>>

/**
 * An object with these fields. A name that ends in `?` may be absent; one that begins with `@` is an attribute in XML.
 * Other members are allowed, since fields may be added (wire.md 11.1).
 */
export function objectOf(fields: Readonly<Record<string, OpenApiSchema>>, keywords: OpenApiSchema = {}): OpenApiSchema {
  const properties: Record<string, OpenApiSchema> = {}
  const required: string[] = []
  for (const [entry, schema] of Object.entries(fields)) {
    const name = entry.replace(/^@|\?$/g, '')
    properties[name] = entry.startsWith('@') ? { ...schema, xml: { attribute: true } } : schema
    if (!entry.endsWith('?')) required.push(name)
  }
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...keywords }
}

/** An array; in XML its items are elements named after the property. */
export function arrayOf(items: OpenApiSchema): OpenApiSchema {
  return { type: 'array', items }
}

/** A wrapper such as `themes` around `theme`; an empty one has no items (wire.md 1.5). */
export function wrapperOf(item: string, items: OpenApiSchema, keywords?: OpenApiSchema): OpenApiSchema {
  return objectOf({ [`${item}?`]: { ...arrayOf(items), minItems: 1 } }, keywords)
}

/** A reference to a schema of `schemas.ts`. */
export function ref(name: string): OpenApiSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** The element that a schema describes in XML. */
export function rootOf(schema: OpenApiSchema): string | undefined {
  return (schema.xml as { readonly name?: string } | undefined)?.name
}
