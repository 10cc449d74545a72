import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { recordAssumptions } from '../../platform/database/confirmed-assumptions.js'
import { type Db, isDataError } from '../../platform/database/connection.js'
import { recordFact } from '../../platform/database/facts.js'
import { listPublishers, recordPublisher } from '../../platform/database/publisher.js'
import type { Store } from '../../platform/database/store.js'
import { sizeOfRegularFile } from '../../platform/files/regular-file.js'
import { isWritten, namesFor, type ResourceName, resourceNames, sqlOf } from '../sql/export/resources.js'
import { clearReferenceLists, continueNumbers, findContents, readStoreFacts } from '../sql/export/snapshot.js'
import { insertRecords, type ResourceSql } from '../sql/export/table-resource.js'
import { beginMoving } from '../sql/kept-activities.js'
import { type DataPackage, descriptorName, type PackageResource } from './data-package.js'

export type ImportExportOptions = {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (resource: ResourceName, rows: number, of: number) => void
  /** Called in the same transaction once everything is written. */
  readonly afterwards?: (db: Db) => Promise<void>
}

/**
 * Puts an export into an empty store, all of it or nothing. The next publication then makes the same files as the store that
 * was exported. Throws `input-unusable` when the files are not what the descriptor says, the store is not empty, or the
 * export is of a newer version.
 */
export async function importExport(
  store: Store,
  directory: string,
  { clock, signal, onProgress, afterwards }: ImportExportOptions,
): Promise<Readonly<Record<string, number>>> {
  const descriptor = await readDescriptor(directory)
  const files = filesToRead(descriptor)
  for (const file of files) await verify(directory, file, signal)
  return await store.transaction(async (db) => {
    await refuseUnfit(db, descriptor)
    await clearReferenceLists(db)
    await beginMoving(db)
    const counts: Record<string, number> = {}
    for (const file of files) {
      const sql = await sqlOf(db, file.name, descriptor.giving)
      const where = path.join(directory, file.path)
      counts[file.name] = await writeRecords(db, where, sql, signal, (rows) =>
        onProgress?.(file.name, rows, file.rowCount),
      )
      if (counts[file.name] !== file.rowCount) {
        throw unusable(`${where} has ${counts[file.name]} records, ${descriptorName} says ${file.rowCount}`)
      }
    }
    await continueNumbers(db)
    const { demoSeeded, publisherRecord, publishers = [], assumptions = { edition: 1 } } = descriptor.giving
    await recordAssumptions(db, assumptions, clock())
    if (demoSeeded !== undefined) await recordFact(db, 'demo-seeded', demoSeeded, clock())
    if (publisherRecord) await recordFact(db, 'publisher-record', JSON.stringify(publisherRecord), clock())
    for (const one of publishers) await recordPublisher(db, one, new Date(one.recordedAt))
    await afterwards?.(db)
    return counts
  })
}

// A descriptor names some forty files.
const mostDescriptorBytes = 10_000_000

async function readDescriptor(directory: string): Promise<DataPackage> {
  const file = path.join(directory, descriptorName)
  let descriptor: Partial<DataPackage>
  try {
    if ((await sizeOfRegularFile(file)) > mostDescriptorBytes)
      throw unusable(`it has more than ${mostDescriptorBytes} bytes`)
    descriptor = JSON.parse(await readFile(file, 'utf8')) as Partial<DataPackage>
  } catch (error) {
    throw unusable(`${file} cannot be read: ${messageOf(error)}`)
  }
  if (!descriptor.giving || !Array.isArray(descriptor.resources)) throw unusable(`${file} is not of giving export`)
  if (!descriptor.giving.complete) {
    throw unusable(`${file} is of a part of a store: import its files one by one, with --kind`)
  }
  return descriptor as DataPackage
}

/** The files of an export in the order in which they are written, each found in its descriptor. */
function filesToRead({ resources, giving }: DataPackage): PackageResource[] {
  return namesFor(giving)
    .filter(isWritten)
    .flatMap((name) => {
      const file = resources.find((one) => one.name === name)
      if (file && path.basename(file.path) === file.path) return file
      // A resource that later versions have added.
      if (!file && resources.every((one) => resourceNames.includes(one.name))) return []
      throw unusable(`${descriptorName} names no usable file of ${name}`)
    })
}

async function verify(
  directory: string,
  { path: name, bytes, hash }: PackageResource,
  signal: AbortSignal,
): Promise<void> {
  const file = path.join(directory, name)
  const found = createHash('sha256')
  let size = 0
  try {
    size = await sizeOfRegularFile(file)
    if (size === bytes)
      for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
        signal.throwIfAborted()
        found.update(chunk)
      }
  } catch (error) {
    if (signal.aborted) throw interrupted()
    throw unusable(`${file} cannot be read: ${messageOf(error)}`)
  }
  if (size !== bytes || `sha256:${found.digest('hex')}` !== hash) {
    throw unusable(`${file} is not the file that ${descriptorName} describes: its size or hash differs`)
  }
}

async function refuseUnfit(db: Db, { giving }: DataPackage): Promise<void> {
  const { schema } = await readStoreFacts(db)
  if (giving.schema > schema) {
    throw unusable(
      `the export is of schema ${giving.schema}, this program has ${schema}: install the newer version first`,
    )
  }
  const contents = (await findContents(db)) ?? ((await listPublishers(db)).length > 0 ? 'a publisher' : undefined)
  if (contents === undefined) return
  throw unusable(
    `the store has ${contents}: an export is imported into an empty store (giving reset-demo removes demo data)`,
  )
}

const batchRecords = 2000
const batchCharacters = 250_000

/** Writes the records of a file batch by batch and returns how many there were. */
async function writeRecords(
  db: Db,
  file: string,
  sql: ResourceSql,
  signal: AbortSignal,
  onWritten: (rows: number) => void,
): Promise<number> {
  let rows = 0
  let batch: string[] = []
  let size = 0
  const flush = async () => {
    if (signal.aborted) throw interrupted()
    if (batch.length === 0) return
    try {
      const records = `[${batch.join(',')}]`
      await insertRecords(db, sql, records)
    } catch (error) {
      if (!isDataError(error)) throw error
      const message = messageOf(error)
      throw unusable(`${file}, lines ${rows + 1} to ${rows + batch.length}: ${message}`)
    }
    rows += batch.length
    onWritten(rows)
    batch = []
    size = 0
  }
  for await (const line of linesOf(file)) {
    batch.push(line)
    size += line.length
    if (batch.length >= batchRecords || size >= batchCharacters) await flush()
  }
  await flush()
  return rows
}

const lineFeed = 0x0a

/** The lines of a file. JSON texts may hold Unicode line separators, at which node's readline would split. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest: Buffer[] = []
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8')
      rest = []
      from = end + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('utf8')
}

function interrupted(): ServiceError {
  return new ServiceError('aborted', 'the import was interrupted; nothing was written')
}

function unusable(message: string): ServiceError {
  return new ServiceError('input-unusable', message)
}
