import { randomUUID } from 'node:crypto'
import { type Clock, isoDateOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { RecordSource } from '../../kernel/record.js'
import { createYielder } from '../../kernel/yielder.js'
import { refuseOtherCurrency } from '../../money/sql/stated-totals.js'
import { isDataError } from '../../platform/database/connection.js'
import type { Store, Transact } from '../../platform/database/store.js'
import { type ImportSummary, ImportTally } from './import-summary.js'
import type { ImportSaving, RecordOutcome } from './kind.js'
import type { DecimalSign } from './number-notation.js'
import { BatchLimit } from './record-batches.js'
import { type ReadProgress, readRecords } from './record-files.js'
import type { ReadRecord, RecordImporter } from './record-importer.js'

/** How files are imported. */
export type ImportOptions = {
  readonly source: RecordSource
  readonly clock: Clock
  /** The platform's one currency; records do not name one. */
  readonly currency: CurrencyCode
  /** The kind that the files hold; absent: their names or contents tell. */
  readonly kind?: string | undefined
  /** The project of reports that do not name one. */
  readonly project?: number | undefined
  /** Rolls everything back at the end: the summary says what an import would do. */
  readonly dryRun?: boolean
  /**
   * Whether people shown on imported photos are known to agree to worldwide publication. Default false: being on the
   * platform's site does not prove it, and without consent a picture stays out of the feeds. A picture that an operator
   * has consented to keeps the consent while it stays the same picture.
   */
  readonly photoConsent?: boolean
  /** Whether records older than the stored ones are accepted. */
  readonly force?: boolean
  /** The decimal sign of the numbers in CSV; absent: numbers are plain, and those that may be read in two ways are refused. */
  readonly decimal?: DecimalSign | undefined
  /** How many problems of records the summary has; the default is 100. */
  readonly maxProblems?: number
  readonly onProgress?: (progress: ReadProgress & { readonly records: number }) => void
  /** An aborted import stops between two batches with `aborted`; what is saved stays. */
  readonly signal?: AbortSignal
}

type BatchEntry = { readonly file: string; readonly line: number; readonly record: ReadRecord }

/**
 * Imports files of the kinds in `kinds.ts`, in the form that their content has; `-` is standard input. Memory does not grow
 * with the files. Refused records and broken files are counted and listed in the summary, good records are kept. Throws
 * only for failures of the store, and `configuration-invalid` for another currency than before.
 */
export async function importFiles(
  store: Store,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const { source, currency, photoConsent = false, dryRun = false, force = false } = options
  const today = isoDateOf(options.clock())
  const saving: ImportSaving = {
    ...{ source, currency, photoConsent, today },
    keepNewer: !force,
    importId: randomUUID(),
    project: options.project,
    decimal: options.decimal,
  }
  await refuseOtherCurrency(store.db, source, currency)
  if (!dryRun) return await importAll((work) => store.transaction(work), files, saving, options)
  return await store.rehearsal((transact) => importAll(transact, files, saving, options))
}

async function importAll(
  transact: Transact,
  files: readonly string[],
  saving: ImportSaving,
  { signal, onProgress, kind, maxProblems = 100 }: ImportOptions,
): Promise<ImportSummary> {
  const tally = new ImportTally(maxProblems)
  const yieldIfDue = createYielder()
  for (const file of files) {
    // A map, so that the last of equal keys in a batch wins.
    let batch = new Map<string, BatchEntry>()
    let limit = new BatchLimit()
    let importer: RecordImporter | undefined
    const flush = async () => {
      if (signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
      if (importer && batch.size > 0) await saveBatch(transact, importer, [...batch.values()], saving, tally)
      batch = new Map()
      limit = new BatchLimit()
    }
    tally.beginFile()
    const tell = (progress: ReadProgress) => onProgress?.({ ...progress, records: tally.records })
    for await (const item of readRecords(file, kind, tell, signal)) {
      // Refused records are not saved, so saving does not yield to other work here.
      await yieldIfDue()
      if ('broken' in item) {
        tally.breakFile(file, item.broken)
        continue
      }
      importer = item.importer
      tally.records++
      const where = { file, line: item.line }
      const reading = 'problem' in item ? { problems: [item.problem] } : importer.read(item.value, saving)
      if ('problems' in reading) {
        const { problems, recordId } = { recordId: undefined, ...reading }
        tally.refuse({ ...where, ...(recordId !== undefined && { recordId }) }, problems)
        continue
      }
      if (batch.has(reading.key)) {
        if (importer.repeated === 'each') await flush()
        else if (batch.delete(reading.key)) tally.repeated++
      }
      batch.set(reading.key, { ...where, record: reading })
      if ('value' in item && limit.add(item.value)) await flush()
    }
    await flush()
  }
  return tally.summary()
}

/** Saves a batch in one transaction; when the database refuses it, each record in its own, to keep the good ones. */
async function saveBatch(
  transact: Transact,
  importer: RecordImporter,
  batch: readonly BatchEntry[],
  saving: ImportSaving,
  tally: ImportTally,
): Promise<void> {
  const read = batch.map(({ record }) => record.row)
  const rows = importer.prepare?.(read, saving) ?? read
  const save = (some: readonly unknown[]) => transact((db) => importer.save(db, some, saving))
  let outcomes: readonly RecordOutcome[]
  try {
    outcomes = await save(rows)
  } catch (error) {
    if (!isDataError(error)) throw error
    const single: RecordOutcome[] = []
    for (const row of rows) single.push(await save([row]).then(([outcome]) => outcome ?? 'unchanged', toProblem))
    outcomes = single
  }
  for (const [index, { file, line, record }] of batch.entries()) {
    const outcome = outcomes[index] ?? 'unchanged'
    const where = { file, recordId: record.key, line }
    if (typeof outcome === 'string') tally.count(outcome)
    else if ('field' in outcome) tally.refuse(where, [outcome])
    else {
      tally.count(outcome.change)
      tally.keep(where, outcome.kept)
    }
  }
}

/** The problem of a record that the database refuses. */
function toProblem(error: unknown): RecordOutcome {
  if (!isDataError(error)) throw error
  const got = error instanceof Error ? error.message : String(error)
  return { field: 'record', expected: 'a record that the database accepts', got }
}
