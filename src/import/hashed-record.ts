import { createHash } from 'node:crypto'
import { earlier, isoDateOf } from '../domain/dates.js'
import type { HashedRecord, ProjectRecord, SaveOptions } from '../domain/record.js'

// Raise it when the same record would be saved differently, so that the next import saves it again.
const importerVersion = 1

/**
 * The record as it is saved: with the hash that tells whether the store already has it, and the day that its total is
 * cumulative to, which is never later than today, whatever the record says.
 */
export function toHashedRecord(record: ProjectRecord, { photoConsent, today }: SaveOptions): HashedRecord {
  const stated = record.modifiedDate ?? record.approvedDate
  const cumulativeTo = stated === undefined ? today : earlier(isoDateOf(stated), today)
  return { record, hash: recordHash(record, photoConsent), cumulativeTo }
}

/** The hash of a record and of what decides how it is saved; the same for the same record in XML and in JSON. */
export function recordHash(record: ProjectRecord, photoConsent: boolean): string {
  return createHash('sha256')
    .update(JSON.stringify([importerVersion, photoConsent, record]))
    .digest('hex')
}
