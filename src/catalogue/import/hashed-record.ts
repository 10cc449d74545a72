import { hash } from 'node:crypto'
import { earlier, type IsoDate, isoDateOf } from '../../kernel/dates.js'
import type { HashedRecord, ProjectRecord, SaveOptions } from '../../kernel/record.js'

// Raise it when the same record would be saved differently, so that the next import saves it again.
const importerVersion = 2

/**
 * The record as it is saved: with the hash that tells whether the store already has it, and the day that its total is
 * cumulative to. `knownAt` is the newest instant at which its page is known to have said so; undefined: not known.
 */
export function toHashedRecord(record: ProjectRecord, options: SaveOptions, knownAt: Date | undefined): HashedRecord {
  return {
    record,
    hash: recordHash(record, options.photoConsent),
    cumulativeTo: cumulativeTo(record, knownAt, options.today),
    knownAt,
  }
}

/**
 * The newest instant that these records state; their page is at least as new. Approvals do not count, since gifts come
 * after them.
 */
export function newestInstant(records: readonly ProjectRecord[]): Date | undefined {
  return newest(records.flatMap(({ modifiedDate, dateOfMostRecentReport }) => [modifiedDate, dateOfMostRecentReport]))
}

/** The day of the record's last change, else of its page if known, else today; never in the future. */
function cumulativeTo(record: ProjectRecord, knownAt: Date | undefined, today: IsoDate): IsoDate {
  const { modifiedDate, approvedDate, dateOfMostRecentReport } = record
  const base = modifiedDate ?? knownAt
  if (base === undefined) return today
  return earlier(isoDateOf(newest([base, dateOfMostRecentReport, approvedDate]) ?? base), today)
}

function newest(instants: readonly (Date | undefined)[]): Date | undefined {
  return instants.reduce((latest, one) => (one && (!latest || one > latest) ? one : latest), undefined)
}

/** The hash of a record and of what decides how it is saved; the same for the same record in XML and in JSON. */
function recordHash(record: ProjectRecord, photoConsent: boolean): string {
  return hash('sha256', JSON.stringify([importerVersion, photoConsent, record]))
}
