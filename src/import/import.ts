import { type Clock, isoDateOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import type { CurrencyCode } from '../domain/money.js'
import type { ProjectRecord, RecordSource, SaveOptions } from '../domain/record.js'
import { saveRecords } from '../store/catalogue/save-records.js'
import { isDataError } from '../store/database/connection.js'
import { refuseOtherCurrency } from '../store/donations/stated-totals.js'
import type { Store } from '../store/store.js'
import { parseProjectRecord } from '../wire/read/project-record.js'
import { newestInstant, toHashedRecord } from './hashed-record.js'
import { type ImportSummary, ImportTally } from './import-summary.js'
import { BatchLimit } from './record-batches.js'
import { type ReadProgress, readRecords } from './record-files.js'
import { saveSingly } from './save-singly.js'

/** How files are imported. */
export type ImportOptions = {
  readonly source: RecordSource
  readonly clock: Clock
  /** The platform's one currency; records do not name one. */
  readonly currency: CurrencyCode
  /**
   * Whether people shown on imported photos are known to agree to worldwide publication. Default false: being on the
   * platform's site does not prove it, and without consent a picture stays out of the feeds. A picture that an operator
   * has consented to keeps the consent while it stays the same picture.
   */
  readonly photoConsent?: boolean
  readonly onProgress?: (progress: ReadProgress & { readonly records: number }) => void
  /** An aborted import stops between two batches with `aborted`; what is saved stays. */
  readonly signal?: AbortSignal
}

type BatchEntry = { readonly file: string; readonly line: number; readonly record: ProjectRecord }

/**
 * Imports project pages in the wire format, XML or JSON by their content, `-` for standard input, in memory that does not
 * grow with the files. Refused records and broken files are counted and listed in the summary, good records are kept.
 * Throws only for failures of the store, and `configuration-invalid` for another currency than before.
 */
export async function importFiles(
  store: Store,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const { source, currency, photoConsent = false, signal } = options
  const saving: SaveOptions = { source, currency, photoConsent, today: isoDateOf(options.clock()) }
  await refuseOtherCurrency(store.db, source, currency)
  const tally = new ImportTally()
  for (const file of files) {
    // A map, so that the last of equal ids in a batch wins.
    let batch = new Map<number, BatchEntry>()
    const limit = new BatchLimit()
    const flush = async () => {
      if (signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
      if (batch.size > 0) await saveBatch(store, batch, saving, tally)
      batch = new Map()
    }
    tally.beginFile()
    for await (const item of readRecords(file, (progress) =>
      options.onProgress?.({ ...progress, records: tally.records }),
    )) {
      if ('broken' in item) {
        tally.breakFile(file, item.broken)
        continue
      }
      tally.records++
      const where = { file, line: item.line }
      const reading = 'problem' in item ? { problems: [item.problem] } : parseProjectRecord(item.value)
      if ('problems' in reading) {
        const { problems, recordId } = reading
        tally.refuse({ ...where, ...(recordId !== undefined && { recordId }) }, problems)
        continue
      }
      const { record } = reading
      if (batch.delete(record.id)) tally.repeated++
      batch.set(record.id, { ...where, record })
      if ('value' in item && limit.add(item.value)) await flush()
    }
    await flush()
  }
  return tally.summary()
}

async function saveBatch(
  store: Store,
  batch: ReadonlyMap<number, BatchEntry>,
  options: SaveOptions,
  tally: ImportTally,
): Promise<void> {
  const read = [...batch.values()].map(({ record }) => record)
  // A batch holds records of one file, hence of one page.
  const knownAt = newestInstant(read)
  const records = read.map((record) => toHashedRecord(record, options, knownAt))
  const outcome = await store
    .transaction((db) => saveRecords(db, records, options))
    .catch(async (error: unknown) => {
      if (!isDataError(error)) throw error
      return await saveSingly(store, records, options)
    })
  tally.write(outcome)
  const whereIs = (id: number) => {
    const entry = batch.get(id)
    return entry && { file: entry.file, recordId: String(id), line: entry.line }
  }
  for (const { id, problem } of outcome.refused) {
    const where = whereIs(id)
    if (where) tally.refuse(where, [problem])
  }
  for (const { id, problem } of outcome.kept) {
    const where = whereIs(id)
    if (where) tally.keep(where, problem)
  }
}
