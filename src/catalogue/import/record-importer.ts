import type { FieldProblem } from '../../kernel/errors.js'
import { minorUnitExponent } from '../../kernel/money.js'
import type { HashedRecord, OrganisationRecord, ProjectRecord } from '../../kernel/record.js'
import type { Db } from '../../platform/database/connection.js'
import { saveRecords } from '../sql/save-records.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { parseOrganisationRecord, parseProjectRecord } from '../wire/read/project-record.js'
import { clearFields } from './clear-fields.js'
import { type ClearedRow, readRow, shown } from './fields.js'
import { newestInstant, toHashedRecord } from './hashed-record.js'
import type { ImportSaving, Kind, RecordOutcome } from './kind.js'
import { importOrganisations } from './kinds/organisations.js'
import { toOutcomes } from './kinds/projects.js'

/** A record that may be saved: rows of equal key are the same record. */
export type ReadRecord<Row> = {
  readonly row: Row
  readonly key: string
  /** What may stand once in a file. */
  readonly once: readonly [field: string, value: string]
}

/** How records of one form and kind are read and saved; every kind of input ends here. */
export type RecordImporter<Row = unknown, Prepared = unknown> = {
  /** The kind, by the name that `--kind` has. */
  readonly kind: string
  readonly repeated: Kind['repeated']
  read(
    value: ParsedValue,
    saving: ImportSaving,
  ): ReadRecord<Row> | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }
  /** Adds to each row what depends on the whole batch; called once. */
  prepare(rows: readonly Row[], saving: ImportSaving): readonly Prepared[]
  save(db: Db, rows: readonly Prepared[], saving: ImportSaving): Promise<readonly RecordOutcome[]>
}

/** Rows of a kind, from CSV, where people write numbers, or from NDJSON. */
export function importerOfKind(kind: Kind, form: 'csv' | 'other'): RecordImporter<ClearedRow, ClearedRow> {
  const keyOf = (row: Readonly<Record<string, unknown>>) => kind.key.map((name) => String(row[name] ?? '')).join(' ')
  return {
    kind: kind.name,
    repeated: kind.repeated,
    read: (value, saving) => {
      const { decimal, currency, missing, today } = saving
      const notation = { decimal, hasThreeDecimals: minorUnitExponent(currency) >= 3 }
      const reading = readRow(kind.fields, value, { ...(form === 'csv' && { notation }), missing, today })
      const problems = 'problems' in reading ? reading.problems : (kind.check?.(reading.row, saving) ?? [])
      if ('row' in reading && problems.length === 0) {
        const key = keyOf(reading.row)
        return { row: reading, key, once: kind.once?.(reading.row) ?? [kind.key.join(' and '), key] }
      }
      const recordId = typeof value === 'object' && value !== null ? keyOf(value as Record<string, unknown>).trim() : ''
      return { problems, ...(recordId !== '' && { recordId: shown(recordId).got?.slice(0, 40) ?? '' }) }
    },
    prepare: (rows) => rows,
    save: async (db, rows, saving) => {
      const read = rows.map(({ row }) => row)
      return await clearFields(db, kind, rows, await kind.save(db, read, saving))
    },
  }
}

function wireRecord<Row extends { readonly id: number }>(record: Row): ReadRecord<Row> {
  const key = String(record.id)
  return { row: record, key, once: ['id', key] }
}

/** Project records of the wire format. */
export const wireProjects: RecordImporter<ProjectRecord, HashedRecord> = {
  kind: 'projects',
  repeated: 'last',
  read: (value, { today }) => {
    const reading = parseProjectRecord(value, today)
    return 'problems' in reading ? reading : wireRecord(reading.record)
  },
  prepare: (records, saving) => {
    // A batch holds records of one file, hence of one page.
    const knownAt = newestInstant(records)
    return records.map((record) => toHashedRecord(record, saving, knownAt))
  },
  save: async (db, records, saving) => {
    const outcomes = toOutcomes(await saveRecords(db, records, saving))
    return records.map(({ record: { id } }) => outcomes.get(id) ?? 'unchanged')
  },
}

/** Organisation records of the wire format. */
export const wireOrganisations: RecordImporter<OrganisationRecord, OrganisationRecord> = {
  kind: 'organizations',
  repeated: 'last',
  read: (value) => {
    const reading = parseOrganisationRecord(value)
    return 'problems' in reading ? reading : wireRecord(reading.record)
  },
  prepare: (records) => records,
  save: async (db, records, saving) => {
    const outcomes = await importOrganisations(db, records, saving)
    return records.map(({ id }) => outcomes.get(id) ?? 'unchanged')
  },
}
