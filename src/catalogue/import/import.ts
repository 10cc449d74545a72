import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type Operator, recordAudit } from '../../accounts/sql/audit-events.js'
import { type Clock, isoDateIn } from '../../kernel/dates.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { RecordSource } from '../../kernel/record.js'
import { shownValue } from '../../kernel/values.js'
import { createYielder } from '../../kernel/yielder.js'
import { refuseOtherCurrency } from '../../money/sql/stated-totals.js'
import { type Db, isDataError } from '../../platform/database/connection.js'
import type { Store, Transact } from '../../platform/database/store.js'
import { findNumbers } from '../sql/external-ids.js'
import { type ImportLine, recordImportLines } from '../sql/import-lines.js'
import { beginImport, type ImportedFile, recordImport, undoImport, writeAsImport } from '../sql/imports.js'
import type { FileReading } from '../sql/reading.js'
import { type ImportReceipt, sumsOfStore } from '../sql/receipts.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { identifier, projectReference } from './field-types.js'
import type { FileRecord } from './file-record.js'
import { FirstLines } from './first-lines.js'
import { type ImportSummary, ImportTally } from './import-summary.js'
import type { ImportSaving, RecordOutcome } from './kind.js'
import { findKnownFile, markOf } from './known-files.js'
import { readingIn } from './reading.js'
import { hashOfReading, type RowMoney, type StoredMove, sumsOf } from './receipt.js'
import { BatchLimit } from './record-batches.js'
import { openFiles, type ReadableFile, type ReadProgress } from './record-files.js'
import type { ReadRecord, RecordImporter } from './record-importer.js'
import { RefusedRows } from './refused-rows.js'
import { refusedByDatabase } from './save-singly.js'

/** How files are imported. */
export type ImportOptions = {
  readonly source: RecordSource
  readonly clock: Clock
  /** The platform's one currency; records do not name one. */
  readonly currency: CurrencyCode
  /** The configured publisher; absent: not known. */
  readonly publisherRef?: string | undefined
  readonly publisherName?: string | undefined
  readonly publisherType?: string | undefined
  /** Earlier identifiers of the publisher: activities of IATI files may begin with them. */
  readonly formerly?: readonly string[] | undefined
  /** What the file `-` is; absent: standard input of the process. */
  readonly stdin?: Readable | undefined
  /** The kind that the files hold; absent: their names or contents tell. */
  readonly kind?: string | undefined
  /** The project of reports that do not name one. */
  readonly project?: string | undefined
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
  /** The time zone of days where the reading names none; absent: UTC. */
  readonly zone?: string | undefined
  /** How files are read that were not made for this program. */
  readonly reading?: FileReading | undefined
  /** Whether records that were seen before are written where the store differs from them. */
  readonly repair?: boolean
  /** Whether a known reference of a gift or payout with other values replaces what it said. */
  readonly correct?: boolean
  /** What a file is called that lies elsewhere than where it came from. */
  readonly shownAs?: string
  /** Where refused records are written, to be fixed and imported again. */
  readonly refusedTo?: string | undefined
  /** Who imports; absent: not known. */
  readonly operator?: Operator
  /**
   * Runs after all files, in the import's transactions; returns how many records it ended.
   */
  readonly ending?: (transact: Transact, saving: ImportSaving, summary: ImportSummary) => Promise<number>
  /** How many problems of records the summary has; the default is 100. */
  readonly maxProblems?: number
  readonly onProgress?: (progress: ReadProgress & { readonly records: number }) => void
  /** An aborted import stops between two batches with `aborted`; what is saved stays. */
  readonly signal?: AbortSignal
}

type BatchEntry<Row> = {
  readonly where: Place
  readonly record: ReadRecord<Row>
  readonly money: RowMoney | undefined
  /** That the same stands on an earlier line of the file. */
  readonly repeats?: FieldProblem | undefined
}

type Place = { readonly file: string; readonly line: number; readonly source: FileRecord['source'] }

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
  const { source, currency, project, dryRun = false } = options
  const saving: ImportSaving = {
    ...savingOf(options),
    project: project === undefined ? undefined : await numberOfProject(store.db, project),
  }
  await refuseOtherCurrency(store.db, source, currency)
  if (!dryRun) return await importAsRow(store, files, saving, options)
  return await store.rehearsal(async (transact) => {
    const summary = await importAll(transact, files, saving, options)
    return await withEnded(summary, transact, saving, options)
  })
}

/** How records are read and saved by these options. */
export function savingOf(options: ImportOptions): ImportSaving {
  const { source, currency, photoConsent = false, force = false, formerly } = options
  const reading = readingIn(options.reading ?? {}, currency)
  const { publisherRef, publisherName, publisherType } = options
  return {
    ...{ source, currency, photoConsent, publisherRef, publisherName, publisherType, formerly, reading },
    zone: options.zone,
    today: isoDateIn(reading.zone ?? options.zone ?? 'UTC', options.clock()),
    keepNewer: !force,
    importId: randomUUID(),
    repair: options.repair,
    correct: options.correct,
  }
}

async function withEnded(
  summary: ImportSummary,
  transact: Transact,
  saving: ImportSaving,
  { ending }: ImportOptions,
): Promise<ImportSummary> {
  const ended = (await ending?.(transact, saving, summary)) ?? 0
  return ended === 0 ? summary : { ...summary, changed: summary.changed + ended, ended }
}

const nobody: Operator = { actor: 'unknown', origin: 'unknown' }

/** Imports files as a row of its own, with which everything that they change is remembered. */
async function importAsRow(
  store: Store,
  files: readonly string[],
  saving: ImportSaving,
  options: ImportOptions,
): Promise<ImportSummary> {
  const { clock, operator = nobody } = options
  const id = await beginImport(store.db, operator, clock())
  const transact: Transact = (work) =>
    store.transaction(async (db) => {
      await writeAsImport(db, id)
      return await work(db)
    })
  const done: ImportedFile[] = []
  const read = await importAll(transact, files, saving, options, async (file, tally) => {
    done.push(file)
    await recordImport(store.db, id, { ...tally.summary(), files: done })
  }).catch(async (error: unknown) => {
    if (error instanceof Unbalanced) await takeBack(store, id, error, options)
    throw error
  })
  const summary = await withEnded(read, transact, saving, options)
  await store.transaction(async (db) => {
    await recordImport(db, id, { ...summary, files: done }, clock())
    const { created, changed, refused } = summary
    const details = { files: done.length, created, changed, refused }
    await recordAudit(db, { action: 'records-imported', subject: `import ${id}`, details, ...operator, at: clock() })
  })
  return { ...summary, import: id }
}

/** An import whose files, rows and sums in the store do not agree. */
class Unbalanced extends ServiceError {
  constructor(why: string) {
    super('internal', `the receipt does not balance, so nothing is written: ${why}`)
  }
}

/** Takes an import back whose receipt does not balance. Throws where something depends on it already. */
async function takeBack(store: Store, id: number, error: Unbalanced, options: ImportOptions): Promise<void> {
  const { clock, operator = nobody } = options
  await store.transaction(async (db) => {
    const undone = await undoImport(db, id, operator, clock())
    if ('obstacles' in undone)
      throw new ServiceError('internal', `${error.message}; import ${id} stays: giving imports undo ${id} says why`)
    await recordAudit(db, { action: 'import-undone', subject: `import ${id}`, ...operator, at: clock() })
  })
}

async function numberOfProject(db: Db, project: string): Promise<number> {
  const found = (await findNumbers(db, 'project', [project])).get(project) ?? identifier.parse(project)
  if (found !== undefined) return found
  throw new ServiceError(
    'input-unusable',
    `--project: expected ${projectReference.expected}, got ${shownValue(project)}`,
  )
}

async function importAll(
  transact: Transact,
  files: readonly string[],
  saving: ImportSaving,
  options: ImportOptions,
  onFile?: (file: ImportedFile, tally: ImportTally) => Promise<void>,
): Promise<ImportSummary> {
  const { kind, shownAs, refusedTo, maxProblems = 100 } = options
  const refusedRows = refusedTo === undefined ? undefined : new RefusedRows(refusedTo, files.length)
  const tally = new ImportTally(maxProblems, refusedRows)
  try {
    for (const opened of await openFiles(
      files,
      { kind, reading: saving.reading, stdin: options.stdin },
      options.signal,
    )) {
      tally.beginFile()
      const before = { ...tally.counts }
      const name = shownAs ?? opened.file
      const of =
        'broken' in opened
          ? tally.breakFile(name, opened.broken)
          : await takeFile(transact, opened, name, saving, tally, { ...options, refusedRows })
      await onFile?.({ name, ...of, ...tally.countsSince(before) }, tally)
    }
  } finally {
    await refusedRows?.abandon()
  }
  return { ...tally.summary(), receipt: await receiptOf(transact, tally, saving) }
}

/** Throws `internal` where the files, what became of their rows, and the store do not agree. */
async function receiptOf(transact: Transact, tally: ImportTally, { reading }: ImportSaving): Promise<ImportReceipt> {
  const { money } = tally
  const rows = tally.rows()
  const imbalance = money.imbalance(rows)
  if (imbalance !== undefined) throw new Unbalanced(imbalance)
  const months = [...new Set(money.movedKeys.map((key) => key.split(' ')[2] ?? ''))]
  const after = months.length === 0 ? [] : await transact((db) => sumsOfStore(db, months))
  const recipe = hashOfReading(reading)
  return {
    ...{ rows, sums: money.lines(sumsOf(after)), unreadable: money.unreadable },
    ...(rows.refused > 0 && { refusedBy: tally.refusedBy }),
    ...(recipe && { recipe }),
  }
}

type FileOptions = ImportOptions & { readonly refusedRows: RefusedRows | undefined }

/** Imports a file, or counts its records where it would change nothing. */
async function takeFile(
  transact: Transact,
  opened: ReadableFile,
  name: string,
  saving: ImportSaving,
  tally: ImportTally,
  options: FileOptions,
): Promise<Pick<ImportedFile, 'kind' | 'sha256' | 'mark'>> {
  const { kind } = opened.importer
  const mark = await markOf(transact, opened, saving)
  const known = mark && (await findKnownFile(transact, opened, mark, saving, options.signal))
  if (mark && known) {
    tally.countKnown(known.records)
    return { kind, sha256: known.sha256, mark }
  }
  const before = tally.remarks
  const isAdded = await importFile(transact, { ...opened, file: name }, saving, tally, options)
  return { kind, ...opened.hash(), ...(mark && isAdded && tally.remarks === before && { mark }) }
}

/** Imports the records of a file; returns whether all of them are such that are only ever added. */
async function importFile<Row, Prepared>(
  transact: Transact,
  { file, form, importer, records }: ReadableFile<Row, Prepared>,
  options: ImportSaving,
  tally: ImportTally,
  { signal, onProgress, refusedRows }: FileOptions,
): Promise<boolean> {
  refusedRows?.begin(file, form)
  const saving = { ...options, file }
  const yieldIfDue = createYielder()
  const firstLines = new FirstLines()
  let isAdded = true
  // A map, so that the last of equal keys in a batch wins.
  let batch = new Map<string, BatchEntry<Row>>()
  let limit = new BatchLimit(importer.together)
  // Remarks on the batch that is being read: they wait for the batch before it, so that all come in the order of the file.
  let found: (() => void)[] = []
  let saved = Promise.resolve()
  const finish = async (entries: readonly BatchEntry<Row>[], tell: readonly (() => void)[]) => {
    for (const one of tell) one()
    if (entries.length > 0) await saveBatch(transact, importer, entries, saving, tally)
    await refusedRows?.flush()
  }
  /** Begins to save the batch when the one before it is saved. */
  const flush = async () => {
    await saved
    if (signal?.aborted) throw new ServiceError('aborted', 'the import was interrupted')
    saved = finish([...batch.values()], found)
    // A failure is thrown where it is waited for.
    saved.catch(() => undefined)
    batch = new Map()
    found = []
    limit = new BatchLimit(importer.together)
  }
  try {
    for await (const item of records((progress) => onProgress?.({ ...progress, records: tally.counts.records }))) {
      // Refused records are not saved, so saving does not yield to other work here.
      await yieldIfDue()
      if ('broken' in item) {
        found.push(() => tally.breakFile(file, item.broken))
        continue
      }
      if ('remark' in item) {
        found.push(() => tally.note({ file, line: item.line, source: undefined }, item.remark))
        continue
      }
      if ('leftOut' in item) {
        tally.leaveOut(item.leftOut)
        settleUnread(tally, importer, item.value, 'leftOut', saving)
        continue
      }
      tally.counts.records++
      const where: Place = { file, line: item.line, source: item.source }
      const read = 'problem' in item ? { problems: [item.problem] } : importer.read(item.value, saving)
      const reading = read instanceof Promise ? await read : read
      if ('problems' in reading) {
        const { problems, recordId } = { recordId: undefined, ...reading }
        found.push(() => tally.refuse({ ...where, ...(recordId !== undefined && { recordId }) }, problems))
        settleUnread(tally, importer, 'value' in item ? item.value : undefined, 'refused', saving)
        if (limit.add('value' in item ? item.value : null)) await flush()
        continue
      }
      const { key, once } = reading
      const money = importer.money?.of(reading.row, saving)
      tally.money.read(money)
      isAdded &&= reading.isAdded ?? false
      const { notice } = 'value' in item ? item : {}
      if (notice) found.push(() => tally.note({ ...where, recordId: key }, notice))
      const earlier = firstLines.add(once.join(' '), item.line)
      const repeats = earlier === undefined ? undefined : repeatedProblem(once, earlier)
      if (repeats) tally.repeated++
      const replaced = batch.get(key)
      if (replaced && importer.repeated === 'each') await flush()
      else if (replaced) {
        batch.delete(key)
        tally.money.replaced++
        tally.money.settle('leftOut', replaced.money)
        found.push(() => tally.note({ ...replaced.where, recordId: key }, replaced.repeats))
      }
      batch.set(key, { where, record: reading, money, repeats })
      if ('value' in item && limit.add(item.value)) await flush()
    }
    await flush()
  } finally {
    await saved
  }
  await refusedRows?.end()
  return isAdded
}

/** Counts the money of a row that is refused or left out, where it can be read. */
function settleUnread<Row, Prepared>(
  tally: ImportTally,
  importer: RecordImporter<Row, Prepared>,
  value: ParsedValue | undefined,
  fate: 'refused' | 'leftOut',
  saving: ImportSaving,
): void {
  if (!importer.money) return
  const money = value === undefined ? undefined : importer.money.read(value, saving)
  if (!money) tally.money.unreadable++
  tally.money.read(money)
  tally.money.settle(fate, money)
}

/** What is said of a record that its file has already. */
export function repeatedProblem([field, value]: ReadRecord<unknown>['once'], earlier: number): FieldProblem {
  return { field, expected: `what stands on one line of a file; line ${earlier} has it too`, got: value.slice(0, 200) }
}

/** The lines of what was created or changed. */
function linesOf<Row>(batch: readonly BatchEntry<Row>[], saved: readonly RecordOutcome[]): ImportLine[] {
  return saved.flatMap((outcome, index) => {
    const entry = batch[index]
    const change = typeof outcome === 'object' && 'change' in outcome ? outcome.change : outcome
    if (!entry || (change !== 'created' && change !== 'changed')) return []
    return [{ key: entry.record.key, file: entry.where.file, line: entry.where.line }]
  })
}

/** Saves a batch in one transaction; when the database refuses it, its halves, to keep the good records. */
async function saveBatch<Row, Prepared>(
  transact: Transact,
  importer: RecordImporter<Row, Prepared>,
  batch: readonly BatchEntry<Row>[],
  saving: ImportSaving,
  tally: ImportTally,
): Promise<void> {
  const save = async (some: readonly Prepared[], from = 0): Promise<readonly RecordOutcome[]> => {
    const moves: StoredMove[] = []
    try {
      const outcomes = await transact(async (db) => {
        // A transaction may be tried again.
        moves.length = 0
        const saved = await importer.save(db, some, { ...saving, onMoved: (move) => moves.push(move) })
        // There are too many single gifts: their months name the import.
        if (importer.kind !== 'gifts') await recordImportLines(db, importer.kind, linesOf(batch.slice(from), saved))
        return saved
      })
      for (const move of moves) tally.money.move(move)
      return outcomes
    } catch (error) {
      if (some.length < 2) return [refusedByDatabase(error)]
      if (!isDataError(error)) throw error
      const half = Math.ceil(some.length / 2)
      return [...(await save(some.slice(0, half), from)), ...(await save(some.slice(half), from + half))]
    }
  }
  const read = batch.map(({ record }) => record.row)
  const outcomes = await save(importer.prepare(read, saving))
  for (const [index, { where: place, record, money, repeats }] of batch.entries()) {
    const outcome = outcomes[index] ?? 'unchanged'
    const where = { ...place, recordId: record.key }
    if (typeof outcome === 'object' && 'field' in outcome) {
      tally.refuse(where, repeats ? [outcome, repeats] : [outcome])
      tally.money.settle('refused', money)
    } else {
      tally.money.settle('taken', money, typeof outcome === 'string' ? outcome : outcome.change)
      tally.note(where, repeats)
      tally.countMoved(where, record.moved)
      if (typeof outcome === 'string') tally.count(outcome)
      else {
        tally.count(outcome.change)
        if ('kept' in outcome) tally.keep(where, outcome.kept)
        else tally.differ()
      }
    }
  }
}
