import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { ServiceError } from '../../kernel/errors.js'
import type { FileReading } from '../sql/reading.js'
import { isWorkbook, openSheet, type Sheet, type SheetChoice } from './workbook.js'
import { bytesAt, listZip, unpack } from './zip-archive.js'

/** The one file in an archive: its name, and its bytes from the first to the last. Of a workbook a sheet as CSV. */
export type PackedFile = {
  readonly name: string
  readonly sheet?: Sheet
  chunks(signal?: AbortSignal): AsyncGenerator<Buffer>
}

/**
 * The file in a `.gz` or in a `.zip` with one file, or a sheet of a workbook (`.xlsx`); undefined where the file is none of
 * them. Throws `input-unusable` for other archives, and names other spreadsheets as what they are; `chunks` throws it for one
 * that is damaged or grows beyond bounds.
 */
export async function findPacked(
  file: string,
  reading: FileReading = {},
  choice: SheetChoice = 'named',
): Promise<PackedFile | undefined> {
  await using handle = await open(file)
  const { size, mtimeMs, ino } = await handle.stat()
  const magic = await bytesAt(handle, 0, 8)
  const other = otherForms.find(([start]) => magic.toString('latin1').startsWith(start))
  if (other) throw unusable(`${other[1]}, and no table: save it as CSV`)
  if (!isPacked(magic)) return undefined
  if (magic[0] === 0x1f && magic[1] === 0x8b) {
    return {
      name: file.replace(/\.gz$/i, ''),
      chunks: (signal) => unpack(createReadStream(file), createGunzip(), size, signal),
    }
  }
  if (magic[0] === 0xd0) throw unusable(await olderDocument(handle, size))
  const entries = await listZip(file, handle, size)
  if (isWorkbook(entries)) return await openSheet(file, `${ino} ${size} ${mtimeMs}`, entries, reading, choice)
  const names = entries.map(({ name }) => name)
  if (names.includes('mimetype') || names.some((name) => name.startsWith('Index/'))) {
    throw unusable('a spreadsheet or document, not a table: save it as CSV')
  }
  const files = entries.filter(({ name }) => !isOfSystem(name))
  const [only, ...others] = files
  if (!only || others.length > 0)
    throw unusable(`a ZIP archive with ${files.length} files: unpack it, and give the files`)
  return only
}

/** Whether a name in an archive is of a file that a file manager adds, such as `.DS_Store`. */
function isOfSystem(name: string): boolean {
  return /^__MACOSX\/|(?:^|\/)(?:[.~][^/]*|thumbs\.db|desktop\.ini)$/i.test(name)
}

const otherArchive = 'an archive of another form than .zip and .gz'

// What people send for the table that is in it, by its first bytes.
const otherForms = [
  ['%PDF', 'a PDF'],
  ['{\\rtf', 'a document of a word processor (RTF)'],
  ['PAR1', 'a Parquet file'],
  ['SQLite', 'a database (SQLite)'],
  ['\x89PNG', 'a picture (PNG)'],
  ['\xff\xd8\xff', 'a picture (JPEG)'],
  ['PK\x05\x06', 'a ZIP archive without files'],
  ['BZh91AY', otherArchive],
  ['\xfd7zXZ', otherArchive],
  ['7z\xbc\xaf', otherArchive],
  ['Rar!\x1a', otherArchive],
  ['(\xb5/\xfd', otherArchive],
] as const

/** Whether bytes are the first of an archive, a workbook or a compound file (MS-CFB). */
export function isPacked(head: Buffer): boolean {
  return ['1f8b', '504b0304', 'd0cf11e0'].some((magic) => head.toString('hex', 0, 4).startsWith(magic))
}

const mostLookedThrough = 4 * 1024 * 1024

/** What a compound file (MS-CFB) is: a workbook with a password has its bytes in a stream with a name of its own. */
async function olderDocument(handle: FileHandle, size: number): Promise<string> {
  const has = (bytes: Buffer) => bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))
  const isEncrypted =
    has(await bytesAt(handle, 0, mostLookedThrough)) ||
    has(await bytesAt(handle, Math.max(0, size - mostLookedThrough), mostLookedThrough))
  return isEncrypted
    ? 'a workbook with a password: save it without one'
    : 'a document of an older Office, perhaps .xls: save it as .xlsx, or as "CSV UTF-8"'
}

function unusable(what: string): ServiceError {
  return new ServiceError('input-unusable', what)
}
