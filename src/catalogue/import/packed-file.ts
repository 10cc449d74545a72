import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { crc32, createGunzip, createInflateRaw } from 'node:zlib'
import { ServiceError } from '../../kernel/errors.js'

/** The one file in an archive: its name, and its bytes from the first to the last. */
export type PackedFile = { readonly name: string; chunks(signal?: AbortSignal): AsyncGenerator<Buffer> }

// A file that grows more than this, or beyond this, was made to fill a machine.
const mostGrowth = 1_000
const mostBytes = 4 * 1024 ** 3
const mostListBytes = 1024 * 1024

/**
 * The file in a `.gz` or in a `.zip` with one file; undefined where the file is no archive. Throws `input-unusable` for other
 * archives, and names spreadsheets as what they are; `chunks` throws it for one that is damaged or grows beyond bounds.
 */
export async function findPacked(file: string): Promise<PackedFile | undefined> {
  await using handle = await open(file)
  const { size } = await handle.stat()
  const magic = await bytesAt(handle, 0, 8)
  if (magic[0] === 0x1f && magic[1] === 0x8b) {
    return {
      name: file.replace(/\.gz$/i, ''),
      chunks: (signal) => unpack(createReadStream(file), createGunzip(), size, signal),
    }
  }
  if (magic.readUInt32BE(0) === 0xd0cf11e0)
    throw unusable('a document of an older Office, perhaps .xls: save it as "CSV UTF-8"')
  if (magic.toString('latin1', 0, 4) !== 'PK\u0003\u0004') return undefined
  return await zipped(file, handle, size)
}

async function zipped(file: string, handle: FileHandle, size: number): Promise<PackedFile> {
  const entries = await listZip(handle, size)
  const names = entries.map(({ name }) => name)
  if (names.includes('xl/workbook.xml')) throw unusable('a workbook of Excel (.xlsx): save its sheet as "CSV UTF-8"')
  if (names.includes('mimetype') || names.some((name) => name.startsWith('Index/'))) {
    throw unusable('a spreadsheet or document, not a table: save it as CSV')
  }
  const files = entries.filter(({ name }) => !name.endsWith('/') && !name.startsWith('__MACOSX/'))
  const [only, ...others] = files
  if (!only || others.length > 0)
    throw unusable(`a ZIP archive with ${files.length} files: unpack it, and give the files`)
  const { name, method, isEncrypted, crc, packedBytes, bytes, offset } = only
  if (isEncrypted) throw unusable('a ZIP archive with a password: unpack it')
  if (method !== 0 && method !== 8) throw unusable(`a ZIP archive of the method ${method}: unpack it`)
  const local = await bytesAt(handle, offset, 30)
  const start = offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  return {
    name,
    chunks: async function* (signal) {
      const input = createReadStream(file, { start, end: Math.max(start, start + packedBytes - 1) })
      let [sum, seen] = [0, 0]
      for await (const chunk of packedBytes === 0
        ? []
        : unpack(input, method === 8 ? createInflateRaw() : undefined, size, signal)) {
        sum = crc32(chunk, sum)
        seen += chunk.length
        yield chunk
      }
      if (sum !== crc || seen !== bytes) throw unusable('a damaged ZIP archive')
    },
  }
}

async function* unpack(
  input: Readable,
  unpacking: ReturnType<typeof createGunzip> | undefined,
  size: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  // A failure of either is thrown where the chunks are taken.
  const output = unpacking === undefined ? input : pipeline(input, unpacking, () => undefined)
  const stop = () => output.destroy()
  signal?.addEventListener('abort', stop, { once: true })
  let bytes = 0
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostBytes || bytes > Math.max(size, 100_000) * mostGrowth)
        throw unusable('an archive that grows beyond bounds')
      yield chunk
    }
  } catch (error) {
    const isDamage = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
    throw isDamage ? unusable('a damaged archive, perhaps one that was cut') : error
  } finally {
    signal?.removeEventListener('abort', stop)
    output.destroy()
  }
}

/** The entries of a ZIP archive, from the list at its end (APPNOTE 4.3.12). */
async function listZip(handle: FileHandle, size: number) {
  const tail = await bytesAt(handle, Math.max(0, size - 65_557), 65_557)
  const end = tail.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'))
  if (end < 0 || end + 22 > tail.length) throw unusable('a ZIP archive that was cut')
  const [listBytes, listAt] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (listBytes > mostListBytes || listAt === 0xffffffff)
    throw unusable('a ZIP archive of many or very large files: unpack it')
  const list = await bytesAt(handle, listAt, listBytes)
  const entries = []
  for (let at = 0; at + 46 <= list.length; ) {
    const [nameBytes, extraBytes, noteBytes] = [28, 30, 32].map((field) => list.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    entries.push({
      name: list.toString('utf8', at + 46, at + 46 + nameBytes),
      isEncrypted: (list.readUInt16LE(at + 8) & 1) === 1,
      method: list.readUInt16LE(at + 10),
      crc: list.readUInt32LE(at + 16),
      packedBytes: list.readUInt32LE(at + 20),
      bytes: list.readUInt32LE(at + 24),
      offset: list.readUInt32LE(at + 42),
    })
    at += 46 + nameBytes + extraBytes + noteBytes
  }
  return entries
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, Math.max(bytesRead, length <= 30 ? length : 0))
}

function unusable(what: string): ServiceError {
  return new ServiceError('input-unusable', what)
}
