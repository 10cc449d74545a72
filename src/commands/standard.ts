import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, type Environment, readConfig } from '../config/config.js'
import { ServiceError } from '../domain/errors.js'
import { codeListNames, standardOrigin } from '../standard/index.js'
import { pullStandard } from '../standard/pull.js'
import {
  compareStandard,
  type PulledStandard,
  readPulledStandard,
  type StandardDifference,
} from '../standard/pulled.js'
import { createXsdValidator, openThreadedXsd, type SchemaCheck, type XsdValidator } from '../validation/index.js'
import { type Output, progressDisplay } from './output.js'

/** Where pulled official files lie. */
function pulledDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'standard')
}

/** Where the official files are: IATI_STANDARD_DIR, else what was pulled; undefined when there are none. */
function officialDirectory(config: Pick<Config, 'dataDir' | 'standardDir'>): string | undefined {
  const pulled = pulledDirectory(config)
  return config.standardDir ?? (existsSync(pulled) ? pulled : undefined)
}

/**
 * The official schema, when IATI_STANDARD_DIR or `giving standard pull` has provided it; dispose of it when done. Throws
 * `standard-missing` when the folder does not have it.
 */
export async function openOfficialSchema(config: SchemaConfig): Promise<XsdValidator | undefined> {
  return await openSchema(config, createXsdValidator)
}

/** The same in a thread of its own, for what is checked beside it. */
export async function openThreadedSchema(config: SchemaConfig): Promise<SchemaCheck | undefined> {
  return await openSchema(config, openThreadedXsd)
}

type SchemaConfig = Pick<Config, 'dataDir' | 'standardDir'>

async function openSchema<Schema extends SchemaCheck>(
  config: SchemaConfig,
  open: (directory: string) => Promise<Schema | undefined>,
): Promise<Schema | undefined> {
  const directory = officialDirectory(config)
  if (directory === undefined) return undefined
  const xsd = await open(directory)
  if (xsd) return xsd
  const where = config.standardDir === undefined ? 'giving standard pull' : 'IATI_STANDARD_DIR'
  const message = `${where}: expected schemas/iati-activities-schema.xsd in ${directory}, found none`
  throw new ServiceError('standard-missing', message)
}

/** `giving standard pull`: exit code 0 done; a failure leaves the files that were there. Needs no database. */
export async function pullStandardCommand(
  environment: Environment,
  { from, signal }: { readonly from?: string; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  const { config } = readConfig(environment)
  const directory = pulledDirectory(config)
  const progress = progressDisplay(output)
  try {
    const { pulled, absent } = await pullStandard({
      directory,
      now: new Date(),
      signal,
      verify: verifySchemas,
      onProgress: (done, total) => progress.update('official files', done, total),
      ...(from !== undefined && { from }),
    })
    progress.stop()
    const difference = await compareStandard(directory, pulled)
    if (output.json) output.line(JSON.stringify({ directory, ...pulled, absent, difference }))
    else {
      output.line(`pulled ${pulled.files.length} files of version ${pulled.version} into ${directory}`)
      if (absent.length > 0) output.line(`not published there: ${absent.join(', ')}`)
      for (const line of describeDifference(difference)) output.line(line)
      if (config.standardDir !== undefined) output.note('IATI_STANDARD_DIR is set: its files are used, not these')
    }
    return 0
  } finally {
    progress.stop()
  }
}

async function verifySchemas(directory: string): Promise<void> {
  const xsd = await createXsdValidator(directory)
  xsd?.dispose()
}

/** `giving standard show`: what is built in, what was pulled, how they differ, and what is used. Exit code 0. */
export async function showStandardCommand(environment: Environment, output: Output): Promise<number> {
  const { config } = readConfig(environment)
  const directory = pulledDirectory(config)
  const pulled = await readPulledStandard(directory)
  const difference = pulled && (await compareStandard(directory, pulled))
  const used = officialDirectory(config)
  if (output.json) {
    const builtIn = { ...standardOrigin, codeLists: codeListNames.length }
    output.line(JSON.stringify({ builtIn, pulled: pulled && { directory, ...pulled, difference }, used }))
    return 0
  }
  output.line(`built in: version ${standardOrigin.version}, ${codeListNames.length} code lists`)
  for (const { what, repository, commit, date } of standardOrigin.sources) {
    output.line(`  ${what}: ${repository} ${commit?.slice(0, 12)} of ${date}`)
  }
  if (pulled && difference) for (const line of describePulled(pulled, difference)) output.line(line)
  else output.line('pulled: nothing (giving standard pull downloads the official files)')
  output.line(`official schema used: ${used === undefined ? 'none, only the built-in checks' : used}`)
  return 0
}

function describePulled({ version, pulledAt, files, from }: PulledStandard, difference: StandardDifference): string[] {
  return [
    `pulled: version ${version}, ${files.length} files, at ${pulledAt}`,
    ...from.map((address) => `  from ${address}`),
    ...describeDifference(difference).map((line) => `  ${line}`),
  ]
}

function describeDifference({ schemas, codeLists }: StandardDifference): string[] {
  if (schemas.length === 0 && codeLists.length === 0) return ['they say what the built-in data says']
  return [
    ...schemas.map((name) => `${name} has another text than the one that the built-in data is from`),
    ...codeLists.map(
      ({ name, added, gone }) => `code list ${name}: ${added} active codes more, ${gone} fewer than built in`,
    ),
  ]
}
