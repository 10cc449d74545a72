import { fileNotices } from './file-notices.js'
import type { CatalogueEntry } from './notice-kind.js'
import { rules } from './rules/index.js'
import { structureNotices } from './structure.js'
import { xsdNotices } from './xsd.js'

/** Every notice that validation can make, by code. A test compares `docs/notices.md` with it. */
export const validationCatalogue: Readonly<Record<string, CatalogueEntry>> = Object.fromEntries([
  ...Object.entries<CatalogueEntry>(structureNotices),
  ...Object.entries<CatalogueEntry>(xsdNotices),
  ...rules.map(({ code, check: _, ...entry }): [string, CatalogueEntry] => [code, entry]),
  ...Object.entries<CatalogueEntry>(fileNotices),
])
