import { catalogueFormats, cataloguePath, dataPackagePath, llmsTextPath } from '../../iati/addresses.js'
import type { AddedFile, AddFiles } from '../../release/plan/added-files.js'
import { dataPackage } from './data-package.js'
import { catalogueMediaTypes, dcatCatalogue } from './dcat.js'
import { llmsText } from './llms-text.js'
import { describePublication } from './publication-description.js'

/**
 * What describes the files of a release: they change when a file is added, not when its content changes, unless that brings
 * a country or an earlier year.
 */
export function describingFiles(...release: Parameters<AddFiles>): AddedFile[] {
  const description = describePublication(...release)
  return [
    { path: dataPackagePath, mediaType: 'application/json; charset=utf-8', parts: () => [dataPackage(description)] },
    ...catalogueFormats.map((format) => ({
      ...{ path: cataloguePath(format), mediaType: catalogueMediaTypes[format] },
      parts: () => dcatCatalogue(description, format),
    })),
    { path: llmsTextPath, mediaType: 'text/markdown; charset=utf-8', parts: () => [llmsText(description)] },
  ]
}
