import { type Clock, earlier, type IsoDate, isoDateOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import type { CurrencyCode } from '../domain/money.js'
import type { HashedRecord, ProjectRecord, RecordSource, SaveOptions } from '../domain/record.js'
import { type SaveOutcome, saveRecords } from '../store/catalogue/save-records.js'
import { isDataError } from '../store/database/connection.js'
import { refuseOtherCurrency } from '../store/donations/stated-totals.js'
import type { Store } from '../store/store.js'
import { parseProjectRecord } from '../wire/read/project-record.js'
import { type ImportProblem, type ImportSummary, ImportTally } from './import-summary.js'
import { BatchLimit } from './record-batches.js'
import { type ReadProgress, readRecords } from './record-files.js'
import { recordHash } from './record-hash.js'

/** How files are imported. */
export type ImportOptions = {
  readonly source: RecordSource
  readonly clock: Clock
  /** The platform's one currency: records name none. */
  readonly currency: CurrencyCode
  /**
   * Whether people shown on imported photos are known to agree to worldwide publication. Default false: that a picture
   * is on the platform's site does not say so, and without consent it stays out of the feeds. Pictures that an operator
   * has consented to keep their consent while they stay the same picture.
   */
  readonly photoConsent?: boolean
  readonly onProgress?: (progress: ReadProgress & { readonly records: number }) => void
  /** Between two batches, an aborted import stops with `aborted`; what is written stays. */
  readonly signal?: AbortSignal
}

type BatchEntry = { readonly file: string; readonly line: number; readonly hashed: HashedRecord }

/**
 * Imports project pages in the wire format, XML or JSON by their content, `-` for standard input. Streams: memory does
 * not grow with the files. Bad records and broken files are counted and told in the summary, good records are kept;
 * throws only for failures of the store and `configuration-invalid` for another currency than before.
 */
export async function importFiles(
  store: Store,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const today = isoDateOf(options.clock())
  const write: SaveOptions = {
    source: options.source,
    currency: options.currency,
    photoConsent: options.photoConsent ?? false,
    today,
  }
  await refuseOtherCurrency(store.db, write.source, write.currency)
  const tally = new ImportTally()
  for (const file of files) {
    // A map, so that of a record repeated within a batch the last one wins.
    let batch = new Map<number, BatchEntry>()
    const limit = new BatchLimit()
    const flush = async () => {
      if (options.signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
      if (batch.size > 0) await writeBatch(store, [...batch.values()], write, tally)
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
        tally.refuse(
          { ...where, ...(reading.recordId !== undefined && { recordId: reading.recordId }) },
          reading.problems,
        )
        continue
      }
      const { record } = reading
      if (batch.delete(record.id)) tally.repeated++
      const hash = recordHash(record, write.photoConsent)
      batch.set(record.id, { ...where, hashed: { record, hash, cumulativeTo: cumulativeTo(record, today) } })
      if ('value' in item && limit.add(item.value)) await flush()
    }
    await flush()
  }
  return tally.summary()
}

/** The day a stated total is cumulative to: never later than today, whatever the record claims. */
export function cumulativeTo(record: ProjectRecord, today: IsoDate): IsoDate {
  const stated = record.modifiedDate ?? record.approvedDate
  return stated === undefined ? today : earlier(isoDateOf(stated), today)
}

/** Writes a batch in one transaction; when the database refuses its data, record by record, to keep the good ones. */
async function writeBatch(
  store: Store,
  batch: readonly BatchEntry[],
  options: SaveOptions,
  tally: ImportTally,
): Promise<void> {
  let outcome: SaveOutcome
  try {
    outcome = await store.transaction((db) =>
      saveRecords(
        db,
        batch.map(({ hashed }) => hashed),
        options,
      ),
    )
  } catch (error) {
    if (!isDataError(error)) throw error
    const [only] = batch
    if (batch.length === 1 && only) {
      const got = error instanceof Error ? error.message : String(error)
      tally.refuse(place(only), [{ field: 'record', expected: 'a record that the database accepts', got }])
      return
    }
    for (const entry of batch) await writeBatch(store, [entry], options, tally)
    return
  }
  tally.write(outcome)
  for (const { id, problem } of outcome.refused) {
    const entry = batch.find(({ hashed }) => hashed.record.id === id)
    if (entry) tally.refuse(place(entry), [problem])
  }
}

function place(entry: BatchEntry): Omit<ImportProblem, 'field' | 'expected' | 'got'> {
  return { file: entry.file, recordId: String(entry.hashed.record.id), line: entry.line }
}
