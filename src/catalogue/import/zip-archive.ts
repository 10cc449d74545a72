import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { ServiceError } from '../../kernel/errors.js'

/** A file in a ZIP archive, and its bytes from the first to the last. */
export type ZipEntry = {
  readonly name: string
  /** Throws `input-unusable` for one that is damaged, encrypted, packed in an unknown way, or grows beyond bounds. */
  chunks(signal?: AbortSignal, growth?: Growth): AsyncGenerator<Buffer>
}

/** How much what is packed may grow. */
export type Growth = { readonly most: number; readonly times: number }

const mostListBytes = 1024 * 1024
// A file that grows more than this, or beyond this, was made to fill a machine.
const usualGrowth: Growth = { most: 4 * 1024 ** 3, times: 1_000 }

/** The files in a ZIP archive (APPNOTE 4.3.12), without folders. Throws `input-unusable` where it has no list of them. */
export async function listZip(file: string, handle: FileHandle, size: number): Promise<ZipEntry[]> {
  const tail = await bytesAt(handle, Math.max(0, size - 65_557), 65_557)
  const end = tail.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'))
  if (end < 0 || end + 22 > tail.length) throw unusable('a ZIP archive that was cut')
  const [listBytes, listAt] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (listBytes > mostListBytes || listAt === 0xffffffff)
    throw unusable('a ZIP archive of many or very large files: unpack it')
  const list = await bytesAt(handle, listAt, listBytes)
  const entries: ZipEntry[] = []
  for (let at = 0; at + 46 <= list.length; ) {
    const [nameBytes, extraBytes, noteBytes] = [28, 30, 32].map((field) => list.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    const name = list.toString('utf8', at + 46, at + 46 + nameBytes).replaceAll('\\', '/')
    const packed: Packed = {
      isEncrypted: (list.readUInt16LE(at + 8) & 1) === 1,
      method: list.readUInt16LE(at + 10),
      crc: list.readUInt32LE(at + 16),
      packedBytes: list.readUInt32LE(at + 20),
      bytes: list.readUInt32LE(at + 24),
      offset: list.readUInt32LE(at + 42),
    }
    if (!name.endsWith('/'))
      entries.push({ name, chunks: (signal, growth) => unpackEntry(file, packed, size, signal, growth) })
    at += 46 + nameBytes + extraBytes + noteBytes
  }
  return entries
}

type Packed = {
  readonly isEncrypted: boolean
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly offset: number
}

async function* unpackEntry(
  file: string,
  { isEncrypted, method, crc, packedBytes, bytes, offset }: Packed,
  size: number,
  signal: AbortSignal | undefined,
  growth: Growth | undefined,
): AsyncGenerator<Buffer> {
  if (isEncrypted) throw unusable('a ZIP archive with a password: unpack it')
  if (method !== 0 && method !== 8) throw unusable(`a ZIP archive of the method ${method}: unpack it`)
  const start = await startOf(file, offset)
  const input = createReadStream(file, { start, end: Math.max(start, start + packedBytes - 1) })
  let [sum, seen] = [0, 0]
  for await (const chunk of packedBytes === 0
    ? []
    : unpack(input, method === 8 ? createInflateRaw() : undefined, size, signal, growth)) {
    sum = crc32(chunk, sum)
    seen += chunk.length
    yield chunk
  }
  if (sum !== crc || seen !== bytes) throw unusable('a damaged ZIP archive')
}

/** Where the bytes of an entry begin, behind its own header. */
async function startOf(file: string, offset: number): Promise<number> {
  await using handle = await open(file)
  const local = await bytesAt(handle, offset, 30)
  return offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
}

/** What comes out of an unpacking stream. Throws `input-unusable` for what is damaged or grows beyond bounds. */
export async function* unpack(
  input: Readable,
  unpacking: Transform | undefined,
  size: number,
  signal?: AbortSignal,
  { most, times }: Growth = usualGrowth,
): AsyncGenerator<Buffer> {
  // A failure of either is thrown where the chunks are taken.
  const output = unpacking === undefined ? input : pipeline(input, unpacking, () => undefined)
  const stop = () => output.destroy()
  signal?.addEventListener('abort', stop, { once: true })
  let bytes = 0
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > most || bytes > Math.max(size, 100_000) * times) throw unusable('an archive that grows beyond bounds')
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

/** Bytes at a place of a file; a few that are not there are zeros. */
export async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, Math.max(bytesRead, length <= 30 ? length : 0))
}

function unusable(what: string): ServiceError {
  return new ServiceError('input-unusable', what)
}
