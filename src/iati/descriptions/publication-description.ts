import type { IsoDate } from '../../kernel/dates.js'
import { type LicenceId, licences } from '../../kernel/licence.js'
import type { MappingConfig } from '../mapping/mapping-config.js'
import { type Table, tables } from '../tables/tables.js'

/** A file that the descriptions name. */
export type DescribedFile = {
  readonly path: string
  readonly mediaType: string
  /** The table whose rows it has. */
  readonly table?: { readonly table: Table; readonly format: 'csv' | 'parquet' }
}

/** What the published activities cover. */
export type Coverage = {
  /** The day of the first release. */
  readonly issued?: IsoDate
  /** The year in which the earliest project was approved. */
  readonly since?: string
  /** Where the projects are (ISO 3166-1 alpha-2), in the order of the codes. */
  readonly countries: readonly string[]
}

/** What the descriptions of a release say: the same in all of them. */
export type PublicationDescription = {
  readonly title: string
  readonly text: string
  readonly publisher: { readonly ref: string; readonly name: string }
  readonly contact?: MappingConfig['contact']
  /** Public address of this service, without trailing slash. */
  readonly baseUrl: string
  readonly language: string
  readonly licence?: { readonly id: LicenceId; readonly url: string }
  readonly files: readonly DescribedFile[]
  readonly coverage: Coverage
}

/** Describes a publication of these files. */
export function describePublication(
  { reportingOrg: { ref, name }, contact, baseUrl, language, licence }: MappingConfig,
  files: readonly { readonly path: string; readonly mediaType: string }[],
  coverage: Coverage,
): PublicationDescription {
  return {
    title: `Projects of ${name}`,
    text: `The projects that ${name} raises funds for, as IATI 2.03 activities, as tables and as feeds of progress reports.`,
    publisher: { ref, name },
    ...{ contact, baseUrl, language, coverage },
    ...(licence && { licence: { id: licence, url: licences[licence] } }),
    files: files.map(({ path, mediaType }) => ({ path, mediaType, ...tableOf(path) })),
  }
}

function tableOf(path: string): Pick<DescribedFile, 'table'> {
  const [, name, format] = /^\/data\/(\w+)\.(csv|parquet)$/.exec(path) ?? []
  const table = tables.find((one) => one.name === name)
  return table && (format === 'csv' || format === 'parquet') ? { table: { table, format } } : {}
}
