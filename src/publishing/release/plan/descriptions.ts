import { createHash } from 'node:crypto'
import { noNotices } from '../../../domain/notice.js'
import {
  catalogueFormats,
  cataloguePath,
  dataPackagePath,
  llmsTextPath,
  publicKeyPath,
} from '../../../feeds/addresses.js'
import { dataPackage } from '../../../feeds/catalogue/data-package.js'
import { catalogueMediaTypes, dcatCatalogue } from '../../../feeds/catalogue/dcat.js'
import { llmsText } from '../../../feeds/catalogue/llms-text.js'
import { describePublication } from '../../../feeds/catalogue/publication-description.js'
import type { MappingConfig } from '../../../feeds/iati/mapping-config.js'
import { inOneBatch } from '../../files/texts.js'
import type { Dataset } from './dataset.js'

/** What describes the files of a release: they change when a file is added, not when its content changes. */
export function descriptions(config: MappingConfig, files: readonly Dataset[], publicKey?: string): Dataset[] {
  const description = describePublication(config, files)
  return [
    document(dataPackagePath, 'application/json; charset=utf-8', dataPackage(description)),
    ...catalogueFormats.map((format) =>
      document(cataloguePath(format), catalogueMediaTypes[format], dcatCatalogue(description, format)),
    ),
    document(llmsTextPath, 'text/markdown; charset=utf-8', llmsText(description)),
    ...(publicKey === undefined ? [] : [document(publicKeyPath, 'application/x-pem-file', publicKey)]),
  ]
}

function document(path: string, mediaType: string, text: string): Dataset {
  return {
    ...{ path, mediaType, records: 1, notices: noNotices },
    fingerprint: createHash('sha256').update(text).digest('base64'),
    content: { kind: 'texts', texts: () => inOneBatch(text) },
  }
}
