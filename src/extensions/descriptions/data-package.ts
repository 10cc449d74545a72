import { dataPackagePath } from '../../iati/addresses.js'
import type { Column } from '../../iati/tables/columns.js'
import type { Table } from '../../iati/tables/tables.js'
import type { DescribedFile, PublicationDescription } from './publication-description.js'

const fieldTypes = {
  string: 'string',
  date: 'date',
  instant: 'datetime',
  decimal: 'number',
  integer: 'integer',
} as const satisfies Record<Column['type'], string>

/** The tables as a data package (Data Package 2.0), in JSON. */
export function dataPackage(description: PublicationDescription): string {
  const { title, text, publisher, baseUrl, licence, files } = description
  const resources = files.flatMap((file) => (file.table ? [resource(file, file.table)] : []))
  const document = {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: 'giving-iati',
    ...{ title, description: text, homepage: `${baseUrl}/` },
    ...(licence && { licenses: [{ title: licence.id, path: licence.url }] }),
    contributors: [{ title: publisher.name, roles: ['publisher'] }],
    sources: files
      .filter(({ path }) => path.startsWith('/iati/') && path.endsWith('.xml'))
      .map(({ path }) => ({ title: `IATI 2.03: ${path}`, path: `${baseUrl}${path}` })),
    resources,
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

function resource({ path, mediaType }: DescribedFile, { table, format }: NonNullable<DescribedFile['table']>) {
  const nameOf = (name: string) => (format === 'csv' ? name : `${name}-${format}`)
  return {
    name: nameOf(table.name),
    title: table.title,
    type: 'table',
    // Relative to the package, so that a copy of the folder is a package too.
    path: path.slice(dataPackagePath.lastIndexOf('/') + 1),
    format,
    mediatype: mediaType.split(';')[0],
    ...(format === 'csv' && { encoding: 'utf-8', dialect: { header: true, delimiter: ',', lineTerminator: '\r\n' } }),
    schema: {
      $schema: 'https://datapackage.org/profiles/2.0/tableschema.json',
      fields: table.columns.map(field),
      primaryKey: table.key,
      ...(table.name !== 'activities' && {
        foreignKeys: [
          { fields: ['iatiidentifier'], reference: { resource: nameOf('activities'), fields: ['iatiidentifier'] } },
        ],
      }),
    },
  }
}

function field({ name, type, path, codeList, required }: Table['columns'][number]) {
  const source =
    path === 'position()' ? 'Number of the row within the activity' : `XPath from the row's element: ${path}`
  return {
    name,
    type: fieldTypes[type],
    description: codeList === undefined ? source : `English name, by code list ${codeList}, of the code at ${path}`,
    ...(required && { constraints: { required: true } }),
  }
}
