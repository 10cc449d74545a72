import { cataloguePath, dataPackagePath, manifestPath } from '../../iati/addresses.js'
import type { PublicationDescription } from './publication-description.js'

/** `/llms.txt`: what is here, in Markdown, for programs that read text. */
export function llmsText({ title, text, publisher, baseUrl, licence, files }: PublicationDescription): string {
  const link = (path: string, what: string) => `- [${path}](${baseUrl}${path}): ${what}`
  const there = (pattern: RegExp) => files.filter(({ path }) => pattern.test(path))
  return [
    `# ${inLine(title)}`,
    '',
    `> ${inLine(text)} Published by ${inLine(publisher.name)} (${publisher.ref}), checked and renewed every day.`,
    '',
    licence ? `Licence: ${licence.id}, ${licence.url}` : 'The publisher has not stated a licence.',
    '',
    '## Data',
    '',
    link(manifestPath, 'every file of the release with its size and SHA-256'),
    link(dataPackagePath, 'the tables with the meaning of their columns (Data Package 2.0)'),
    link(cataloguePath('jsonld'), 'catalogue (DCAT-AP 3); also as .ttl and .rdf'),
    ...there(/^\/iati\/.*\.xml$/).map(({ path }) => link(path, 'IATI 2.03')),
    ...files.flatMap(({ path, table: one }) =>
      one?.format === 'parquet' ? [link(path, `${one.table.title}; also as .csv`)] : [],
    ),
    ...there(/^\/feeds\/reports\.atom$/).map(({ path }) => link(path, 'progress reports (Atom)')),
    '',
  ].join('\n')
}

function inLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
