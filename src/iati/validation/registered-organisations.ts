import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../kernel/errors.js'

const fileName = /^registered-publishers.*\.json$/

/**
 * The identifiers of registered publishers, from `codelists/registered-publishers*.json` (rows with `iati_id`, as the
 * official validator gets them) in a folder with official files; undefined when there is no such file.
 */
export async function readRegisteredOrganisations(directory: string | undefined): Promise<Set<string> | undefined> {
  if (directory === undefined) return undefined
  const folder = join(directory, 'codelists')
  const names = (await readdir(folder).catch(() => [])).filter((name) => fileName.test(name)).sort()
  const newest = names.at(-1)
  if (newest === undefined) return undefined
  try {
    return new Set(identifiersIn(JSON.parse(await readFile(join(folder, newest), 'utf8'))))
  } catch (error) {
    throw new ServiceError('standard-missing', `cannot read ${join(folder, newest)} as a list of publishers`, {
      cause: error,
    })
  }
}

function identifiersIn(rows: unknown): string[] {
  if (!Array.isArray(rows)) throw new TypeError('expected an array')
  return rows.map((row) => {
    if (typeof row?.iati_id !== 'string') throw new TypeError('expected iati_id in every row')
    return row.iati_id
  })
}
