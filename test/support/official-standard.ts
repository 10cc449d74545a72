import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The directory with the official IATI files: IATI_STANDARD_DIR, else `../shared/iati` beside the checkout. When neither
 * is there, prints what is skipped and why, and returns undefined.
 */
export function officialStandard(whatIsSkipped: string): string | undefined {
  const directory = process.env.IATI_STANDARD_DIR ?? fileURLToPath(new URL('../../../shared/iati', import.meta.url))
  if (existsSync(join(directory, 'schemas', 'iati-activities-schema.xsd'))) return directory
  console.warn(`skipped: ${whatIsSkipped}: no official IATI files in ${directory} (set IATI_STANDARD_DIR)`)
  return undefined
}
