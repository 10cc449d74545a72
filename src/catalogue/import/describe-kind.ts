import { cellOfCsv } from '../../kernel/csv.js'
import type { JsonSchema } from '../../kernel/read-object.js'
import { clearMark, type KindFields } from './fields.js'
import type { Kind } from './kind.js'

/** A CSV file with all columns of a kind and two example rows. */
export function templateOf({ fields }: Kind): string {
  // Texts in other languages are columns of their own.
  const columns = Object.entries(fields as KindFields).filter(([, { type }]) => !type.inLanguages)
  const rows = [0, 1].map((index) => columns.map(([, { examples }]) => examples[index] ?? ''))
  return [columns.map(([name]) => name), ...rows]
    .map((cells) => `${cells.map((cell) => cellOfCsv(cell, separating)).join(',')}\n`)
    .join('')
}

// Of any separator that spreadsheets may take.
const separating = /[",;\t\r\n]/

/** The JSON Schema (2020-12) of one line of NDJSON. */
export function schemaOf({ name, means, fields }: Kind): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    description: means,
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([field, { type, required, cleared, means: description, examples }]) => {
        const given = [...new Set(examples)].filter((example) => example !== '')
        const schema = required
          ? type.schema
          : {
              anyOf: [type.schema, { const: '' }, { type: 'null' }, ...(cleared ? [{ const: clearMark }] : [])],
            }
        return [field, { ...schema, description, ...(given.length > 0 && { examples: given }) }]
      }),
    ),
    required: Object.keys(fields).filter((field) => fields[field]?.required && !fields[field]?.numbers),
    ...(Object.values(fields).some(({ required, numbers }) => required && numbers) && {
      anyOf: [{ required: ['id'] }, { required: ['externalId'] }],
    }),
    additionalProperties: false,
  }
}
