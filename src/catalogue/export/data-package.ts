import { storedMember } from '../import/fields.js'
import { findKind } from '../import/kinds.js'
import { type ResourceName, resources } from '../sql/export/resources.js'
import type { StoreFacts } from '../sql/export/snapshot.js'
import type { ResourceSql } from '../sql/export/table-resource.js'

export const descriptorName = 'datapackage.json'

export const exportFormats = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** A field of a Frictionless Table Schema. */
type SchemaField = {
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly constraints?: { readonly required: true }
}

/** A file of an export. */
export type PackageResource = {
  readonly name: ResourceName
  readonly path: string
  readonly format: ExportFormat
  readonly mediatype: string
  readonly encoding: 'utf-8'
  readonly description: string
  readonly bytes: number
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string
  readonly rowCount: number
  readonly schema: { readonly fields: readonly SchemaField[] }
}

/** `datapackage.json`: a Frictionless Data Package, with what an import needs beyond it in `giving`. */
export type DataPackage = {
  readonly $schema: string
  readonly name: 'giving-export'
  readonly created: string
  readonly resources: readonly PackageResource[]
  readonly giving: StoreFacts & {
    /** It holds everything, as ndjson, but donors and accounts. */
    readonly complete: boolean
    readonly donors: boolean
    readonly accounts: boolean
  }
}

export const packageSchema = 'https://datapackage.org/profiles/2.0/datapackage.json'

const mediaTypes: Readonly<Record<ExportFormat, string>> = { ndjson: 'application/x-ndjson', csv: 'text/csv' }

/** Describes a file that was written. */
export function describeResource(
  name: ResourceName,
  format: ExportFormat,
  sql: ResourceSql,
  written: Pick<PackageResource, 'bytes' | 'hash' | 'rowCount'>,
): PackageResource {
  return {
    name,
    path: fileName(name, format),
    format,
    mediatype: mediaTypes[format],
    encoding: 'utf-8',
    description: resources[name].means,
    ...written,
    schema: { fields: schemaFields(name, sql, format) },
  }
}

export function fileName(name: ResourceName, format: ExportFormat): string {
  return `${name}.${format}`
}

/** The fields of a file, described as the operator's kind describes them. */
function schemaFields(name: ResourceName, { members, stored }: ResourceSql, format: ExportFormat): SchemaField[] {
  const declared = findKind(name)?.fields ?? {}
  const fields = Object.entries(members).map(([member, type]): SchemaField => {
    const field = declared[member]
    return {
      name: member,
      type: type === 'json' ? (format === 'csv' ? 'string' : 'array') : (fieldTypes[type] ?? 'string'),
      ...(field && { description: field.unit === undefined ? field.means : `${field.means} (${field.unit})` }),
      ...(field?.required && { constraints: { required: true } }),
    }
  })
  if (format === 'csv' || Object.keys(stored).length === 0) return fields
  const description = `What no operator writes: ${Object.keys(stored).join(', ')}.`
  return [...fields, { name: storedMember, type: 'object', description }]
}

/** Types of a Table Schema by those of PostgreSQL; the others are strings. */
const fieldTypes: Readonly<Record<string, string>> = {
  bigint: 'integer',
  integer: 'integer',
  boolean: 'boolean',
  numeric: 'number',
  date: 'date',
  'timestamp with time zone': 'datetime',
  jsonb: 'object',
}
