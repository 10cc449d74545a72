import { hash } from 'node:crypto'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { OriginFacts } from '../../../../src/iati/standard/facts.js'
import { extractCodeListMapping, extractCodeLists } from './extract-codes.js'
import { extractStructure } from './extract-structure.js'
import { sources } from './sources.js'

const files = {
  activities: 'schemas/iati-activities-schema.xsd',
  organisations: 'schemas/iati-organisations-schema.xsd',
  common: 'schemas/iati-common.xsd',
  codelists: 'codelists/codelists.json',
  mapping: 'codelists/mapping.json',
} as const

/**
 * The texts of `data/*.json`, by file name, from a directory with the official IATI files. Deterministic: the same files
 * give the same bytes. Only facts are taken (names, order, counts, types, codes and their English names).
 */
export function extractStandard(directory: string): Record<string, string> {
  const hashes: Record<string, string> = {}
  const read = (file: string): string => {
    const bytes = readFileSync(join(directory, file))
    hashes[file] = hash('sha256', bytes)
    return bytes.toString('utf8')
  }
  const structure = extractStructure({
    activities: read(files.activities),
    organisations: read(files.organisations),
    common: read(files.common),
  })
  const mapping = extractCodeListMapping(read(files.mapping), structure)
  const codeLists = extractCodeLists(read(files.codelists), mapping)
  const origin: OriginFacts = { version: structure.version, sources, files: hashes }
  return {
    'structure.json': `{"version":${JSON.stringify(structure.version)},"roots":${JSON.stringify(structure.roots)},"types":${rows(structure.types)}}\n`,
    'mapping.json': `${rows(mapping)}\n`,
    'codelists.json': `{\n${Object.entries(codeLists)
      .map(([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`)
      .join(',\n')}\n}\n`,
    'origin.json': `${JSON.stringify(origin, undefined, 2)}\n`,
  }
}

/** One row per line, so that a new release of the standard is a readable diff. */
function rows(values: readonly unknown[]): string {
  return `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`
}

/** Writes the data of `directory` into `target`, the `src/iati/standard/data` of a checkout. */
function main(directory: string | undefined, target = 'src/iati/standard/data'): void {
  if (directory === undefined) {
    console.error('usage: npm run standard:extract -- DIR   (DIR holds schemas/ and codelists/ of IATI 2.03)')
    process.exitCode = 2
    return
  }
  for (const [name, text] of Object.entries(extractStandard(directory))) {
    writeFileSync(join(target, name), text)
    console.log(`${join(target, name)}: ${Buffer.byteLength(text)} bytes`)
  }
}

if (argv[1] !== undefined && fileURLToPath(import.meta.url) === realpathSync(argv[1])) main(argv[2])
