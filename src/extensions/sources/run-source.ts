import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Operator } from '../../accounts/sql/audit-events.js'
import { type ImportOptions, importFiles, savingOf } from '../../catalogue/import/import.js'
import type { ImportSummary } from '../../catalogue/import/import-summary.js'
import type { ImportSaving } from '../../catalogue/import/kind.js'
import { sumsByKind } from '../../catalogue/import/receipt.js'
import { openFiles } from '../../catalogue/import/record-files.js'
import { toText } from '../../catalogue/import/refused-rows.js'
import {
  addToReading,
  adoptReading,
  claimSource,
  clearReading,
  compareReading,
  type Difference,
  differingKeys,
  findSource,
  type HeldFile,
  holdFile,
  type KnownFile,
  listKnownFiles,
  lockOwnSource,
  missingRecords,
  recordFile,
  releaseSource,
  renewSource,
  type SaidRecord,
  type Source,
  type SourceDefinition,
  type SourceLease,
  type SourceOutcome,
  saveSource,
} from '../../catalogue/sql/import-sources.js'
import { findImport } from '../../catalogue/sql/imports.js'
import type { ImportReceipt } from '../../catalogue/sql/receipts.js'
import type { Clock } from '../../kernel/dates.js'
import { type ErrorCode, ServiceError, toServiceError } from '../../kernel/errors.js'
import { createYielder } from '../../kernel/yielder.js'
import type { Config } from '../../platform/config/config.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store, Transact } from '../../platform/database/store.js'
import { writeWhole } from '../../platform/files/whole-file.js'
import { underLease } from '../../work/attempt.js'
import { nextDue } from '../../work/schedule.js'
import { readPlace } from './definition.js'
import { endRecords, keyOfRecord } from './end-missing.js'
import { openFolder } from './folder-place.js'
import { openHttps } from './https-place.js'
import { type PlaceDeps, type PlaceFile, placeLimits, type SourcePlace } from './place.js'
import { openS3 } from './s3-place.js'
import { openPlace, type SourceKeys, sealStoredPlaces, shownPlace } from './sealed-place.js'
import { openSftp } from './sftp-place.js'
import { describeHeldFile } from './source-needs.js'

export type SourceDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly config: Pick<Config, 'currency' | 'reportingOrg' | 'dataDir' | 'allowPrivateNetworks' | 'publish'>
  readonly operator: Operator
  /** Names this process among those that work on sources. */
  readonly owner: string
  /** What addresses are kept with. */
  readonly keys: SourceKeys
  readonly signal: AbortSignal
  readonly limits?: Partial<typeof placeLimits>
  /** Where refused records are written, of several files each into one of its own; and how many problems are told. */
  readonly telling?: Pick<ImportOptions, 'refusedTo' | 'maxProblems'> | undefined
}

/** What became of a source. */
export type SourceResult = {
  readonly name: string
  readonly outcome: SourceOutcome
  readonly message: string
  readonly imports: readonly ImportSummary[]
  readonly held?: HeldFile
}

// The records of a batch that is compared, and how many are named of a file that is held.
const batchRecords = 1000
const shownRecords = 10
const endedAtOnce = 100
// A process that renews nothing for so long counts as dead.
const leaseSeconds = 60

/** When a source with this schedule is due next. */
export function nextDueOf({ schedule }: Pick<SourceDefinition, 'schedule'>, timezone: string, after: Date): Date {
  return nextDue({ expression: schedule, timezone }, after)
}

/** Reads each source that is due, one after the other. Returns what became of them. */
export async function runDueSources(deps: SourceDeps): Promise<SourceResult[]> {
  const results: SourceResult[] = []
  // What earlier versions have stored in clear.
  if (deps.keys.isShared) await sealStoredPlaces(deps.store.db, deps.keys)
  for (;;) {
    deps.signal.throwIfAborted()
    const source = await claimSource(deps.store.db, leaseOf(deps), { dueAt: deps.clock() })
    if (!source) return results
    const result = await runClaimed(deps, source)
    if (result) results.push(result)
  }
}

/** Reads a source now. Throws `not-found` and `server-busy`. */
export async function runSource(deps: SourceDeps, name: string): Promise<SourceResult> {
  const source = await claimSource(deps.store.db, leaseOf(deps), { name })
  const result = source && (await runClaimed(deps, source))
  if (result) return result
  const isKnown = (await findSource(deps.store.db, name)) !== undefined
  throw isKnown
    ? new ServiceError('server-busy', `another process works on the source ${name}`)
    : new ServiceError('not-found', `there is no source ${name}: see giving sources list`)
}

function leaseOf({ owner }: SourceDeps): SourceLease {
  return { owner, seconds: leaseSeconds }
}

/** Reads a source that this process has claimed; undefined when another one has taken it over. */
async function runClaimed(deps: SourceDeps, source: Source): Promise<SourceResult | undefined> {
  const { store, clock, owner } = deps
  const lease = leaseOf(deps)
  const renew = () => renewSource(store.db, source.name, lease)
  let result: SourceResult | undefined
  try {
    result = await underLease({ lease, renew, signal: deps.signal }, (signal) =>
      readSource({ ...deps, signal }, source),
    )
  } catch (error) {
    // Another process goes on, now or when it can reach the database.
    await releaseSource(store.db, source.name, owner).catch(() => undefined)
    throw error
  }
  if (!result) return undefined
  const at = clock()
  await releaseSource(store.db, source.name, owner, {
    ...{ at, outcome: result.outcome, message: result.message.slice(0, 1000) },
    nextDue: nextDueOf(source, deps.config.publish.timezone, at),
    import: result.imports.at(-1)?.import,
  })
  return result
}

/** Reads the files of a source that are not known, in their order, until one of them fails or is held. */
async function readSource(deps: SourceDeps, source: Source): Promise<SourceResult> {
  const { store, signal } = deps
  const imports: ImportSummary[] = []
  const end = (outcome: SourceOutcome, last: string, held?: HeldFile): SourceResult => {
    const message = [...imports.map(describeImport), last].filter(Boolean).join('; ')
    return { name: source.name, outcome, message, imports, ...(held && { held }) }
  }
  try {
    await using place = await placeOf(deps, source)
    const known = await listKnownFiles(store.db, source.name)
    const files = filesToRead(await place.list(), source)
    const passed: string[] = []
    for (const file of files) {
      const done = await readFile(tellingOf(deps, file, files), source, place, file, known)
      if ('held' in done) return end('held', [...passed, describeHeldFile(done.held)].join('; '), done.held)
      if ('imported' in done) imports.push(done.imported)
      if ('passed' in done) passed.push(done.passed)
    }
    const last =
      imports.length > 0 && source.import !== undefined ? await findImport(store.db, source.import) : undefined
    passed.unshift(...comparedSums(imports, last?.receipt))
    // What was held is no longer there.
    if (source.held) await holdFile(store.db, source.name, null)
    const message = [imports.length === 0 ? 'nothing new' : '', ...passed].filter(Boolean).join('; ')
    return end(imports.length === 0 ? 'unchanged' : 'imported', message)
  } catch (error) {
    if (signal.aborted) throw new ServiceError('aborted', 'the work on the source was interrupted', { cause: error })
    const failure = toServiceError(error)
    if (retryable.has(failure.code)) throw error
    return end('failed', failure.message)
  }
}

const retryable: ReadonlySet<ErrorCode> = new Set(['database-unavailable', 'aborted', 'internal'])

/** The files that the source names, in their order; of a complete one only the newest counts, and none that no reader knows. */
function filesToRead(
  files: readonly PlaceFile[],
  { complete, reading: { names } }: SourceDefinition,
): readonly PlaceFile[] {
  const wanted = files
    .filter(({ name }) => names === undefined || isNamed(name, names))
    .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  if (!complete) return wanted
  const known = wanted.filter(({ name }) => names !== undefined || hasKnownName(name))
  return (known.length > 0 ? known : wanted).slice(-1)
}

/** What names are ordered by: numbers by their value, `9` before `10`, and days by the calendar, `30.11.2026` before `1.12.2026`. */
function orderOf({ name }: PlaceFile): string {
  return name
    .replace(/(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/g, '$3.$2.$1')
    .replace(/\d+/g, (digits) => digits.padStart(20, '0'))
}

/** Whether a name is one of `*.csv,*.txt`, in any letter case. */
function isNamed(name: string, patterns: string): boolean {
  return patterns.split(',').some((pattern) => isLike(name.toLowerCase(), pattern.trim().toLowerCase()))
}

/** `*` stands for any signs, `?` for one. */
function isLike(name: string, pattern: string): boolean {
  const [sign] = pattern
  if (sign === undefined) return name === ''
  if (sign === '*') return isLike(name, pattern.slice(1)) || (name !== '' && isLike(name.slice(1), pattern))
  return name !== '' && (sign === '?' || sign === name[0]) && isLike(name.slice(1), pattern.slice(1))
}

/** Whether a name is one of files with records, or of spreadsheets, which are never passed over. */
function hasKnownName(name: string): boolean {
  return /^[^.]*$|\.(?:csv|tsv|txt|json|ndjson|jsonl|xml|atom|rss|gz|zip|xlsx?|ods|numbers)$/i.test(name)
}

/** Of several files each has a file of its own for its refused records, named after both. */
function tellingOf(deps: SourceDeps, { name }: PlaceFile, files: readonly PlaceFile[]): SourceDeps {
  const { refusedTo } = deps.telling ?? {}
  if (refusedTo === undefined || files.length === 1) return deps
  const own = path.join(path.dirname(refusedTo), `${path.basename(name)}.${path.basename(refusedTo)}`)
  return { ...deps, telling: { ...deps.telling, refusedTo: own } }
}

async function placeOf(deps: SourceDeps, source: SourceDefinition): Promise<SourcePlace> {
  const { config, signal } = deps
  const { allowPrivateNetworks } = config
  const placeDeps: PlaceDeps = { source, allowPrivateNetworks, signal, limits: { ...placeLimits, ...deps.limits } }
  const place = readPlace(openPlace(source.from, deps.keys.known))
  if (place === undefined)
    throw new ServiceError('input-unusable', `${shownPlace(source.from)} is no place that can be read`)
  if (place.form === 'folder') return await openFolder(place.path, placeDeps)
  if (place.form === 's3') return await openS3(place.location, placeDeps)
  if (place.form === 'sftp') return await openSftp(place.url, placeDeps)
  return await openHttps(place.url, placeDeps)
}

type Done =
  | { readonly known: true }
  | { readonly imported: ImportSummary }
  | { readonly held: HeldFile }
  | { readonly passed: string }

/** Fetches a file, compares it with what the source has said, and imports it unless it is known or held. */
async function readFile(
  deps: SourceDeps,
  source: Source,
  place: SourcePlace,
  { name, version }: PlaceFile,
  known: ReadonlyMap<string, KnownFile>,
): Promise<Done> {
  const { store, clock } = deps
  const own = createOwn(deps, source)
  const settled = settledFile(known.get(name))
  const content = await place.open({ name, version }, settled?.version)
  if (!content) return { known: true }
  // What a process that died has left there is in nobody's way: the lease is ours.
  const folder = path.join(deps.config.dataDir, 'sources', source.name)
  return await withFetched(folder, name, content.chunks, async (file, sha256) => {
    const { version: seen } = content
    const dealtWith = { name, sha256, refused: 0, ...(seen !== undefined && { version: seen }) }
    if (settled?.sha256 === sha256) {
      await own((db) => recordFile(db, source.name, dealtWith, clock()))
      return { known: true }
    }
    // What a process that died had read of a file.
    await own((db) => clearReading(db, source.name))
    const take = (batch: readonly SaidRecord[]) => own((db) => addToReading(db, source.name, batch))
    const taken = await passingOver(source, place, name, () => readRecords(deps, source, { file, name }, take))
    if ('passed' in taken) {
      await own((db) => recordFile(db, source.name, dealtWith, clock()))
      return taken
    }
    const { refused, ending } = taken
    const difference = guarded(source, await own((db) => compareReading(db, source.name, name)))
    const isApproved = source.held?.approved === true && source.held.sha256 === sha256
    const isCut = mayBeCut(ending, known)
    if ((isTooMuch(source, difference) || isCut) && !isApproved) {
      const examples = await differingKeys(store.db, source.name, source.complete, shownRecords)
      const since = source.held?.sha256 === sha256 ? source.held.since : clock().toISOString()
      const held: HeldFile = {
        file: name,
        sha256,
        ...difference,
        ...(isCut && { ending }),
        since,
        examples: examples.map(shownKey),
        money: await heldMoney(deps, source, file, sha256),
      }
      await own(async (db) => {
        await holdFile(db, source.name, held)
        await clearReading(db, source.name)
      })
      return { held }
    }
    // A record that cannot be read may be one that seems to be missing.
    const ends = source.complete && refused === 0
    const summary = await importFiles(store, [file], {
      ...importOptionsOf(deps, source),
      shownAs: shownName(source, name),
      ...(ends && { ending: endingOf(deps, source) }),
    })
    await own(async (db) => {
      await adoptReading(db, source.name, name, ends)
      const refused = summary.refused + summary.brokenFiles
      await recordFile(db, source.name, { ...dealtWith, refused, ending }, clock())
      await holdFile(db, source.name, null)
    })
    return { imported: summary }
  })
}

/** What a file that is held would do to the money of its months; what is known of the same file is not found out again. */
async function heldMoney(
  deps: SourceDeps,
  source: Source,
  file: string,
  sha256: string,
): Promise<NonNullable<HeldFile['money']>> {
  if (source.held?.sha256 === sha256 && source.held.money) return source.held.money
  const { refusedTo: _, ...options } = importOptionsOf(deps, source)
  const { receipt } = await importFiles(deps.store, [file], { ...options, dryRun: true })
  return (receipt ? sumsByKind(receipt) : []).flatMap(({ currency, kind, before, after }) =>
    before === undefined || after === undefined || before === after ? [] : [{ currency, kind, before, after }],
  )
}

/** Works in transactions in which the source is still this process's. */
function createOwn({ store, owner }: SourceDeps, { name }: Source) {
  return <T>(work: (db: Db) => Promise<T>): Promise<T> =>
    store.transaction(async (db) => {
      await lockOwnSource(db, name, owner)
      return await work(db)
    })
}

/** Reads a file of a folder, or tells that no reader knows it: what programs leave in folders is no reason to stop. */
async function passingOver<T extends object>(
  { reading: { names } }: SourceDefinition,
  { isFolder }: SourcePlace,
  name: string,
  read: () => Promise<T>,
): Promise<T | { readonly passed: string }> {
  try {
    return await read()
  } catch (error) {
    const isStranger = isFolder && names === undefined && !hasKnownName(name)
    if (!isStranger || toServiceError(error).code !== 'input-unusable') throw error
    return { passed: `${name} is passed over, since it is no file of records` }
  }
}

/** Whether nothing tells that a file is whole, and the file of this source before it ended otherwise. */
function mayBeCut(ending: string, known: ReadonlyMap<string, KnownFile>): boolean {
  if (ending === '') return false
  const before = [...known.values()].findLast((file) => file.ending !== undefined)
  return before?.ending !== ending
}

/** The file as it was read; one with refused records may be good by now, since what they refer to may have come. */
function settledFile(known: KnownFile | undefined): KnownFile | undefined {
  return known?.refused === 0 ? known : undefined
}

/** What a file would do now. */
type Tried =
  | {
      readonly file: string
      /** How it differs from what the source has said, and whether it would be held for that. */
      readonly difference?: Difference & { readonly held: boolean }
      readonly summary: ImportSummary
      /** Why nothing of it would be imported, nor of the files after it. */
      readonly failure?: string
    }
  | { readonly file: string; readonly passed: string }

/** What a source would do now, without doing it: of each file that is not known, what an import of it would do. */
export async function trySource(deps: SourceDeps, source: SourceDefinition): Promise<Tried[]> {
  const { store, config } = deps
  const stored = await findSource(store.db, source.name)
  // Another definition has files read again.
  const known = await store.rehearsal((transact) =>
    transact(async (db) => {
      if (stored) await saveSource(db, source, stored.nextDue)
      return await listKnownFiles(db, source.name)
    }),
  )
  const compare = async (name: string, file: string) =>
    await store.rehearsal((transact) =>
      transact(async (db) => {
        const { ending } = await readRecords(deps, source, { file, name }, async (batch) => {
          if (stored) await addToReading(db, source.name, batch)
        })
        const isCut = mayBeCut(ending, known)
        const of = stored ? await compareReading(db, source.name, name) : { ofFile: nothing, ofSource: nothing }
        if (!stored && !isCut) return {}
        const difference = guarded(source, of)
        return { difference: { ...difference, held: isTooMuch(source, difference) || isCut } }
      }),
    )
  const nothing: Difference = { before: 0, changed: 0, gone: 0 }
  const tried: Tried[] = []
  await using place = await placeOf(deps, source)
  const files = filesToRead(await place.list(), source)
  for (const { name, version } of files) {
    const content = await place.open({ name, version }, settledFile(known.get(name))?.version)
    if (!content) continue
    const folder = path.join(config.dataDir, 'sources', `.${randomUUID()}`)
    const one = await withFetched(folder, name, content.chunks, async (file) => {
      let compared: Awaited<ReturnType<typeof compare>> | { readonly passed: string } | { readonly failure: string }
      try {
        compared = await passingOver(source, place, name, () => compare(name, file))
      } catch (error) {
        const { code, message } = toServiceError(error)
        if (code !== 'input-unusable') throw error
        compared = { failure: message }
      }
      if ('passed' in compared) return { file: name, passed: compared.passed }
      const options = importOptionsOf(tellingOf(deps, { name }, files), source)
      const summary = await importFiles(store, [file], { ...options, shownAs: shownName(source, name), dryRun: true })
      return { file: name, summary, ...compared }
    })
    tried.push(one)
    if ('failure' in one) break
  }
  return tried
}

/** Fetches a file and gives it to `work`; afterwards it is gone. */
async function withFetched<T>(
  folder: string,
  name: string,
  chunks: AsyncIterable<Buffer>,
  work: (file: string, sha256: string) => Promise<T>,
): Promise<T> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const file = path.join(folder, name.replace(/[^\w.-]/g, '_').slice(-100))
    const { hash } = await writeWhole(file, chunks, { isPrivate: true })
    return await work(file, hash.replace('sha256:', ''))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A file by where it came from. */
function shownName(source: SourceDefinition, file: string): string {
  return `${source.name}: ${file}`
}

function importOptionsOf(deps: SourceDeps, { kind, reading }: SourceDefinition): ImportOptions {
  const { clock, config, operator, signal, telling } = deps
  const { currency, reportingOrg, publish } = config
  const { correct, photoConsent, names: _names, ...how } = reading
  return {
    ...{ source: 'import', clock, currency, publisherRef: reportingOrg.ref, operator, signal, kind, reading: how },
    zone: publish.timezone,
    ...(correct && { correct }),
    ...(photoConsent && { photoConsent }),
    ...telling,
  }
}

/**
 * Reads all records of a file before any is imported, so that nothing of a broken one is. Throws `input-unusable` for a
 * file that is broken, or of which no record can be read.
 */
async function readRecords(
  deps: SourceDeps,
  source: SourceDefinition,
  { file, name }: { readonly file: string; readonly name: string },
  take: (batch: readonly SaidRecord[]) => Promise<void>,
): Promise<{ readonly records: number; readonly refused: number; readonly ending: string }> {
  const options = importOptionsOf(deps, source)
  const saving = savingOf(options)
  const yieldIfDue = createYielder()
  const [opened] = await openFiles([file], { kind: source.kind, reading: saving.reading }, deps.signal)
  if (!opened || 'broken' in opened) throw unusable(name, opened?.broken ?? 'an empty file')
  let [records, refused, firstProblem, ending] = [0, 0, '', '']
  let batch: SaidRecord[] = []
  for await (const item of opened.records(() => undefined)) {
    await yieldIfDue()
    if ('broken' in item) throw unusable(name, item.broken)
    if ('remark' in item) continue
    ending = item.ending ?? ending
    if ('leftOut' in item) continue
    records++
    const read = 'problem' in item ? { problems: [item.problem] } : await opened.importer.read(item.value, saving)
    if ('problems' in read || 'problem' in item) {
      refused++
      const [problem] = 'problems' in read ? read.problems : []
      if (problem) firstProblem ||= `line ${item.line}, ${toText(problem)}`
      continue
    }
    const members = Object.entries(item.value as object).sort(([one], [other]) => (one < other ? -1 : 1))
    const content = JSON.stringify(Object.fromEntries(members))
    batch.push({ key: keyOfRecord(opened.importer.kind, read), content, formerly: JSON.stringify(item.value) })
    if (batch.length < batchRecords) continue
    await take(batch)
    batch = []
  }
  if (batch.length > 0) await take(batch)
  if (records > 0 && refused === records) {
    throw unusable(name, `none of ${records} records can be read: ${firstProblem}`)
  }
  return { records, refused, ending }
}

function unusable(name: string, reason: string): ServiceError {
  return new ServiceError('input-unusable', `${name}: ${reason}`)
}

/**
 * What counts of a difference: what differs from all that the source has said, unless only that from the file's last version
 * is too much. A source that is not complete takes nothing away.
 */
function guarded(
  source: SourceDefinition,
  { ofFile, ofSource }: Awaited<ReturnType<typeof compareReading>>,
): Difference {
  const counted = (one: Difference) => (source.complete ? one : { ...one, gone: 0 })
  const [file, all] = [counted(ofFile), counted(ofSource)]
  return isTooMuch(source, file) && !isTooMuch(source, all) ? file : all
}

function isTooMuch({ guard }: SourceDefinition, { before, changed, gone }: Difference): boolean {
  return (changed + gone) * 100 > before * guard
}

/** Ends what the file does not have, in transactions of its import. */
function endingOf({ signal, owner }: SourceDeps, source: Source): NonNullable<ImportOptions['ending']> {
  return async (transact: Transact, saving: ImportSaving, { brokenFiles }: ImportSummary) => {
    if (brokenFiles > 0) return 0
    let ended = 0
    for (let after = ''; ; ) {
      signal.throwIfAborted()
      const round = await transact(async (db: Db) => {
        await lockOwnSource(db, source.name, owner)
        const keys = await missingRecords(db, source.name, after, endedAtOnce)
        return { last: keys.at(-1), ended: await endRecords(db, source.kind, keys, saving) }
      })
      if (round.last === undefined) return ended
      ended += round.ended
      after = round.last
    }
  }
}

function shownKey(key: string): string {
  return key.replace('\u001f', ' ').slice(0, 100)
}

/** The money that came tonight, beside what came the last time. */
function comparedSums(imports: readonly ImportSummary[], last: ImportReceipt | undefined): string[] {
  const sums = imports.flatMap(({ receipt }) => receipt?.sums ?? [])
  const before = new Map((last ? sumsByKind(last) : []).map((one) => [`${one.currency} ${one.kind}`, one.taken]))
  return sumsByKind({ sums }).map(({ currency, kind, taken }) => {
    const known = before.get(`${currency} ${kind}`)
    return `${currency} ${kind}: ${taken} taken${known === undefined ? '' : `, ${known} the last time`}`
  })
}

function describeImport(summary: ImportSummary): string {
  const { import: id, records, created, changed, unchanged, refused, ended = 0 } = summary
  const endings = ended > 0 ? `, ${ended} of them ended` : ''
  return `import ${id}: ${records} records, ${created} created, ${changed} changed${endings}, ${unchanged} unchanged, ${refused} refused`
}
