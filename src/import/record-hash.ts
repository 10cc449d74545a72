import { createHash } from 'node:crypto'
import type { ProjectRecord } from '../domain/record.js'

// Moves when the same record would be written differently than before, so that the next import writes it again.
const importerVersion = 1

/**
 * The hash that tells whether a record, and how it would be written, is what the store already holds. The same record
 * has the same hash in XML and in JSON: the parser makes its keys in one order and its numbers texts.
 */
export function recordHash(record: ProjectRecord, photoConsent: boolean): string {
  return createHash('sha256')
    .update(JSON.stringify([importerVersion, photoConsent, record]))
    .digest('hex')
}
