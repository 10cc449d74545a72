import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  createXsdValidator,
  openThreadedXsd,
  type SchemaCheck,
  type XsdValidator,
} from '../../iati/validation/index.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'

/** The fields of the configuration that the folder of the official schema follows from. */
export const schemaFields = ['dataDir', 'standardDir'] as const

/** The folder of the pulled official files. */
export function pulledDirectory({ dataDir }: Config): string {
  return join(dataDir, 'standard')
}

/** The folder of the official files: IATI_STANDARD_DIR, else the pulled ones; undefined when there are none. */
export function officialDirectory(config: Config): string | undefined {
  const pulled = pulledDirectory(config)
  return config.standardDir ?? (existsSync(pulled) ? pulled : undefined)
}

/**
 * The official schema, when IATI_STANDARD_DIR or `giving standard pull` has provided it; dispose of it when done. Throws
 * `standard-missing` when the folder does not have it.
 */
export async function openOfficialSchema(config: Config): Promise<XsdValidator | undefined> {
  return await openSchema(config, createXsdValidator)
}

/** The same in a thread of its own, so that the caller checks other rules meanwhile. */
export async function openThreadedSchema(config: Config): Promise<SchemaCheck | undefined> {
  return await openSchema(config, openThreadedXsd)
}

async function openSchema<Schema extends SchemaCheck>(
  config: Config,
  open: (directory: string) => Schema | undefined | Promise<Schema | undefined>,
): Promise<Schema | undefined> {
  const directory = officialDirectory(config)
  if (directory === undefined) return undefined
  const xsd = await open(directory)
  if (xsd) return xsd
  const where = config.standardDir === undefined ? 'giving standard pull' : 'IATI_STANDARD_DIR'
  const message = `${where}: expected schemas/iati-activities-schema.xsd in ${directory}, found none`
  throw new ServiceError('standard-missing', message)
}
