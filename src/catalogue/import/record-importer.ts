import type { FieldProblem } from '../../kernel/errors.js'
import { minorUnitExponent, parseCurrencyCode } from '../../kernel/money.js'
import type { Notice } from '../../kernel/notice.js'
import type { LeftOut } from '../../kernel/project.js'
import type { OrganisationRecord, ProjectRecord } from '../../kernel/record.js'
import { givenOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'
import { giveNumbers } from '../sql/external-ids.js'
import { saveRecords } from '../sql/save-records.js'
import { isObject, type ParsedValue } from '../wire/read/parsed-value.js'
import { parseOrganisationRecord, parseProjectRecord } from '../wire/read/project-record.js'
import { clearFields } from './clear-fields.js'
import { keepExternalIds, resolveExternalIds } from './external-ids.js'
import * as type from './field-types.js'
import { type ClearedRow, type KindFields, type RowOf, readRow, shown } from './fields.js'
import { newestInstant, toHashedRecord } from './hashed-record.js'
import type { ImportSaving, Kind, RecordOutcome } from './kind.js'
import { importOrganisations } from './kinds/organisations.js'
import { toOutcomes } from './kinds/projects.js'
import type { RowMoney } from './receipt.js'
import { withoutUnseenSigns } from './unseen-signs.js'

/** A record that may be saved: rows of equal key are the same record. */
export type ReadRecord<Row> = {
  readonly row: Row
  readonly key: string
  /** What may stand once in a file. */
  readonly once: readonly [field: string, value: string]
  /** Whether it is only ever added: a later one of the same key does not replace it. */
  readonly isAdded?: boolean | undefined
  /** What the standard says of it, where it comes from an IATI file. */
  readonly moved?: MovedRecord
}

/** How many elements of a name became a field of the store, are kept as they are, were left out in part, or are held. */
export type ElementFate = { taken: number; kept: number; leftOut: number; held: number }

/** A record of an IATI file, as it will be published. */
export type MovedRecord = {
  readonly isActivity: boolean
  /** The errors for which it is held: an activity as a whole, of an organisation the element. */
  readonly notices: readonly Notice[]
  readonly left: readonly LeftOut[]
  readonly elements: ReadonlyMap<string, ElementFate>
}

type RecordRead<Row> = ReadRecord<Row> | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }

/** How records of one form and kind are read and saved; every kind of input ends here. */
export type RecordImporter<Row = unknown, Prepared = unknown> = {
  /** The kind, by the name that `--kind` has. */
  readonly kind: string
  readonly repeated: Kind['repeated']
  readonly together?: Kind['together']
  readonly known?: Pick<NonNullable<Kind['known']>, 'version' | 'isWhole'> | undefined
  /** A promise only where reading a record may take long. */
  read(value: ParsedValue, saving: ImportSaving): RecordRead<Row> | Promise<RecordRead<Row>>
  /** Of kinds with money: that of a row, and of a record that is refused or left out, where it can be read. */
  readonly money?: {
    of(row: Row, saving: ImportSaving): RowMoney
    read(value: ParsedValue, saving: ImportSaving): RowMoney | undefined
  }
  /** Adds to each row what depends on the whole batch; called once. */
  prepare(rows: readonly Row[], saving: ImportSaving): readonly Prepared[]
  save(db: Db, rows: readonly Prepared[], saving: ImportSaving): Promise<readonly RecordOutcome[]>
}

/** Rows of a kind, from CSV, where people write numbers, or from NDJSON. */
export function importerOfKind(kind: Kind, form: 'csv' | 'other'): RecordImporter<ClearedRow, ClearedRow> {
  const keyOf = (row: Readonly<Record<string, unknown>>) =>
    kind.key.map((name) => String(row[name] ?? (name === 'id' ? row.externalId : undefined) ?? '')).join(' ')
  const table = (kind.fields as KindFields).id?.numbers
  const { money } = kind
  const notationOf = (value: ParsedValue, { currency, zone = 'UTC', reading: how }: ImportSaving) => {
    const { decimal, date } = how
    const { currency: own } = isObject(value) ? value : {}
    const named = typeof own === 'string' ? parseCurrencyCode(own.trim().toUpperCase()) : undefined
    const hasThreeDecimals = minorUnitExponent(currency) >= 3
    return { decimal, date, hasThreeDecimals, zone: how.zone ?? zone, currency: named ?? currency }
  }
  return {
    kind: kind.name,
    repeated: kind.repeated,
    together: kind.together,
    known: kind.known,
    read: (value, saving) => {
      const { today, reading: how } = saving
      const { missing } = how
      const notation = notationOf(value, saving)
      const reading = readRow(kind.fields, value, { ...(form === 'csv' && { notation }), missing, today })
      const problems = 'problems' in reading ? reading.problems : (kind.check?.(reading.row, saving) ?? [])
      if ('row' in reading && problems.length === 0) {
        const key = keyOf(reading.row)
        const once = kind.once?.(reading.row) ?? [kind.key.join(' and '), key]
        return { row: reading, key, once, isAdded: kind.known?.isAdded(reading.row) }
      }
      const recordId = typeof value === 'object' && value !== null ? keyOf(value as Record<string, unknown>).trim() : ''
      return { problems, ...(recordId !== '' && { recordId: shown(recordId).got?.slice(0, 100) ?? '' }) }
    },
    ...(money && {
      money: {
        of: ({ row }, { currency }) => money.of(row, currency),
        read: (value, saving) => {
          if (!isObject(value)) return undefined
          const notation = form === 'csv' ? notationOf(value, saving) : undefined
          const row = Object.fromEntries(
            moneyMembers.map((name) => {
              const field = (kind.fields as KindFields)[name]
              const given = Object.hasOwn(value, name) ? value[name] : undefined
              const cell = typeof given === 'string' ? withoutUnseenSigns(given.trim()) : given
              return [name, cell === undefined || cell === '' ? undefined : field?.type.parse(cell, notation)]
            }),
          )
          const isWhole = row.amount !== undefined && row.currency !== undefined && row.date !== undefined
          return isWhole ? money.of(row as RowOf<KindFields>, saving.currency) : undefined
        },
      },
    }),
    prepare: (rows) => rows,
    save: async (db, read, saving) => {
      const resolved = await resolveExternalIds(db, kind.fields, read)
      const rows = resolved.flatMap((one) => ('row' in one ? [one] : []))
      const wanted = rows.map(({ row }) => row)
      const stored = await money?.stored(db, wanted, saving)
      const before = await stored?.()
      const saved = await clearFields(db, kind, rows, await kind.save(db, wanted, saving))
      const outcomes = await keepExternalIds(db, table, wanted, saved)
      if (stored && before) {
        const replaces = saved.some(
          (one) => (typeof one === 'object' && 'change' in one ? one.change : one) === 'changed',
        )
        saving.onMoved?.({ before, after: await stored(), replaces })
      }
      const byRow = new Map<unknown, RecordOutcome>(rows.map((row, index) => [row, outcomes[index] ?? 'unchanged']))
      return resolved.map((one) => ('row' in one ? (byRow.get(one) ?? 'unchanged') : one))
    },
  }
}

/** The fields that a sum needs. */
const moneyMembers = ['amount', 'currency', 'date', 'kind', 'settledAmount', 'reference']

/** A record of the wire format, with the platform's own ids of it and of the organisation in it. */
type Wire<Record> = { readonly record: Record; readonly externalId?: string; readonly organisation?: string }

function wireRecord<T extends { readonly id: number }>(
  record: T,
  externalId?: string,
  organisation?: string,
): ReadRecord<Wire<T>> {
  const key = externalId ?? String(record.id)
  const row: Wire<T> = { record, ...(externalId && { externalId }), ...(organisation && { organisation }) }
  return { row, key, once: ['id', key] }
}

/** Takes `externalId` out of an object. Uses a placeholder id until the record is saved, where it has no number of its own. */
function withNumber(value: ParsedValue): { readonly value: ParsedValue; readonly externalId?: string } {
  if (!isObject(value) || typeof value.externalId !== 'string') return { value }
  const { externalId, ...rest } = value
  if (type.externalId.parse(externalId) === undefined) return { value }
  return { value: rest.id === undefined ? { id: standIn, ...rest } : rest, externalId }
}

const standIn = '1'

/** Gives the records, and their organisations, the numbers of their ids; then `save`, then writes the ids of what was saved. */
async function saveNumbered<T extends { readonly id: number; readonly organisation?: { readonly id: number } }>(
  db: Db,
  table: 'project' | 'organisation',
  rows: readonly Wire<T>[],
  save: (records: readonly T[]) => Promise<readonly RecordOutcome[]>,
): Promise<readonly RecordOutcome[]> {
  const own = await giveNumbers(db, table, givenOfEach(rows, 'externalId'))
  const partners = await giveNumbers(db, 'organisation', givenOfEach(rows, 'organisation'))
  const records = rows.map(({ record, externalId, organisation }) => ({
    ...record,
    id: own.get(externalId ?? '') ?? record.id,
    ...(record.organisation && {
      organisation: { ...record.organisation, id: partners.get(organisation ?? '') ?? record.organisation.id },
    }),
  }))
  const outcomes = await keepExternalIds(
    db,
    table,
    rows.map(({ externalId }, index) => ({ id: records[index]?.id, externalId })),
    await save(records),
  )
  return await keepExternalIds(
    db,
    'organisation',
    rows.map(({ organisation }, index) => ({ id: records[index]?.organisation?.id, externalId: organisation })),
    outcomes,
  )
}

/** Newest instant on the batch's page. */
type KnownAt = { readonly knownAt: Date | undefined }

export const wireProjects: RecordImporter<Wire<ProjectRecord>, Wire<ProjectRecord> & KnownAt> = {
  kind: 'projects',
  repeated: 'last',
  read: (value, { today }) => {
    const { value: numbered, externalId } = withNumber(value)
    const partner = isObject(numbered) && numbered.organization ? withNumber(numbered.organization) : undefined
    const whole = partner?.externalId && isObject(numbered) ? { ...numbered, organization: partner.value } : numbered
    const reading = parseProjectRecord(whole, today)
    if ('record' in reading) return wireRecord(reading.record, externalId, partner?.externalId)
    return { ...reading, ...(externalId && { recordId: externalId.slice(0, 40) }) }
  },
  prepare: (rows) => {
    // A batch holds records of one file, hence of one page.
    const knownAt = newestInstant(rows.map(({ record }) => record))
    return rows.map((row) => ({ ...row, knownAt }))
  },
  save: async (db, rows, saving) =>
    await saveNumbered(db, 'project', rows, async (records) => {
      const hashed = records.map((record) => toHashedRecord(record, saving, rows[0]?.knownAt))
      const outcomes = toOutcomes(await saveRecords(db, hashed, saving))
      return records.map(({ id }) => outcomes.get(id) ?? 'unchanged')
    }),
}

export const wireOrganisations: RecordImporter<Wire<OrganisationRecord>, Wire<OrganisationRecord>> = {
  kind: 'organizations',
  repeated: 'last',
  read: (value) => {
    const { value: numbered, externalId } = withNumber(value)
    const reading = parseOrganisationRecord(numbered)
    if ('record' in reading) return wireRecord(reading.record, externalId)
    return { ...reading, ...(externalId && { recordId: externalId.slice(0, 40) }) }
  },
  prepare: (rows) => rows,
  save: async (db, rows, saving) =>
    await saveNumbered(db, 'organisation', rows, async (records) => {
      const outcomes = await importOrganisations(db, records, saving)
      return records.map(({ id }) => outcomes.get(id) ?? 'unchanged')
    }),
}
