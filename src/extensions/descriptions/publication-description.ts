import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { type Table, tables } from '../../iati/tables/tables.js'
import { licences } from '../../kernel/licence.js'
import type { Coverage } from '../../release/sql/renderings.js'

/** A file that the descriptions name. */
export type DescribedFile = {
  readonly path: string
  readonly mediaType: string
  /** The table whose rows it has. */
  readonly table?: { readonly table: Table; readonly format: 'csv' | 'parquet' }
}

/** What the descriptions of a release say: the same in all of them. */
export type PublicationDescription = ReturnType<typeof describePublication>

/** Describes a publication of these files. */
export function describePublication(
  { reportingOrg: { ref, name }, contact, baseUrl, language, licence }: MappingConfig,
  files: readonly { readonly path: string; readonly mediaType: string }[],
  coverage: Coverage,
) {
  return {
    title: `Projects of ${name}`,
    text: `The projects that ${name} raises funds for, as IATI 2.03 activities, as tables and as feeds of progress reports.`,
    publisher: { ref, name },
    ...{ contact, baseUrl, language, coverage },
    ...(licence && { licence: { id: licence, url: licences[licence] } }),
    files: files.map(({ path, mediaType }): DescribedFile => ({ path, mediaType, ...tableOf(path) })),
  }
}

function tableOf(path: string): Pick<DescribedFile, 'table'> {
  const [, name, format] = /^\/data\/(\w+)\.(csv|parquet)$/.exec(path) ?? []
  const table = tables.find((one) => one.name === name)
  return table && (format === 'csv' || format === 'parquet') ? { table: { table, format } } : {}
}
