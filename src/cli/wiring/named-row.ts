import { findNumbers } from '../../catalogue/sql/external-ids.js'
import type { Db } from '../../platform/database/connection.js'
import { orNotFound } from '../command-line.js'

/**
 * The number of the project or organisation that an argument names as files do: by its number, which need not be stored, or
 * by its externalId. Throws `not-found` for an externalId that no row has.
 */
export async function numberOf(db: Db, table: 'project' | 'organisation', name: string): Promise<number> {
  if (/^[1-9]\d{0,14}$/.test(name)) return Number(name)
  const numbers = await findNumbers(db, table, [name])
  return orNotFound(numbers.get(name), `there is no ${table} ${name}: expected its number or externalId`)
}
