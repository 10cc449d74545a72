import { createHash } from 'node:crypto'
import { catalogueFormats, cataloguePath, dataPackagePath, llmsTextPath, publicKeyPath } from '../../iati/addresses.js'
import { dataPackage } from '../../iati/descriptions/data-package.js'
import { catalogueMediaTypes, dcatCatalogue } from '../../iati/descriptions/dcat.js'
import { llmsText } from '../../iati/descriptions/llms-text.js'
import { type Coverage, describePublication } from '../../iati/descriptions/publication-description.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { noNotices } from '../../kernel/notice.js'
import type { Texts } from '../bytes/texts.js'
import type { PlannedFile } from './planned-file.js'

/**
 * What describes the files of a release: they change when a file is added, not when its content changes, unless that brings
 * a country or an earlier year.
 */
export function descriptions(
  config: MappingConfig,
  files: readonly PlannedFile[],
  coverage: Coverage,
  publicKey?: string,
): PlannedFile[] {
  const description = describePublication(config, files, coverage)
  return [
    document(dataPackagePath, 'application/json; charset=utf-8', () => [dataPackage(description)]),
    ...catalogueFormats.map((format) =>
      document(cataloguePath(format), catalogueMediaTypes[format], () => dcatCatalogue(description, format)),
    ),
    document(llmsTextPath, 'text/markdown; charset=utf-8', () => [llmsText(description)]),
    ...(publicKey === undefined ? [] : [document(publicKeyPath, 'application/x-pem-file', () => [publicKey])]),
  ]
}

/** A document made in parts: once for its hash, and again when it changed, so that it is never in memory as a whole. */
function document(path: string, mediaType: string, parts: () => Iterable<string>): PlannedFile {
  const hash = createHash('sha256')
  for (const part of parts()) hash.update(part)
  return {
    ...{ path, mediaType, records: 1, notices: noNotices },
    fingerprint: hash.digest('base64'),
    content: { kind: 'texts', texts: () => inBatches(parts()) },
  }
}

async function* inBatches(parts: Iterable<string>): Texts {
  for (const part of parts) yield [Buffer.from(part)]
}
