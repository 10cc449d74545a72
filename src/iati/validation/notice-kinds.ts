import { fileNotices } from './file-notices.js'
import type { DocumentedNotice } from './notice-kind.js'
import { rules } from './rules/index.js'
import { structureNotices } from './structure.js'
import { xsdNotices } from './xsd.js'

/** Every notice that validation can make, by code. A test compares `docs/reference/notices.md` with it. */
export const validationNotices: Readonly<Record<string, DocumentedNotice>> = Object.fromEntries([
  ...Object.entries<DocumentedNotice>(structureNotices),
  ...Object.entries<DocumentedNotice>(xsdNotices),
  ...rules.map(({ code, check: _, ...entry }): [string, DocumentedNotice] => [code, entry]),
  ...Object.entries<DocumentedNotice>(fileNotices),
])
