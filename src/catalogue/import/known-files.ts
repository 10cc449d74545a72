import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Transact } from '../../platform/database/store.js'
import { type FileMark, filesWithMark } from '../sql/imports.js'
import type { ImportSaving } from './kind.js'
import type { ReadableFile } from './record-files.js'

// Raise it when a row that was accepted before would be refused, or saved differently.
const readingVersion = 3

// A smaller file is read sooner than the store is looked through.
const fewestBytes = 1_000_000

/** The mark of a file that is opened now; undefined where it must be read whatever was read before. */
export async function markOf(
  transact: Transact,
  { importer, form, bytes = 0 }: ReadableFile,
  { source, currency, reading, repair }: ImportSaving,
): Promise<FileMark | undefined> {
  const version = repair || bytes < fewestBytes ? undefined : await transact(async (db) => importer.known?.version(db))
  if (version === undefined) return undefined
  const how = [importer.kind, form.name, source, currency, reading]
  return { reading: hash('sha256', JSON.stringify([readingVersion, ...how])), version }
}

/** The hash and the number of records of a file that would change nothing: it was read whole, and the store is as it was. */
export async function findKnownFile(
  transact: Transact,
  { file, importer }: ReadableFile,
  mark: FileMark,
  saving: ImportSaving,
  signal: AbortSignal | undefined,
): Promise<{ readonly sha256: string; readonly records: number } | undefined> {
  const known = await transact(async (db) => await filesWithMark(db, mark))
  if (known.size === 0) return undefined
  const content = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file, { signal })) content.update(chunk)
  } catch {
    // The next reading says why.
    return undefined
  }
  const sha256 = content.digest('hex')
  const records = known.get(sha256)
  if (records === undefined) return undefined
  const isWhole = await transact(async (db) => (await importer.known?.isWhole(db, saving)) ?? false)
  return isWhole ? { sha256, records } : undefined
}
