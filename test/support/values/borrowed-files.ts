import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runsAll } from '../runner/some-of.js'

/*
 * Files of other publishers, which the repository may not contain. `TEST_FILES` names a folder with `iati/` (official
 * schemas, code lists and rulesets), `samples/projects.xml` (50 records of a real platform) and `cases/exports`; without it, the folder
 * `shared` beside the checkout is used where there is one. CONTRIBUTING.md says more.
 */
const beside = resolve(import.meta.dirname, '..', '..', '..', '..', 'shared')
const folder = process.env.TEST_FILES ?? (existsSync(join(beside, 'iati')) ? beside : undefined)

/** The folder of the official IATI files: `IATI_STANDARD_DIR`, else the one in `TEST_FILES`; undefined without either. */
export function officialFiles(): string | undefined {
  const directory = process.env.IATI_STANDARD_DIR ?? (folder && join(folder, 'iati'))
  return directory && existsSync(join(directory, 'schemas', 'iati-activities-schema.xsd'))
    ? resolve(directory)
    : undefined
}

/** The same; says what is skipped without them. */
export function officialStandard(whatIsSkipped: string): string | undefined {
  return officialFiles() ?? skipped(whatIsSkipped, 'the official IATI files: set IATI_STANDARD_DIR or TEST_FILES')
}

/** The page of real records; undefined, having said what is skipped, without it, and in `npm test`, which asks about our own. */
export function realRecords(whatIsSkipped: string): string | undefined {
  if (!runsAll) return undefined
  const page = folder && resolve(folder, 'samples', 'projects.xml')
  return page && existsSync(page) ? page : skipped(whatIsSkipped, 'the page of real records: set TEST_FILES')
}

/** The folder with the first lines of six exports; undefined as `realRecords` is. */
export function borrowedExports(whatIsSkipped: string): string | undefined {
  if (!runsAll) return undefined
  const exports = folder && resolve(folder, 'cases', 'exports')
  return exports && existsSync(exports) ? exports : skipped(whatIsSkipped, 'the first lines of exports: set TEST_FILES')
}

function skipped(what: string, missing: string): undefined {
  console.warn(`skipped: ${what}: it needs ${missing}`)
  return undefined
}
