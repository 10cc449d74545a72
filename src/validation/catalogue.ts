import type { Severity } from '../domain/notice.js'
import { fileNotices } from './file-validator.js'
import { rules } from './rules/index.js'
import { structureNotices } from './structure.js'
import { xsdNotices } from './xsd.js'

export type CatalogueEntry = {
  readonly severity: Severity
  /** One sentence for `docs/notices.md`: what is wrong. */
  readonly sentence: string
  /** Ids of the official rules that find the same; empty where the official validator does not look. */
  readonly official: readonly string[]
}

/** Every notice that validation can make, by code; `docs/notices.md` lists the same (a test compares). */
export const validationCatalogue: Readonly<Record<string, CatalogueEntry>> = Object.fromEntries([
  ...Object.entries<CatalogueEntry>(structureNotices),
  ...Object.entries<CatalogueEntry>(xsdNotices),
  ...rules.map(({ code, severity, sentence, official }): [string, CatalogueEntry] => [
    code,
    { severity, sentence, official },
  ]),
  ...Object.entries<CatalogueEntry>(fileNotices),
])
